package lint

import (
	"fmt"
	"strings"

	"atelier/transport/commerce/schema"
)

// validity checks a schema against JSON Schema itself, and its examples against the schema.
func (s *subject) validity() {
	if draft, ok := s.root["$schema"].(string); ok && strings.TrimSuffix(draft, "#") != schema.Draft {
		return // not checked: other drafts have other rules
	}
	valid := true
	for _, p := range schema.Draft2020(s.doc.Value) {
		valid = false
		s.find("schema-invalid", p.Pointer, p.Message)
	}
	schema.Walk(s.doc.Value, func(pointer string, node map[string]any) {
		if examples, ok := node["examples"].([]any); ok && valid {
			s.examples(pointer, node, examples)
		}
	})
}

func (s *subject) examples(pointer string, node map[string]any, examples []any) {
	target := schema.Target{Resource: s.res, Pointer: pointer, Value: node}
	validator, err := s.compiler.Compile(target)
	if err != nil {
		s.find("example-unchecked", pointer+"/examples", "the examples cannot be checked: "+err.Error())
		return
	}
	for i, example := range examples {
		at := fmt.Sprintf("%s/examples/%d", pointer, i)
		for _, p := range validator.Check(example) {
			s.find("example-invalid", at+p.Pointer, "the example "+p.Message)
		}
	}
}
