package lint

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"atelier/actors/naming"
	"atelier/transport/commerce/schema"
)

// profile checks the registries of a document, which is a profile or an answer with a ucp member.
func (s *subject) profile() {
	at := "/ucp"
	value, wrapped := s.root["ucp"]
	if !wrapped {
		s.find("profile-malformed", "", "a profile must put its version and registries in an object named ucp")
		at, value = "", s.root
	}
	holder, ok := value.(map[string]any)
	if !ok {
		s.find("profile-malformed", at, "ucp is not an object")
		return
	}
	if holder["version"] == nil && wrapped {
		s.find("version-missing", at, "version is missing")
	} else if wrapped {
		s.checkVersion(at+"/version", holder["version"])
	}
	s.supportedVersions(at+"/supported_versions", holder["supported_versions"])
	side := s.side(holder)
	for _, registry := range schema.Registries {
		if _, ok := holder[registry]; !ok && wrapped && side != answer {
			s.find("profile-malformed", at, registry+" is missing; if the profile has no entries for it, write an empty object")
		}
	}
	ids := map[string]string{}
	for _, registry := range schema.Registries {
		if value, ok := holder[registry]; ok {
			s.registry(side, at+"/"+registry, registry, value, ids)
		}
	}
}

// side returns the side whose declarations a document contains, or "" if this is not clear. A
// document with other members besides ucp is an answer. Options.As states the side of a profile. An
// entry without spec or schema is an entry of a business, because in a platform's entries both are
// required.
func (s *subject) side(holder map[string]any) Side {
	if s.root["ucp"] != nil && len(s.root) > 1 {
		return answer
	}
	if s.as != "" {
		return s.as
	}
	for _, registry := range schema.Registries {
		byName, _ := holder[registry].(map[string]any)
		for _, value := range byName {
			entries, _ := value.([]any)
			for _, value := range entries {
				fields, _ := value.(map[string]any)
				if fields["spec"] == nil || fields["schema"] == nil {
					return Business
				}
			}
		}
	}
	return ""
}

func (s *subject) supportedVersions(at string, value any) {
	if value == nil {
		return
	}
	byVersion, ok := value.(map[string]any)
	if !ok {
		s.find("profile-malformed", at, "supported_versions must be an object that maps each version to the URL of its profile")
		return
	}
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		s.checkVersion(at+"/"+schema.Escape(version), version)
		if address, ok := byVersion[version].(string); !ok || address == "" {
			s.find("profile-malformed", at+"/"+schema.Escape(version), "want the URL of that version's profile")
		}
	}
}

func (s *subject) registry(side Side, at, registry string, value any, ids map[string]string) {
	byName, ok := value.(map[string]any)
	if !ok {
		s.find("registry-shape", at, registry+" must be an object that maps names to arrays of entries")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		below := at + "/" + schema.Escape(name)
		if err := schema.CheckName(name); err != nil {
			s.find("name-malformed", below, err.Error())
		}
		entries, ok := byName[name].([]any)
		if !ok {
			s.find("registry-shape", below, "want an array of entries")
			continue
		}
		if len(entries) == 0 {
			s.find("registry-empty", below, "the array is empty; leave the name out instead")
		}
		seen := map[string]bool{}
		for i, value := range entries {
			e := entry{subject: s, registry: registry, name: name, at: fmt.Sprintf("%s/%d", below, i)}
			if e.fields, ok = value.(map[string]any); !ok {
				s.find("registry-shape", e.at, "the entry is not an object")
				continue
			}
			e.check(side, seen, ids)
		}
	}
}

// entry is one declaration in a registry.
type entry struct {
	*subject
	registry, name, at string
	fields             map[string]any
}

// check checks an entry against the conventions. If the entry has no findings, check also checks
// the entry against its schema. seen contains the entries already checked under the same name. ids
// maps the ids of the profile's payment handlers to the positions of their entries.
func (e entry) check(side Side, seen map[string]bool, ids map[string]string) {
	before := len(e.found)
	e.conventions(seen, ids)
	if len(e.found) == before {
		e.fit(side)
	}
}

func (e entry) conventions(seen map[string]bool, ids map[string]string) {
	valid := e.version()
	if parents, err := schema.ParseExtends(e.fields["extends"]); err != nil {
		e.find("extension-parent", e.at+"/extends", err.Error())
	} else if valid {
		e.declaration(parents)
	}
	if requires, ok := e.fields["requires"]; ok {
		e.checkRequires(e.at+"/requires", requires)
	}
	if config, ok := e.fields["config"]; ok {
		if _, ok := config.(map[string]any); !ok {
			e.find("profile-malformed", e.at+"/config", "config is not an object")
		}
	}
	for _, member := range []string{"spec", "schema", "endpoint"} {
		e.address(member)
	}
	key := fmt.Sprint(e.fields["version"])
	switch e.registry {
	case schema.Services:
		e.transport()
		key += " over " + fmt.Sprint(e.fields["transport"])
	case schema.PaymentHandlers:
		e.instance(ids)
		return // the ids distinguish entries of the same version
	}
	if seen[key] {
		e.find("registry-duplicate", e.at, fmt.Sprintf("%s %s is declared twice", e.name, key))
	}
	seen[key] = true
}

func (e entry) version() bool {
	if e.fields["version"] != nil {
		return e.checkVersion(e.at+"/version", e.fields["version"])
	}
	address, _ := e.fields["schema"].(string)
	if date := dateInURL.FindString(address); date != "" {
		e.find("version-inferred", e.at+"/schema", fmt.Sprintf("version is missing; the date %s in the schema's URL does not replace it, so add a version", date))
		return false
	}
	e.find("version-missing", e.at, "version is missing")
	return false
}

func (e entry) address(member string) {
	value, ok := e.fields[member]
	if !ok {
		return
	}
	text, _ := value.(string)
	if u, err := url.Parse(text); err != nil || !u.IsAbs() {
		e.find("profile-malformed", e.at+"/"+member, member+" is not an absolute URI")
	}
}

func (e entry) instance(ids map[string]string) {
	id, ok := e.fields["id"].(string)
	if !ok || id == "" {
		e.find("handler-id", e.at, "a payment handler needs an instance id")
		return
	}
	if other, taken := ids[id]; taken {
		e.find("handler-id-duplicate", e.at+"/id", fmt.Sprintf("id %q is already used by %s", id, other))
		return
	}
	ids[id] = e.at
}

// transport checks that a service entry has the members required by its transport.
func (e entry) transport() {
	value, ok := e.fields["transport"]
	if !ok {
		e.find("transport-missing", e.at, "a service entry must state its transport: "+naming.Or(schema.TransportNames()...))
		return
	}
	name, _ := value.(string)
	i := slices.IndexFunc(schema.Transports, func(t schema.Transport) bool { return t.Name == name })
	if i < 0 {
		e.find("transport-unknown", e.at+"/transport", "known transports are "+naming.And(schema.TransportNames()...))
		return
	}
	for _, member := range schema.Transports[i].Needs {
		if text, _ := e.fields[member].(string); text == "" {
			e.find("transport-field", e.at, fmt.Sprintf("transport %s needs %s", name, member))
		}
	}
}
