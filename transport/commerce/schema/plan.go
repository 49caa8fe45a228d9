package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// plan is what a Gauge has to know of a schema, so that it reads each once.
// A nil plan is a boolean schema.
type plan struct {
	at spot
	// types are those the schema wants; nil for any.
	types []string
	// enums count the values a part is compared with, of its kind.
	enums map[string]int
	// tracks says that the schema has an unevaluated keyword.
	tracks bool
	unique bool
	// required counts the names that are looked for in an object, texts the
	// keywords that read a string, pattern aside.
	required, texts int
	pattern         *byPattern // without a schema; nil for none

	ref    string
	target *plan // of ref; nil before it is first followed

	same, rest, names    []*plan
	every, prefix, items []*plan
	properties           map[string]*plan
	dependent            map[string]*plan
	patterns             []byPattern
}

// byPattern is a schema for the members a pattern finds.
type byPattern struct {
	plan    *plan
	pattern *expression
}

// fits tells whether the member may be meant. A match that could be slow is
// taken for granted: counting must not cost what it guards against.
func (b byPattern) fits(name string) bool {
	if b.pattern == nil || !b.pattern.Linear() {
		return true
	}
	ok, _ := b.pattern.Match(name)
	return ok
}

// cost is what matching takes, in steps.
func (b byPattern) cost(name string) int {
	switch {
	case b.pattern == nil:
		return 1
	case !b.pattern.Linear():
		return matchWeight
	}
	return 1 + b.pattern.Looks(len(name))/stepLooks
}

// plan reads a schema, once.
func (g *Gauge) plan(at spot, schema any) *plan {
	node, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if p, ok := g.plans[at]; ok {
		return p
	}
	p := &plan{at: at}
	g.plans[at] = p
	p.read(node)
	Subschemas(node, func(pointer string, _ Place, child any) {
		p.place(pointer, g.plan(spot{at.resource, at.pointer + pointer}, child))
	})
	return p
}

// read takes in the keywords that hold no schemas.
func (p *plan) read(node map[string]any) {
	p.ref, _ = node["$ref"].(string)
	switch t := node["type"].(type) {
	case string:
		p.types = []string{t}
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			p.types = append(p.types, name)
		}
	}
	values, _ := node["enum"].([]any)
	if c, ok := node["const"]; ok {
		values = append(slices.Clone(values), c)
	}
	if len(values) > 0 {
		p.enums = map[string]int{}
		for _, v := range values {
			p.enums[kindOf(v)]++
		}
	}
	p.tracks = node["unevaluatedProperties"] != nil || node["unevaluatedItems"] != nil
	p.unique = node["uniqueItems"] == true
	names, _ := node["required"].([]any)
	p.required = len(names)
	needs, _ := node["dependentRequired"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		names, _ := needs[name].([]any)
		p.required += 1 + len(names)
	}
	for _, keyword := range []string{"minLength", "maxLength", "format"} {
		if node[keyword] != nil {
			p.texts++
		}
	}
	if text, ok := node["pattern"].(string); ok {
		p.pattern = &byPattern{}
		p.pattern.pattern, _ = compilePattern(text)
	}
}

// place notes a subschema under the keyword at pointer.
func (p *plan) place(pointer string, child *plan) {
	keyword, token, _ := strings.Cut(pointer[1:], "/")
	token = Unescape(token)
	switch keyword {
	case "$defs", "definitions", "contentSchema":
		// Applied through a reference, or not at all.
	case "properties":
		if p.properties == nil {
			p.properties = map[string]*plan{}
		}
		p.properties[token] = child
	case "patternProperties":
		by := byPattern{plan: child}
		by.pattern, _ = compilePattern(token)
		p.patterns = append(p.patterns, by)
	case "dependentSchemas":
		if p.dependent == nil {
			p.dependent = map[string]*plan{}
		}
		p.dependent[token] = child
	case "additionalProperties", "unevaluatedProperties":
		p.rest = append(p.rest, child)
	case "propertyNames":
		p.names = append(p.names, child)
	case "prefixItems":
		p.prefix = append(p.prefix, child)
	case "items":
		p.items = append(p.items, child)
	case "contains", "unevaluatedItems":
		p.every = append(p.every, child)
	default:
		p.same = append(p.same, child)
	}
}

// wants tells whether the schema looks at a part beyond its type.
func (p *plan) wants(part any) bool {
	if p.types == nil {
		return true
	}
	kind := kindOf(part)
	return slices.Contains(p.types, kind) || kind == "number" && slices.Contains(p.types, "integer")
}

// compared is what comparing a part with the values of enum and const takes.
func (p *plan) compared(part any) int {
	n := p.enums[kindOf(part)]
	if n == 0 {
		return len(p.enums)
	}
	return n * size(part, maxWork/n+1)
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}
