package main

import (
	"context"
	"strings"

	"atelier/transport/commerce/document"
	"atelier/transport/commerce/fetch"
	"atelier/transport/commerce/library"
)

// fetcher is nil unless the user allowed the network.
func fetcher(remote bool) library.Fetcher {
	if !remote {
		return nil
	}
	return fetch.New()
}

// read gets a document from a file, or from a URL with --remote.
func read(ctx context.Context, place string, remote bool) (*document.Document, error) {
	if !strings.Contains(place, "://") {
		return document.Read(place)
	}
	if !remote {
		return nil, failure{exitUsage, "usage", place, errNeedsRemote(place)}
	}
	data, err := fetch.New().Fetch(ctx, place)
	if err != nil {
		return nil, failure{exitIO, "io", place, err}
	}
	return document.Parse(place, data)
}

type errNeedsRemote string

func (e errNeedsRemote) Error() string {
	return string(e) + " is a URL; --remote allows fetching"
}
