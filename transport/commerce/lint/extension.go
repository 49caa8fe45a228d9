package lint

import (
	"fmt"

	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/document"
	"atelier/transport/commerce/naming"
)

// extension checks a schema that says what it extends.
func (s *subject) extension() {
	value, ok := s.root["extends"]
	if !ok {
		return
	}
	parents, err := naming.ParseExtends(value)
	if err != nil {
		s.find("extension-parent", "/extends", err.Error())
		return
	}
	s.hasParents("/extends", s.root, parents)
}

// hasParents checks that a schema has $defs[<name>] for every parent.
func (s *subject) hasParents(pointer string, schema map[string]any, parents []string) {
	defs, _ := schema["$defs"].(map[string]any)
	for _, parent := range parents {
		if _, ok := defs[parent].(map[string]any); !ok {
			s.find("extension-parent", pointer, fmt.Sprintf("the schema has no $defs[%q] that says what it adds there", parent))
		}
	}
}

// requires checks what an extension needs.
func (s *subject) requires() {
	value, ok := s.root["requires"]
	if !ok {
		return
	}
	s.checkRequires("/requires", value)
	object, _ := value.(map[string]any)
	capabilities, _ := object["capabilities"].(map[string]any)
	extended := map[string]bool{}
	for _, p := range compose.Parents(s.res) {
		extended[p] = true
	}
	for name := range capabilities {
		if naming.IsName(name) && !extended[name] {
			s.find("requires-key", document.Pointer("requires", "capabilities", name), fmt.Sprintf("%s is required, but $defs does not extend it", name))
		}
	}
}

func (s *subject) checkRequires(pointer string, value any) {
	for _, e := range naming.CheckRequires(value) {
		s.find("requires-"+e.Part, pointer+e.Pointer, e.Reason)
	}
}
