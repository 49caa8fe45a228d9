package rest

import (
	"encoding/json"
	"maps"
	"strings"
)

// kinds are the components of a piece by their kinds and names.
func (d *description) kinds() map[string]map[string]json.RawMessage {
	c := &d.Components
	return map[string]map[string]json.RawMessage{
		"securitySchemes": c.SecuritySchemes, "parameters": c.Parameters, "headers": c.Headers, "responses": c.Responses, "schemas": c.Schemas,
	}
}

// components are the components of a piece by how one refers to them.
func (d *description) components() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for kind, named := range d.kinds() {
		for name, text := range named {
			all[at(kind, name)] = text
		}
	}
	return all
}

// at returns a reference to a component.
func at(kind, name string) string { return "#/components/" + kind + "/" + name }

// inlineWebhooks writes out what only webhooks refer to. Generators of clients leave out
// components that no path leads to, and refer to them all the same.
func (d *description) inlineWebhooks() error {
	all, reached := map[string]any{}, map[string]bool{}
	for ref, text := range d.components() {
		v, err := parsed(text)
		if err != nil {
			return err
		}
		all[ref] = v
	}
	var reach func(ref string)
	reach = func(ref string) {
		if ref = component(ref); !reached[ref] {
			reached[ref] = true
			references(all[ref], reach)
		}
	}
	for _, methods := range d.Paths {
		for _, text := range methods {
			op, err := parsed(text)
			if err != nil {
				return err
			}
			references(op, reach)
		}
	}
	for name, text := range d.Webhooks {
		hook, err := parsed(text)
		if err == nil {
			d.Webhooks[name], err = encoded(inlined(hook, all, reached))
		}
		if err != nil {
			return err
		}
	}
	for kind, named := range d.kinds() {
		maps.DeleteFunc(named, func(name string, _ json.RawMessage) bool {
			return kind != "securitySchemes" && !reached[at(kind, name)] // those are referred to by their names
		})
	}
	return nil
}

// inlined returns a node in which each reference that no path reaches is replaced by its target.
func inlined(node any, all map[string]any, reached map[string]bool) any {
	switch v := node.(type) {
	case map[string]any:
		if ref, is := v["$ref"].(string); is && !reached[component(ref)] {
			return inlined(all[ref], all, reached)
		}
		for key := range v {
			v[key] = inlined(v[key], all, reached)
		}
	case []any:
		for i := range v {
			v[i] = inlined(v[i], all, reached)
		}
	}
	return node
}

// component is the component in which a reference ends.
func component(ref string) string {
	parts := strings.SplitN(ref, "/", 5) // the rest is a place in the component
	return strings.Join(parts[:min(4, len(parts))], "/")
}

// references gives each reference of a node.
func references(node any, to func(ref string)) {
	switch v := node.(type) {
	case map[string]any:
		if ref, is := v["$ref"].(string); is {
			to(ref)
		}
		for _, member := range v {
			references(member, to)
		}
	case []any:
		for _, member := range v {
			references(member, to)
		}
	}
}

func parsed(text json.RawMessage) (v any, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}
