package lint

import (
	"slices"
	"strings"

	"atelier/transport/commerce/schema"
)

// openness advises against restrictions that prevent a schema from growing. An intended restriction
// has a $comment that begins with "closed", or a description with the words "provably closed".
func (s *subject) openness() {
	s.open("", s.doc.Value, false)
}

// open checks a schema and its subschemas. Schemas under if and not only test the value, and
// restrict nothing. chosen means that the schema is an alternative selected by the value of a
// member.
func (s *subject) open(pointer string, value any, chosen bool) {
	node, ok := value.(map[string]any)
	if !ok {
		return
	}
	s.closed(pointer, node, chosen)
	schema.Subschemas(node, func(at string, _ schema.Place, child any) {
		if at != "/if" && at != "/not" {
			branch := strings.HasPrefix(at, "/oneOf/") || strings.HasPrefix(at, "/anyOf/")
			s.open(pointer+at, child, branch && discriminates(child))
		}
	})
}

// discriminates reports whether a member of the value names the kind to which the schema applies.
func discriminates(value any) bool {
	node, _ := value.(map[string]any)
	properties, _ := node["properties"].(map[string]any)
	for _, p := range properties {
		if p, ok := p.(map[string]any); ok && p["const"] != nil {
			return true
		}
	}
	return false
}

// kinds counts the schemas of objects among the alternatives of a oneOf.
func kinds(branches []any) (n int) {
	for _, b := range branches {
		b, _ := b.(map[string]any)
		if b["type"] == "object" || b["properties"] != nil || b["$ref"] != nil {
			n++
		}
	}
	return n
}

// reserved is the name of the member in which the protocol stores its own data.
const reserved = "ucp"

func (s *subject) closed(pointer string, node map[string]any, chosen bool) {
	description, _ := node["description"].(string)
	comment, _ := node["$comment"].(string)
	if strings.HasPrefix(comment, "closed") || strings.Contains(strings.ToLower(description), "provably closed") {
		return
	}
	if branches, ok := node["oneOf"].([]any); ok && kinds(branches) > 1 {
		s.find("kinds-closed", pointer+"/oneOf", `a new kind will break readers; describe the known ones with anyOf, or say why in a $comment that begins with "closed"`)
	}
	for _, keyword := range []string{"minProperties", "maxProperties"} {
		if node[keyword] != nil {
			s.find("members-counted", pointer+"/"+keyword, `a new member will break readers; require each needed member by its name instead of counting members`)
		}
	}
	if properties, ok := node["properties"].(map[string]any); ok && pointer != "" && s.category != meta {
		if p, ok := properties[reserved].(map[string]any); ok && !s.speaks(p) {
			s.find("member-reserved", pointer+"/properties/"+reserved, "the protocol uses a member of this name for its own data; choose another name")
		}
	}
	if enum, ok := node["enum"].([]any); ok && len(enum) > 1 && !slices.Equal(sortedText(enum), slices.Sorted(slices.Values(schema.CheckoutStates))) {
		s.find("enum-closed", pointer+"/enum", `a new value will break readers; describe known values instead, or say why in a $comment that begins with "closed"`)
	}
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		if node[keyword] == false && !chosen {
			s.find("properties-closed", pointer+"/"+keyword, `a new member will break readers; leave the object open, or say why in a $comment that begins with "closed"`)
		}
	}
}

// speaks reports whether a member is the protocol's own. A member counts as the protocol's own if
// it refers to a schema.
func (s *subject) speaks(node map[string]any) bool {
	ref, _ := node["$ref"].(string)
	return ref != "" || len(allOfRefs(node)) > 0
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
