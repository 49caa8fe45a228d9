package negotiate

import (
	"context"
	"errors"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

// Options contains the sources for a negotiation.
type Options struct {
	// Published contains schemas whose requirements apply. It can be nil.
	Published *schema.Set
	// Fetcher fetches profiles and schemas by address. If it is nil, nothing is fetched, and
	// requirements in schemas outside the library are ignored.
	Fetcher schema.Fetcher
	// Library contains further schemas, and can be nil. If it is set, Published is ignored in
	// favour of the library's own published schemas, and Fetcher fetches only profiles.
	Library *schema.Library
}

// Agree reads a platform's profile and negotiates with a business. A side whose current version is
// not the agreed one has a separate profile for the agreed version. Agree fetches that profile if
// opts.Fetcher is set, and otherwise uses the profile of the current version. The error is an
// *Error.
func Agree(ctx context.Context, platform any, business *profile.Profile, want map[string]string, opts Options) (*Result, error) {
	p, err := profile.Parse(platform)
	if err != nil {
		return nil, refuse(ProfileMalformed, "platform profile: "+err.Error())
	}
	lib := opts.Library
	if lib == nil {
		lib = schema.NewLibrary(ctx, schema.LibraryOptions{Published: opts.Published, Fetcher: opts.Fetcher})
	}
	if version, ok := protocol(p, business); ok && opts.Fetcher != nil {
		if p, err = atVersion(ctx, p, version, opts.Fetcher); err != nil {
			return nil, err
		}
		if business, err = atVersion(ctx, business, version, opts.Fetcher); err != nil {
			return nil, err
		}
	}
	return Profiles(p, business, want, schemaRequirements(lib))
}

// atVersion returns a side's profile for a version.
func atVersion(ctx context.Context, p *profile.Profile, version string, fetcher schema.Fetcher) (*profile.Profile, error) {
	if p.Version == version {
		return p, nil
	}
	other, err := Fetch(ctx, p.SupportedVersions[version], fetcher)
	if err != nil {
		return nil, err
	}
	parsed, err := profile.Parse(other)
	if err != nil {
		return nil, refuse(ProfileMalformed, p.SupportedVersions[version]+": "+err.Error())
	}
	if parsed.Version != version {
		return nil, refuse(ProfileMalformed, p.SupportedVersions[version]+" is listed as the profile for version "+version+", but declares version "+parsed.Version)
	}
	return parsed, nil
}

// Fetch returns a profile as a tree. The error is an *Error.
func Fetch(ctx context.Context, address string, fetcher schema.Fetcher) (any, error) {
	data, err := fetcher.Fetch(ctx, address)
	if err != nil {
		return nil, refuse(ProfileUnreachable, err.Error())
	}
	doc, err := schema.ParseSmall(address, data, maxValues)
	if err != nil {
		return nil, refuse(ProfileMalformed, err.Error())
	}
	return doc.Value, nil
}

// schemaRequirements returns a function that reads the requirements in an entry's schema. The
// function uses the schema at the entry's address. If there is none, it uses the library's schema
// with the entry's name and version. For an unknown schema it returns no requirements.
func schemaRequirements(lib *schema.Library) Requirements {
	return func(name string, e profile.Entry) (schema.Requires, error) {
		r, err := lib.Entity(name, e.Version, e.Schema)
		if ref := (*schema.RefError)(nil); errors.As(err, &ref) && ref.Kind == schema.RefUnknown {
			return schema.Requires{}, nil
		}
		if err != nil {
			return schema.Requires{}, errors.New("its schema " + err.Error())
		}
		root, _ := r.Root().(map[string]any)
		requires, err := schema.ParseRequires(root["requires"])
		if err != nil {
			return schema.Requires{}, errors.New("its schema has invalid " + err.Error())
		}
		return requires, nil
	}
}
