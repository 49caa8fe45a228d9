package compose

import (
	"cmp"
	"fmt"
	"slices"
)

// Direction is a side of an exchange.
type Direction string

// The two directions; the zero Direction leaves the annotations as they are.
const (
	Request  Direction = "request"
	Response Direction = "response"
)

// The annotations, and what they may say of a property.
const (
	RequestKey  = "ucp_request"
	ResponseKey = "ucp_response"

	Omit     = "omit"
	Optional = "optional"
	Required = "required"
)

// View is how a schema is looked at: in a direction, for an operation. The
// zero View changes nothing.
type View struct {
	Direction Direction
	// Operation picks a value where an annotation differs by operation.
	Operation string
}

// Check says what is wrong with a view.
func (v View) Check() error {
	switch v.Direction {
	case "", Request, Response:
		return nil
	}
	return fmt.Errorf("direction %q: want request or response", v.Direction)
}

// DefaultOperation is looked at when none is named: a request creates, a
// response answers a read.
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

// visibility is what a property is annotated with for the view; "" is nothing.
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
	switch annotation {
	case Omit, Optional, Required:
		return annotation.(string), nil
	}
	return "", fmt.Errorf("%s is %v: want omit, optional or required", v.key(), annotation)
}

// apply carries the annotations of a schema's properties out: node is a copy
// that may be changed.
func (v View) apply(node map[string]any) error {
	properties, _ := node["properties"].(map[string]any)
	if v.Direction == "" || properties == nil {
		return nil
	}
	listed, _ := node["required"].([]any)
	required := slices.Clone(listed)
	kept := make(map[string]any, len(properties))
	for name, value := range properties {
		property, ok := value.(map[string]any)
		if !ok {
			kept[name] = value
			continue
		}
		visibility, err := v.visibility(property)
		if err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		if visibility != Omit {
			kept[name] = property
		}
		is := func(r any) bool { return r == name }
		switch {
		case visibility == Omit || visibility == Optional:
			required = slices.DeleteFunc(required, is)
		case visibility == Required && !slices.ContainsFunc(required, is):
			required = append(required, name)
		}
	}
	node["properties"] = kept
	delete(node, "required")
	if len(required) > 0 {
		sortNames(required)
		node["required"] = required
	}
	return nil
}

func sortNames(names []any) {
	slices.SortFunc(names, func(a, b any) int {
		s, _ := a.(string)
		t, _ := b.(string)
		return cmp.Compare(s, t)
	})
}
