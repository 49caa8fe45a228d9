package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/transport/commerce/brief"
	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/document"
	"atelier/transport/commerce/library"
)

// visibility checks the annotations of properties.
func (s *subject) visibility() {
	library.Walk(s.doc.Value, func(pointer string, node map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(node)) {
			at := pointer + "/" + document.Escape(key)
			switch {
			case key == compose.RequestKey || key == compose.ResponseKey:
				s.annotation(at, key, node[key])
			case strings.HasPrefix(key, "ucp_"):
				s.find("visibility-unknown", at, fmt.Sprintf("%q means nothing; known are %s and %s", brief.Text(key), compose.RequestKey, compose.ResponseKey))
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
		if !compose.IsOperation(operation) {
			s.find("visibility-operation", at+"/"+document.Escape(operation), fmt.Sprintf("%q is no operation of the protocol; those are %s", brief.Text(operation), strings.Join(compose.Operations, ", ")))
		}
		s.visibilityValue(at+"/"+document.Escape(operation), key, byOperation[operation])
	}
}

func (s *subject) visibilityValue(at, key string, value any) {
	switch value {
	case compose.Omit, compose.Optional, compose.Required:
		return
	}
	s.find("visibility-value", at, key+" has to say omit, optional or required, or that for each operation")
}
