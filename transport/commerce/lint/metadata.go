package lint

import (
	"net/url"
	"strings"

	"atelier/transport/commerce/schema"
)

// metadata checks a schema's metadata.
func (s *subject) metadata() {
	switch draft, ok := s.root["$schema"].(string); {
	case s.root["$schema"] == nil:
		s.find("schema-missing", "", "$schema is missing; state "+schema.Draft)
	case !ok:
		s.find("schema-missing", "/$schema", "$schema is not a string")
	case strings.TrimSuffix(draft, "#") != schema.Draft:
		s.find("schema-draft", "/$schema", "the draft should be "+schema.Draft)
	}
	s.id()
	for _, member := range []string{"title", "description"} {
		text, ok := s.root[member].(string)
		if s.root[member] == nil {
			s.find(member+"-missing", "", member+" is missing")
		} else if !ok || strings.TrimSpace(text) == "" {
			s.find(member+"-missing", "/"+member, member+" is empty or not a string")
		}
	}
}

func (s *subject) id() {
	if s.root["$id"] == nil {
		s.find("id-missing", "", "$id is missing")
		return
	}
	id, ok := s.root["$id"].(string)
	if !ok || id == "" {
		s.find("id-malformed", "/$id", "$id is not a URI")
		return
	}
	u, err := url.Parse(id)
	switch {
	case err != nil || !u.IsAbs() || (u.Host == "" && u.Opaque == ""):
		s.find("id-malformed", "/$id", "$id is not an absolute URI")
	case u.Fragment != "":
		s.find("id-malformed", "/$id", "$id has a fragment")
	}
}

// duplicateIDs reports each file whose $id an earlier file already uses.
func (l *linter) duplicateIDs() {
	first := map[string]*subject{}
	for _, s := range l.subjects {
		if s.kind != schemaKind || s.res.ID == "" {
			continue
		}
		if other := first[s.res.ID]; other != nil {
			s.find("id-duplicate", "/$id", "$id is already used by "+other.doc.File)
			continue
		}
		first[s.res.ID] = s
	}
}
