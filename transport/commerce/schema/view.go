package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/actors/naming"
)

// Direction is a side of an exchange.
type Direction string

// The two directions; the zero Direction leaves annotations unchanged.
const (
	Request  Direction = "request"
	Response Direction = "response"
)

// View selects parts of a schema by direction and operation. The zero View changes nothing.
type View struct {
	Direction Direction
	// Operation selects a value where an annotation differs by operation.
	Operation string
}

// Check validates a view.
func (v View) Check() error {
	switch v.Direction {
	case "", Request, Response:
		return nil
	}
	return fmt.Errorf("direction %q: want request or response", v.Direction)
}

// DefaultOperation sets a missing operation: create for a request, read for a response.
func (v View) DefaultOperation() View {
	if v.Operation == "" {
		v.Operation = map[Direction]string{Request: "create", Response: "read"}[v.Direction]
	}
	return v
}

func (v View) key() string {
	if v.Direction == Request {
		return RequestKey
	}
	return ResponseKey
}

// visibility returns the annotation of a property for the view; "" for none.
func (v View) visibility(property map[string]any) (string, error) {
	annotation, ok := property[v.key()]
	if !ok {
		return "", nil
	}
	if byOperation, ok := annotation.(map[string]any); ok {
		if annotation, ok = byOperation[v.Operation]; !ok {
			return "", nil
		}
	}
	if text, _ := annotation.(string); slices.Contains(Visibilities, text) {
		return text, nil
	}
	return "", fmt.Errorf("%s is %v: want %s", v.key(), annotation, naming.Or(Visibilities...))
}

// carry evaluates the annotations of a schema's properties. It returns the omitted properties and
// the members that the schema then requires.
func (v View) carry(node map[string]any) (omitted []string, required []any, err error) {
	properties, _ := node["properties"].(map[string]any)
	listed, _ := node["required"].([]any)
	dropped := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(properties)) { // sorted, so that the same fault is reported each time
		property, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		visibility, err := v.visibility(property)
		if err != nil {
			return nil, nil, fmt.Errorf("property %q: %w", name, err)
		}
		switch visibility {
		case Omit:
			omitted = append(omitted, name)
			dropped[name] = true
		case Optional:
			dropped[name] = true
		case Required:
			dropped[name] = true // dropped from its place in the list, so that it occurs only once
			required = append(required, name)
		}
	}
	for _, r := range listed {
		if name, ok := r.(string); !ok || !dropped[name] {
			required = append(required, r)
		}
	}
	sortNames(required)
	return omitted, required, nil
}

func sortNames(names []any) {
	slices.SortFunc(names, func(a, b any) int {
		s, _ := a.(string)
		t, _ := b.(string)
		return cmp.Compare(s, t)
	})
}

// prune removes unreferenced members of $defs. For example, a resolved schema does not need the
// variants of its entity's declaration.
func prune(root map[string]any) {
	defs, _ := root["$defs"].(map[string]any)
	if defs == nil {
		return
	}
	body := make(map[string]any, len(root))
	for key, value := range root {
		if key != "$defs" {
			body[key] = value
		}
	}
	used := map[string]bool{}
	pending := []any{body}
	for len(pending) > 0 {
		next := pending[0]
		pending = pending[1:]
		Walk(next, func(_ string, node map[string]any) {
			ref, _ := node["$ref"].(string)
			rest, ok := strings.CutPrefix(ref, "#/$defs/")
			if !ok {
				return
			}
			name, _, _ := strings.Cut(rest, "/")
			name = unfragment(name)
			if !used[name] {
				used[name] = true
				pending = append(pending, defs[name])
			}
		})
	}
	kept := map[string]any{}
	for name, def := range defs {
		if used[name] {
			kept[name] = def
		}
	}
	delete(root, "$defs")
	if len(kept) > 0 {
		root["$defs"] = kept
	}
}
