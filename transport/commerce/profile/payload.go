package profile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"atelier/transport/commerce/schema"
)

// ErrSilent means that a payload does not declare the capabilities that it follows.
var ErrSilent = errors.New("the payload has no ucp.capabilities, which name the schemas that it follows")

// Followed contains the schemas that a payload follows.
type Followed struct {
	// Bases lists the capabilities that extend none of the others, sorted by name.
	Bases []*schema.Resource
	// Extensions lists the other capabilities.
	Extensions []*schema.Resource
	// Protocol is the version of the protocol.
	Protocol string
}

// capability is a capability that the payload follows.
type capability struct {
	schema   *schema.Resource
	declared []string // parents stated by the entry
}

// Follow finds the schemas of a payload. It looks at the address in an entry, or otherwise in the
// library and among the published schemas, by name and version. A schema must state the entry's
// name and version. If a name has several entries, the latest version counts. For a payload
// without capabilities Follow returns ErrSilent. Other errors name an entry that is malformed
// (*MalformedError), has no matching schema, or extends nothing in the payload. Follow also fails
// if every capability extends another one.
func Follow(lib *schema.Library, payload any) (*Followed, error) {
	object, _ := payload.(map[string]any)
	ucp, _ := object["ucp"].(map[string]any)
	if ucp["capabilities"] == nil {
		return nil, ErrSilent
	}
	stated, err := Parse(map[string]any{"ucp": map[string]any{"version": ucp["version"], "capabilities": ucp["capabilities"]}})
	if err != nil {
		return nil, err
	}
	if len(stated.Capabilities) == 0 {
		return nil, ErrSilent
	}
	active := map[string]capability{}
	for _, name := range slices.Sorted(maps.Keys(stated.Capabilities)) {
		entries := stated.Capabilities[name]
		entry := slices.MaxFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Version, b.Version) })
		found, err := find(lib, name, entry)
		if err != nil {
			return nil, err
		}
		active[name] = capability{found, entry.Extends}
	}
	return sort(stated.Version, active)
}

func find(lib *schema.Library, name string, e Entry) (*schema.Resource, error) {
	r, err := lib.Entity(name, e.Version, e.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema of %s %s: %w", name, e.Version, err)
	}
	if r.Name() != name || r.Version() != e.Version {
		return nil, fmt.Errorf("schema of %s %s: %s states name %q and version %q", name, e.Version, r.Doc.File, r.Name(), r.Version())
	}
	return r, nil
}

// sort separates bases from extensions.
func sort(protocol string, active map[string]capability) (*Followed, error) {
	s := &Followed{Protocol: protocol}
	for _, name := range slices.Sorted(maps.Keys(active)) {
		c := active[name]
		isActive := func(parent string) bool { _, ok := active[parent]; return ok && parent != name }
		switch {
		case slices.ContainsFunc(c.schema.Parents(), isActive):
			s.Extensions = append(s.Extensions, c.schema)
		case len(c.declared) > 0:
			return nil, fmt.Errorf("%s extends %v, but its schema extends no capability that the payload follows", name, c.declared)
		default:
			s.Bases = append(s.Bases, c.schema)
		}
	}
	if len(s.Bases) == 0 {
		return nil, errors.New("every capability of the payload extends another; there is no base")
	}
	return s, nil
}

// Over returns the extensions that extend a base, directly or through other extensions.
func (s *Followed) Over(base *schema.Resource) []*schema.Resource {
	reached := map[string]bool{base.Name(): true}
	var over []*schema.Resource
	for again := true; again; {
		again = false
		for _, e := range s.Extensions {
			if !reached[e.Name()] && slices.ContainsFunc(e.Parents(), func(p string) bool { return reached[p] }) {
				reached[e.Name()], again = true, true
				over = append(over, e)
			}
		}
	}
	return over
}

// Check validates a payload against the capabilities that it follows. An answer can follow several
// bases, such as a checkout and an order, and must match one of them. If it matches none, Check
// returns the problems with the base that has the fewest. An error means that the schemas do not
// compose.
func (s *Followed) Check(lib *schema.Library, payload any, view schema.View) ([]schema.Problem, error) {
	var nearest []schema.Problem
	for i, base := range s.Bases {
		bundle, err := schema.Compose(lib, base, s.Over(base), schema.ComposeOptions{View: view, Bundle: true, Protocol: s.Protocol})
		if err != nil {
			return nil, err
		}
		validator, err := schema.CompileBundle(bundle)
		if err != nil {
			return nil, err
		}
		problems := validator.Check(payload)
		if len(problems) == 0 {
			return nil, nil
		}
		if i == 0 || len(problems) < len(nearest) {
			nearest = problems
		}
	}
	return nearest, nil
}
