package lint

import (
	"fmt"
	"slices"

	"atelier/transport/commerce/document"
	"atelier/transport/commerce/library"
)

// demanded are the members each variant has to require, beside what the
// category adds.
var demanded = map[string][]string{
	"platform_schema": {"version", "spec", "schema"},
	"business_schema": {"version"},
	"response_schema": {"version"},
}

// variants checks that an entity has those of its category, each built on the
// same variant of the meta schema.
func (s *subject) variants() {
	defs, _ := s.root["$defs"].(map[string]any)
	for _, variant := range variantsOf[s.category] {
		def, ok := defs[variant].(map[string]any)
		if !ok {
			s.find("variant-missing", "/$defs", fmt.Sprintf("a %s needs $defs/%s", s.category, variant))
			continue
		}
		pointer := document.Pointer("$defs", variant)
		builtOn := func(ref string) bool {
			c, v := s.metaRef(s.res.At(pointer), ref)
			return c == s.category && v == variant
		}
		if !slices.ContainsFunc(allOfRefs(def), builtOn) {
			s.find("variant-ref", pointer, fmt.Sprintf("want an allOf with a $ref to %s.json#/$defs/%s of the protocol's meta schemas", s.category, variant))
			continue
		}
		for _, member := range demanded[variant] {
			if !s.demands(s.res, pointer, def, member, 0) {
				s.find("variant-ref", pointer, fmt.Sprintf("the variant does not require %s: what it is built on is not the meta schema %s", member, s.category))
			}
		}
		if s.category == handler && !s.demands(s.res, pointer, def, "id", 0) {
			s.find("handler-id", pointer, "the variant does not require an instance id, and a handler always carries one")
		}
	}
}

// demands tells whether a schema requires a member, following references and
// allOf. What cannot be followed counts as demanding: other rules report it.
func (s *subject) demands(res *library.Resource, pointer string, schema map[string]any, member string, depth int) bool {
	if depth > document.MaxDepth {
		return true
	}
	required, _ := schema["required"].([]any)
	if slices.Contains(required, any(member)) {
		return true
	}
	if ref, ok := schema["$ref"].(string); ok {
		target, err := s.lib.Resolve(res.At(pointer), ref)
		if err != nil || target.Resource == nil {
			return true
		}
		if next, ok := target.Value.(map[string]any); ok && s.demands(target.Resource, target.Pointer, next, member, depth+1) {
			return true
		}
	}
	branches, _ := schema["allOf"].([]any)
	for i, b := range branches {
		branch, ok := b.(map[string]any)
		if ok && s.demands(res, fmt.Sprintf("%s/allOf/%d", pointer, i), branch, member, depth+1) {
			return true
		}
	}
	return false
}
