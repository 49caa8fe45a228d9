package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/actors/naming"
	"atelier/transport/commerce/schema"
)

// visibility checks the annotations of properties.
func (s *subject) visibility() {
	schema.Walk(s.doc.Value, func(pointer string, node map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(node)) {
			at := pointer + "/" + schema.Escape(key)
			switch {
			case key == schema.RequestKey || key == schema.ResponseKey:
				s.annotation(at, key, node[key])
			case strings.HasPrefix(key, "ucp_"):
				s.find("visibility-unknown", at, fmt.Sprintf("%q means nothing; known are %s and %s", schema.Brief(key), schema.RequestKey, schema.ResponseKey))
			}
		}
	})
}

func (s *subject) annotation(at, key string, value any) {
	byOperation, ok := value.(map[string]any)
	if !ok {
		s.visibilityValue(at, key, value)
		return
	}
	if len(byOperation) == 0 {
		s.find("visibility-value", at, key+" names no operation")
	}
	for _, operation := range slices.Sorted(maps.Keys(byOperation)) {
		if !schema.IsOperation(operation) {
			s.find("visibility-operation", at+"/"+schema.Escape(operation), fmt.Sprintf("%q is not an operation of the protocol; those are %s", schema.Brief(operation), strings.Join(slices.Concat(schema.Operations, schema.ContainerOperations), ", ")))
		}
		s.visibilityValue(at+"/"+schema.Escape(operation), key, byOperation[operation])
	}
}

func (s *subject) visibilityValue(at, key string, value any) {
	if text, _ := value.(string); slices.Contains(schema.Visibilities, text) {
		return
	}
	s.find("visibility-value", at, key+" must be "+naming.Or(schema.Visibilities...)+", or an object with one of these for each operation")
}
