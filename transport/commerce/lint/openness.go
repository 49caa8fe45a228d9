package lint

import (
	"slices"
	"strings"

	"atelier/transport/commerce/schema"
)

// openness advises against what keeps a schema from growing. Where it is
// meant, a $comment beside it that begins with "closed" says why.
func (s *subject) openness() {
	s.open("", s.doc.Value)
}

// open looks at a schema and those below it. What stands under if and not is a
// question to the value, and closes nothing.
func (s *subject) open(pointer string, value any) {
	node, ok := value.(map[string]any)
	if !ok {
		return
	}
	s.closed(pointer, node)
	schema.Subschemas(node, func(at string, _ schema.Place, child any) {
		if at != "/if" && at != "/not" {
			s.open(pointer+at, child)
		}
	})
}

func (s *subject) closed(pointer string, node map[string]any) {
	if comment, _ := node["$comment"].(string); strings.HasPrefix(comment, "closed") {
		return
	}
	if enum, ok := node["enum"].([]any); ok && len(enum) > 1 && !slices.Equal(sortedText(enum), slices.Sorted(slices.Values(schema.CheckoutStates))) {
		s.find("enum-closed", pointer+"/enum", `a new value will break readers; describe known values instead, or say why in a $comment that begins with "closed"`)
	}
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		if node[keyword] == false {
			s.find("properties-closed", pointer+"/"+keyword, `a new member will break readers; leave the object open, or say why in a $comment that begins with "closed"`)
		}
	}
}

func sortedText(values []any) []string {
	var texts []string
	for _, v := range values {
		s, _ := v.(string)
		texts = append(texts, s)
	}
	slices.Sort(texts)
	return texts
}
