package library

import (
	"errors"
	"maps"
	"net/url"
	"slices"

	"atelier/transport/commerce/naming"
)

// Entity finds the schema an entry declares: at the address it states, else
// among the files of the library and the published schemas by the name and the
// version that are declared. An address that nothing at hand has is no reason
// not to look for the name.
func (l *Library) Entity(name, version, address string) (*Resource, error) {
	var stated error
	if address != "" {
		r, err := l.Declared(name, address)
		if e := (*RefError)(nil); err == nil || !errors.As(err, &e) || e.Kind != Unknown {
			return r, err
		}
		stated = err
	}
	if r := l.named(name, version); r != nil {
		return r, nil
	}
	if l.opts.Published != nil {
		if f, ok := l.opts.Published.Entity(name, version); ok {
			return l.ByID(f.ID)
		}
	}
	if stated != nil {
		return nil, stated
	}
	return nil, &RefError{Kind: Unknown, Ref: name, Reason: "it is not published here, and the entry states no address"}
}

// named finds a file by the name and version it states, of several the one
// whose path comes first.
func (l *Library) named(name, version string) *Resource {
	if len(l.byName) == 0 {
		l.byName = map[[2]string]*Resource{}
		for _, path := range slices.Sorted(maps.Keys(l.byFile)) {
			r := l.byFile[path]
			root, _ := r.Root().(map[string]any)
			name, _ := root["name"].(string)
			version, _ := root["version"].(string)
			if key := [2]string{name, version}; name != "" && l.byName[key] == nil {
				l.byName[key] = r
			}
		}
	}
	return l.byName[[2]string{name, version}]
}

// Declared finds the schema an entry named name points to. A schema that
// would have to be fetched has to be on a host that may speak for the name.
func (l *Library) Declared(name, address string) (*Resource, error) {
	if l.opts.Fetcher == nil {
		return l.ByID(address)
	}
	offline := *l
	offline.opts.Fetcher = nil
	r, err := offline.ByID(address)
	if e := (*RefError)(nil); err == nil || !errors.As(err, &e) || e.Kind != Unknown {
		return r, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, &RefError{Kind: Malformed, Ref: address, Reason: "not a URL"}
	}
	if err := naming.CheckAuthority(name, u.Hostname()); err != nil {
		return nil, &RefError{Kind: Unreachable, Ref: address, Reason: err.Error()}
	}
	return l.ByID(address)
}
