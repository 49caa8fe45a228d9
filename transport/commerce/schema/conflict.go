package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits for comparing two schemas: maxMembersDeep bounds the depth of compared members, and
// maxParts the number of compared schemas.
const (
	maxMembersDeep = 8
	maxParts       = 10_000
)

// Conflict is a member that can have no value: its types in an extension and in the extended schema
// are disjoint.
type Conflict struct {
	// Pointer is the position in the extension's document.
	Pointer string
	Reason  string
}

// Conflicts compares an extension's addition to a parent with the parent.
func Conflicts(lib *Library, parent, extension *Resource) []Conflict {
	pointer := Pointer("$defs", parent.Name())
	schema, _ := Lookup(extension.Root(), pointer)
	node, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	root, _ := parent.Root().(map[string]any)
	c := comparer{lib: lib, below: parent, names: [2]string{parent.Name(), extension.Name()}}
	c.compare(place{parent, "", root}, place{extension, pointer, node})
	return c.found
}

// place is a schema object at its position.
type place struct {
	doc     *Resource
	pointer string
	node    map[string]any
}

// comparer compares a schema with the additions to it.
type comparer struct {
	lib *Library
	// below is the schema under the additions. The additions repeat this schema, which does not
	// conflict with itself.
	below *Resource
	names [2]string // of the extended schema and of the extension, for messages
	parts int
	found []Conflict
}

func (c *comparer) compare(below, above place) {
	c.members(c.all(below, nil), c.all(above, c.below), pathTo{at: above.pointer}, 0)
}

// pathTo contains a member's path for people, and its position in the extension's document.
type pathTo struct {
	name, at string
}

func (c *comparer) members(below, above []place, path pathTo, depth int) {
	if depth > maxMembersDeep {
		return
	}
	inBelow, inAbove := c.properties(below), c.properties(above)
	for _, name := range slices.Sorted(maps.Keys(inAbove)) {
		theirs, both := inBelow[name]
		if !both {
			continue
		}
		ours := inAbove[name]
		next := pathTo{strings.TrimPrefix(path.name+"/"+name, "/"), ours[0].pointer}
		var a, b []place
		for _, p := range theirs {
			a = append(a, c.all(p, nil)...)
		}
		for _, p := range ours {
			b = append(b, c.all(p, nil)...)
		}
		x, y := typesOf(a), typesOf(b)
		if len(x) > 0 && len(y) > 0 && !overlap(x, y) {
			c.found = append(c.found, Conflict{next.at, fmt.Sprintf("%q is %s in %s and %s in %s; nothing is both",
				Brief(next.name), strings.Join(x, " or "), c.names[0], strings.Join(y, " or "), c.names[1])})
			continue
		}
		c.members(a, b, next, depth+1)
	}
}

// all returns the schemas that apply to the same value as one schema: the schema itself, the
// schemas to which it refers, and its allOf. It does not follow references to the root of the
// document in without.
func (c *comparer) all(p place, without *Resource) (list []place) {
	if c.parts++; c.parts > maxParts || p.node == nil {
		return nil
	}
	list = append(list, p)
	if ref, ok := p.node["$ref"].(string); ok {
		t, err := c.lib.Resolve(p.doc.At(p.pointer), ref)
		node, isObject := t.Value.(map[string]any)
		if err == nil && isObject && t.Resource != nil && (t.Resource != without || t.Pointer != "") {
			list = append(list, c.all(place{t.Resource, t.Pointer, node}, without)...)
		}
	}
	branches, _ := p.node["allOf"].([]any)
	for i, b := range branches {
		if node, ok := b.(map[string]any); ok {
			list = append(list, c.all(place{p.doc, fmt.Sprintf("%s/allOf/%d", p.pointer, i), node}, without)...)
		}
	}
	return list
}

func (c *comparer) properties(parts []place) map[string][]place {
	byName := map[string][]place{}
	for _, p := range parts {
		properties, _ := p.node["properties"].(map[string]any)
		for name, value := range properties {
			if node, ok := value.(map[string]any); ok {
				byName[name] = append(byName[name], place{p.doc, p.pointer + Pointer("properties", name), node})
			}
		}
	}
	return byName
}

// typesOf returns the types that all given schemas allow, or nil if they allow any type.
func typesOf(parts []place) []string {
	var allowed []string
	for _, p := range parts {
		var types []string
		switch t := p.node["type"].(type) {
		case string:
			types = []string{t}
		case []any:
			for _, one := range t {
				name, _ := one.(string)
				types = append(types, name)
			}
		}
		if types == nil {
			continue
		}
		if allowed == nil {
			allowed = types
			continue
		}
		allowed = slices.DeleteFunc(slices.Clone(allowed), func(t string) bool { return !overlap([]string{t}, types) })
	}
	return allowed
}

func overlap(a, b []string) bool {
	for _, t := range a {
		if slices.Contains(b, t) || t == "integer" && slices.Contains(b, "number") || t == "number" && slices.Contains(b, "integer") {
			return true
		}
	}
	return false
}
