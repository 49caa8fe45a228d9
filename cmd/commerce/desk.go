package main

import (
	"context"
	"errors"
	"strings"

	"atelier/transport/commerce/schema"
)

// sourceFlags select the sources of schemas.
type sourceFlags struct {
	Schemas []string `help:"Folder with schemas to find by $id and name. Repeatable." placeholder:"DIR"`
	Remote  bool     `help:"Fetch referenced schemas and profiles by URL."`
}

// desk has the common dependencies of the commands.
type desk struct {
	lib       *schema.Library
	published *schema.Set
}

func (f sourceFlags) open(ctx context.Context) (*desk, error) {
	published, err := schema.Published("")
	if err != nil {
		return nil, err
	}
	d := &desk{schema.NewLibrary(ctx, schema.LibraryOptions{Published: published, Fetcher: fetcher(f.Remote)}), published}
	for _, folder := range f.Schemas {
		if err := d.lib.AddTree(folder); err != nil {
			return nil, failure{exitIO, "io", folder, err}
		}
	}
	return d, nil
}

// schema finds a schema by its file or URL, with an optional fragment:
// checkout.json#/$defs/platform_schema.
func (d *desk) schema(place string) (schema.Target, error) {
	file, fragment, _ := strings.Cut(place, "#")
	var res *schema.Resource
	var err error
	if strings.Contains(file, "://") {
		res, err = d.lib.ByID(file)
	} else {
		d.lib.Open(schema.Around(file))
		res, err = d.lib.AddFile(file)
	}
	if e := (*schema.RefError)(nil); errors.As(err, &e) && e.Kind == schema.RefUnreachable {
		return schema.Target{}, failure{exitIO, "io", file, err}
	}
	if isFileError(err) {
		return schema.Target{}, failure{exitIO, "io", file, err}
	}
	if err != nil {
		return schema.Target{}, composition(file, err)
	}
	target, err := d.lib.Resolve(res, "#"+fragment)
	if err != nil {
		return target, composition(file, err)
	}
	return target, nil
}

// composition is the error for a schema that cannot be prepared.
func composition(file string, err error) error {
	return failure{exitUsage, "composition", file, err}
}
