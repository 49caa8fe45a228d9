package describe

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/library"
	"atelier/transport/commerce/profile"
)

// ErrSilent is a payload that does not say what it follows.
var ErrSilent = errors.New("the payload has no ucp.capabilities that say which schemas it follows")

// Set is what a payload follows.
type Set struct {
	// Bases are the capabilities that extend none of the others, by name.
	Bases []*library.Resource
	// Extensions are the others.
	Extensions []*library.Resource
	// Protocol is the version of the protocol.
	Protocol string
}

// capability is one the payload follows.
type capability struct {
	schema   *library.Resource
	declared []string // parents by the entry
}

// Read finds the schemas of a payload: at the address an entry states, else
// among the documents of the library and the published ones by name and
// version. Name and version of a schema have to be those of the entry.
func Read(lib *library.Library, payload any) (*Set, error) {
	object, _ := payload.(map[string]any)
	ucp, _ := object["ucp"].(map[string]any)
	if ucp["capabilities"] == nil {
		return nil, ErrSilent
	}
	stated, err := profile.Parse(map[string]any{"ucp": map[string]any{"version": ucp["version"], "capabilities": ucp["capabilities"]}})
	if err != nil {
		return nil, err
	}
	active := map[string]capability{}
	for _, name := range slices.Sorted(maps.Keys(stated.Capabilities)) {
		entries := stated.Capabilities[name]
		entry := slices.MaxFunc(entries, func(a, b profile.Entry) int { return cmp.Compare(a.Version, b.Version) })
		schema, err := find(lib, name, entry)
		if err != nil {
			return nil, err
		}
		active[name] = capability{schema, entry.Extends}
	}
	return sort(stated.Version, active)
}

func find(lib *library.Library, name string, e profile.Entry) (*library.Resource, error) {
	r, err := lib.Entity(name, e.Version, e.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema of %s %s: %w", name, e.Version, err)
	}
	if compose.Name(r) != name || compose.Version(r) != e.Version {
		return nil, fmt.Errorf("schema of %s %s: %s states name %q and version %q", name, e.Version, r.Doc.File, compose.Name(r), compose.Version(r))
	}
	return r, nil
}

// sort tells bases from extensions.
func sort(protocol string, active map[string]capability) (*Set, error) {
	s := &Set{Protocol: protocol}
	for _, name := range slices.Sorted(maps.Keys(active)) {
		c := active[name]
		isActive := func(parent string) bool { _, ok := active[parent]; return ok && parent != name }
		switch {
		case slices.ContainsFunc(compose.Parents(c.schema), isActive):
			s.Extensions = append(s.Extensions, c.schema)
		case len(c.declared) > 0:
			return nil, fmt.Errorf("%s extends %v, and its schema adds to nothing the payload follows", name, c.declared)
		default:
			s.Bases = append(s.Bases, c.schema)
		}
	}
	if len(s.Bases) == 0 {
		return nil, errors.New("every capability of the payload extends another; there is no base")
	}
	return s, nil
}

// Over gives the extensions that reach a base, over each other or directly.
func (s *Set) Over(base *library.Resource) []*library.Resource {
	reached := map[string]bool{compose.Name(base): true}
	var over []*library.Resource
	for again := true; again; {
		again = false
		for _, e := range s.Extensions {
			if !reached[compose.Name(e)] && slices.ContainsFunc(compose.Parents(e), func(p string) bool { return reached[p] }) {
				reached[compose.Name(e)], again = true, true
				over = append(over, e)
			}
		}
	}
	return over
}
