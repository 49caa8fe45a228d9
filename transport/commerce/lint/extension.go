package lint

import (
	"fmt"
	"slices"

	"atelier/transport/commerce/schema"
)

// extension checks a schema that declares parents.
func (s *subject) extension() {
	value, ok := s.root["extends"]
	if !ok {
		return
	}
	parents, err := schema.ParseExtends(value)
	if err != nil {
		s.find("extension-parent", "/extends", err.Error())
		return
	}
	s.hasParents("/extends", s.root, parents)
}

// conflicts checks that the additions of an extension can coexist with the members of its
// parent.
func (s *subject) conflicts() {
	for _, name := range s.res.Parents() {
		parent := s.parent(name)
		if parent == nil || parent == s.res {
			continue
		}
		for _, c := range schema.Conflicts(s.lib, parent, s.res) {
			s.find("extension-conflict", c.Pointer, c.Reason)
		}
	}
}

// parent returns the schema of a parent, or nil. It is the schema to which the extension refers. If
// there is none, it is the latest linted schema with this name. Otherwise it is the schema with
// this name in the latest release that has one.
func (s *subject) parent(name string) *schema.Resource {
	defs, _ := s.root["$defs"].(map[string]any)
	def, _ := defs[name].(map[string]any)
	for _, ref := range allOfRefs(def) {
		t, err := s.lib.Resolve(s.res.At(schema.Pointer("$defs", name)), ref)
		if err == nil && t.Resource != nil && t.Pointer == "" && t.Resource.Name() == name {
			return t.Resource
		}
	}
	if r := s.latest[name]; r != nil {
		return r
	}
	for _, version := range slices.Backward(schema.Releases) {
		if r, err := s.lib.Entity(name, version, ""); err == nil {
			return r
		}
	}
	return nil
}

// hasParents checks that a schema has $defs[<name>] for every parent.
func (s *subject) hasParents(pointer string, stated map[string]any, parents []string) {
	defs, _ := stated["$defs"].(map[string]any)
	for _, parent := range parents {
		if _, ok := defs[parent].(map[string]any); !ok {
			s.find("extension-parent", pointer, fmt.Sprintf("the schema has no $defs[%q] that defines its additions to this parent", parent))
		}
	}
}

// requires checks the requirements of an extension.
func (s *subject) requires() {
	value, ok := s.root["requires"]
	if !ok {
		return
	}
	s.checkRequires("/requires", value)
	object, _ := value.(map[string]any)
	capabilities, _ := object["capabilities"].(map[string]any)
	extended := map[string]bool{}
	for _, p := range s.res.Parents() {
		extended[p] = true
	}
	for name := range capabilities {
		if schema.IsName(name) && !extended[name] {
			s.find("requires-key", schema.Pointer("requires", "capabilities", name), fmt.Sprintf("%s is required, but $defs does not extend it", name))
		}
	}
}

func (s *subject) checkRequires(pointer string, value any) {
	for _, e := range schema.CheckRequires(value) {
		s.find("requires-"+e.Part, pointer+e.Pointer, e.Reason)
	}
}
