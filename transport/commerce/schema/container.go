package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ContainerOperations are the operations of a catalogue's capabilities. Their request and response
// are different objects, which annotations of one schema cannot express. Therefore the schema of
// such a capability is a container without constraints of its own. Its $defs contain a shape for
// each operation and direction, with names like search_response.
var ContainerOperations = []string{"search", "lookup", "get_product"}

// bodies are the keywords that constrain a value; a container has none of them at its root.
var bodies = []string{"properties", "patternProperties", "required", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "enum", "const"}

// IsContainer reports whether a schema is a container of shapes.
func IsContainer(r *Resource) bool {
	root, _ := r.Root().(map[string]any)
	for _, keyword := range bodies {
		if _, ok := root[keyword]; ok {
			return false
		}
	}
	return len(shapes(root)) > 0
}

// shapes returns the names of the shapes in the $defs of a schema, sorted.
func shapes(root map[string]any) (names []string) {
	defs, _ := root["$defs"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		for _, direction := range []Direction{Request, Response} {
			if operation, ok := strings.CutSuffix(name, "_"+string(direction)); ok && operation != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// shapeIn returns the pointer of the shape that a view selects in a container. It returns "" if the
// schema is not a container, or the view has no direction.
func shapeIn(base *Resource, view View) (string, error) {
	if view.Direction == "" || !IsContainer(base) {
		return "", nil
	}
	root := base.Root().(map[string]any)
	name := view.Operation + "_" + string(view.Direction)
	if !slices.Contains(shapes(root), name) {
		return "", fmt.Errorf("%s has no shape %q; its shapes, <operation>_<direction>, are %s", Brief(base.Doc.File), Brief(name), BriefList(shapes(root)))
	}
	return Pointer("$defs", name), nil
}

// within narrows additions to their part for one shape, which an extension repeats under
// $defs[<parent>]/$defs. It drops additions without such a part.
func within(additions []addition, shape string) []addition {
	if shape == "" {
		return additions
	}
	var kept []addition
	for _, a := range additions {
		value, _ := Lookup(a.schema, shape)
		if node, ok := value.(map[string]any); ok {
			a.pointer, a.schema = a.pointer+shape, node
			kept = append(kept, a)
		}
	}
	return kept
}
