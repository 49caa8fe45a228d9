package lint

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"atelier/actors/naming"
	"atelier/transport/commerce/schema"
)

var dateInURL = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}`)

// entity checks name and version. An entity must have both, because it is negotiated. Types and
// components must have neither.
func (s *subject) entity() {
	switch s.category {
	case plain, meta:
		for _, member := range []string{"name", "version"} {
			if s.root[member] != nil {
				s.find(member+"-forbidden", "/"+member, fmt.Sprintf("a %s is not negotiated and has no %s; an entity has variants in $defs", s.category, member))
			}
		}
		return
	case unknown:
		s.withoutCategory()
	}
	s.name()
	s.version()
}

// withoutCategory reports why a schema that has some parts of an entity is not one.
func (s *subject) withoutCategory() {
	has := "variants"
	for _, member := range []string{"version", "name"} {
		if s.root[member] != nil {
			has = "a " + member
		}
	}
	defs, _ := s.root["$defs"].(map[string]any)
	var missing []string
	for _, variant := range variantsOf[service] {
		if defs[variant] == nil {
			missing = append(missing, "$defs/"+variant)
		}
	}
	why := "none of its variants refers to the meta schema " + naming.Or(schema.CategoryNames()...)
	if len(missing) > 0 {
		why = strings.Join(missing, " and ") + " are missing, which every entity needs"
		if len(missing) == 1 {
			why = missing[0] + " is missing, which every entity needs"
		}
	}
	s.find("category-unknown", "", fmt.Sprintf("it has %s, as an entity has, but %s", has, why))
}

func (s *subject) name() {
	name, ok := s.root["name"].(string)
	if s.root["name"] == nil {
		s.find("name-missing", "", "name is missing")
		return
	}
	if !ok {
		s.find("name-malformed", "/name", "name is not a string")
		return
	}
	if err := schema.CheckName(name); err != nil {
		s.find("name-malformed", "/name", err.Error())
		return
	}
	if s.reserved(name) {
		s.find("namespace-reserved", "/name", fmt.Sprintf("names under %s are the protocol's; use your own domain in reverse", strings.TrimSuffix(schema.Reserved, ".")))
	}
}

// reserved reports whether a schema uses one of the protocol's names without being the protocol's.
// A copy of a published entity at another address is permitted.
func (s *subject) reserved(name string) bool {
	if !strings.HasPrefix(name, schema.Reserved) || strings.HasPrefix(s.res.ID, s.base+"/") || published(name) {
		return false
	}
	u, err := url.Parse(s.res.ID)
	return err != nil || u.Hostname() == "" || schema.CheckAuthority(name, u.Hostname()) != nil
}

// published reports whether the protocol has an entity with this name. It also accepts
// dev.commerce.checkout, which bindings use for the checkout, without its service.
func published(name string) bool {
	return schema.IsEntity(name) || schema.IsEntity(schema.Reserved+"shopping."+strings.TrimPrefix(name, schema.Reserved))
}

func (s *subject) version() {
	if s.root["version"] == nil {
		id, _ := s.root["$id"].(string)
		if date := dateInURL.FindString(id); date != "" {
			s.find("version-inferred", "/$id", fmt.Sprintf("version is missing; the %s in $id does not count, state it", date))
			return
		}
		s.find("version-missing", "", "version is missing")
		return
	}
	s.checkVersion("/version", s.root["version"])
}

func (s *subject) checkVersion(pointer string, value any) bool {
	version, ok := value.(string)
	if !ok {
		s.find("version-malformed", pointer, "version is not a string YYYY-MM-DD")
		return false
	}
	if err := schema.CheckVersion(version); err != nil {
		s.find("version-malformed", pointer, err.Error())
		return false
	}
	return true
}
