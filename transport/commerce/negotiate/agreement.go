package negotiate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

// agreement is a negotiation in progress.
type agreement struct {
	version string
	chosen  map[key]*choice
	dropped map[key]string
}

// choice is the chosen version of a name, with the entries of both sides at this version.
type choice struct {
	version            string
	platform, business []profile.Entry
	// requires contains the requirements, in addition to the parents.
	requires []schema.Requires
}

// choose takes the names that both sides have. For each it takes the requested version if both
// sides have this version, and otherwise their latest common version.
func (a *agreement) choose(r registry, platform, business profile.Registry, want map[string]string) {
	for name, offered := range platform {
		k := key{r, name}
		theirs, ok := business[name]
		if !ok {
			a.dropped[k] = "the business does not offer it"
			continue
		}
		version := ""
		for _, e := range offered {
			if !slices.ContainsFunc(theirs, func(t profile.Entry) bool { return t.Version == e.Version }) {
				continue
			}
			if version = max(version, e.Version); e.Version == want[name] {
				version = e.Version
				break
			}
		}
		if version == "" {
			a.dropped[k] = fmt.Sprintf("no version in common: the platform has %s, the business %s", versions(offered), versions(theirs))
			continue
		}
		c := &choice{version: version, platform: at(version, offered), business: at(version, theirs)}
		if r == services && len(c.transports()) == 0 {
			a.dropped[k] = fmt.Sprintf("no transport in common at version %s", version)
			continue
		}
		a.chosen[k] = c
	}
}

func at(version string, entries []profile.Entry) []profile.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e profile.Entry) bool { return e.Version != version })
}

func versions(entries []profile.Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Version)
	}
	slices.Sort(list)
	return schema.BriefList(slices.Compact(list))
}

// transports returns the entries of the business over a transport that both sides have. An entry
// without a transport, as some platforms write, matches any.
func (c *choice) transports() []profile.Entry {
	return slices.DeleteFunc(slices.Clone(c.business), func(b profile.Entry) bool {
		return !slices.ContainsFunc(c.platform, func(p profile.Entry) bool {
			return p.Transport == b.Transport || p.Transport == "" || b.Transport == ""
		})
	})
}

// require collects the requirements of the chosen entries and their schemas.
func (a *agreement) require(stated Requirements) {
	for k, c := range a.chosen {
		for _, e := range slices.Concat(c.platform, c.business) {
			c.requires = append(c.requires, e.Requires)
			if stated == nil {
				continue
			}
			more, err := stated(k.name, e)
			if err != nil {
				a.drop(k, err.Error())
				break
			}
			c.requires = append(c.requires, more)
		}
	}
}

func (a *agreement) drop(k key, reason string) {
	delete(a.chosen, k)
	a.dropped[k] = schema.BriefMessage(reason)
}

// settle removes extensions without a remaining parent, and entries with unmet requirements, until
// nothing changes.
func (a *agreement) settle() {
	for {
		a.prune()
		excluded := map[key]string{}
		for k, c := range a.chosen {
			if reason := a.unmet(c); reason != "" {
				excluded[k] = reason
			}
		}
		if len(excluded) == 0 {
			return
		}
		for k, reason := range excluded {
			a.drop(k, reason)
		}
	}
}

// prune keeps the entries that are reached from a root through extends. Because it starts at the
// roots, it removes cycles without a root.
func (a *agreement) prune() {
	reached := map[key]bool{}
	for grown := true; grown; {
		grown = false
		for k, c := range a.chosen {
			if !reached[k] && c.rooted(k, reached) {
				reached[k], grown = true, true
			}
		}
	}
	for k, c := range a.chosen {
		if !reached[k] {
			a.drop(k, "extends "+schema.BriefList(c.parents())+", and none of them is agreed on")
		}
	}
}

// rooted reports whether every entry that extends something has a reached parent.
func (c *choice) rooted(k key, reached map[key]bool) bool {
	for _, e := range slices.Concat(c.platform, c.business) {
		has := func(parent string) bool {
			return reached[key{capabilities, parent}] || reached[key{k.registry, parent}]
		}
		if len(e.Extends) > 0 && !slices.ContainsFunc(e.Extends, has) {
			return false
		}
	}
	return true
}

func (c *choice) parents() []string {
	var names []string
	for _, e := range slices.Concat(c.platform, c.business) {
		names = append(names, e.Extends...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (a *agreement) unmet(c *choice) string {
	// The first reason in alphabetical order is returned, so that the result does not depend on the
	// order of entries.
	var reasons []string
	for _, r := range c.requires {
		reason := r.Unmet(a.version, func(name string) (string, bool) {
			other, ok := a.chosen[key{capabilities, name}]
			if !ok {
				return "", false
			}
			return other.version, true
		})
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return slices.Min(reasons)
}

func (a *agreement) result() *Result {
	r := &Result{Version: a.version, Capabilities: map[string][]Chosen{}, Services: map[string][]Chosen{}, PaymentHandlers: map[string][]Chosen{}, Dropped: []Dropped{}}
	for k, c := range a.chosen {
		switch k.registry {
		case capabilities:
			r.Capabilities[k.name] = []Chosen{{Version: c.version}}
		case services:
			for _, e := range c.transports() {
				r.Services[k.name] = append(r.Services[k.name], Chosen{Version: e.Version, Transport: e.Transport, Endpoint: e.Endpoint, Schema: e.Schema})
			}
			slices.SortFunc(r.Services[k.name], func(a, b Chosen) int {
				return strings.Compare(a.Transport+"\x00"+a.Endpoint, b.Transport+"\x00"+b.Endpoint)
			})
		case handlers:
			for _, e := range c.business {
				r.PaymentHandlers[k.name] = append(r.PaymentHandlers[k.name], Chosen{ID: e.ID, Version: e.Version})
			}
			slices.SortFunc(r.PaymentHandlers[k.name], func(a, b Chosen) int { return strings.Compare(a.ID, b.ID) })
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(a.dropped), key.compare) {
		r.Dropped = append(r.Dropped, Dropped{k.name, a.dropped[k]})
	}
	return r
}
