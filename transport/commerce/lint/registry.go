package lint

import (
	"fmt"
	"maps"
	"slices"

	"atelier/transport/commerce/document"
	"atelier/transport/commerce/naming"
)

// profile checks a document with registries: a profile, or the ucp member of
// an answer.
func (s *subject) profile() {
	at := "/ucp"
	value, wrapped := s.root["ucp"]
	if !wrapped {
		s.find("profile-malformed", "", "the registries of a profile stand in an object ucp, beside its version")
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
	for _, registry := range registries {
		if _, ok := holder[registry]; !ok && wrapped && side != answer {
			s.find("profile-malformed", at, registry+" is missing; a profile without any has an empty object")
		}
	}
	ids := map[string]string{}
	for _, registry := range registries {
		if value, ok := holder[registry]; ok {
			s.registry(side, at+"/"+registry, registry, value, ids)
		}
	}
}

// side tells whose declarations a document has; "" when it could be both. An
// answer has other members beside ucp; a platform's entries state spec and
// schema, a business's may.
func (s *subject) side(holder map[string]any) Side {
	if s.root["ucp"] != nil && len(s.root) > 1 {
		return answer
	}
	if s.as != "" {
		return s.as
	}
	for _, registry := range registries {
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
		s.find("profile-malformed", at, "supported_versions is not an object of profile addresses by version")
		return
	}
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		s.checkVersion(at+"/"+document.Escape(version), version)
		if address, ok := byVersion[version].(string); !ok || address == "" {
			s.find("profile-malformed", at+"/"+document.Escape(version), "want the address of the profile of that version")
		}
	}
}

func (s *subject) registry(side Side, at, registry string, value any, ids map[string]string) {
	byName, ok := value.(map[string]any)
	if !ok {
		s.find("registry-shape", at, registry+" has to be an object: name -> array of entries")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		below := at + "/" + document.Escape(name)
		if err := naming.CheckName(name); err != nil {
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
				s.find("registry-shape", e.at, "an entry is an object")
				continue
			}
			e.check(side, seen, ids)
		}
	}
}
