package main

import (
	"context"
	"strings"

	"atelier/transport/commerce/remote"
	"atelier/transport/commerce/schema"
)

// fetcher returns nil unless the user allowed the network.
func fetcher(allowed bool) schema.Fetcher {
	if !allowed {
		return nil
	}
	return remote.New()
}

// read reads a document from a file, or from a URL with --remote.
func read(ctx context.Context, place string, allowed bool) (*schema.Document, error) {
	if !strings.Contains(place, "://") {
		return schema.Read(place)
	}
	if !allowed {
		return nil, failure{exitUsage, "usage", place, errNeedsRemote(place)}
	}
	data, err := remote.New().Fetch(ctx, place)
	if err != nil {
		return nil, failure{exitIO, "io", place, err}
	}
	return schema.Parse(place, data)
}

type errNeedsRemote string

func (e errNeedsRemote) Error() string {
	return string(e) + " is a URL; --remote allows fetching"
}
