package rest

import (
	"encoding/json"
	"errors"
	"strings"
)

// components are the components of a piece by how one refers to them.
func (d *description) components() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	c := &d.Components
	for kind, named := range map[string]map[string]json.RawMessage{
		"securitySchemes": c.SecuritySchemes, "parameters": c.Parameters, "headers": c.Headers, "responses": c.Responses, "schemas": c.Schemas,
	} {
		for name, text := range named {
			all["#/components/"+kind+"/"+name] = text
		}
	}
	return all
}

// inlineWebhooks writes out what only webhooks refer to. Generators of clients leave out
// components that no path leads to, and refer to them all the same.
func (d *description) inlineWebhooks() error {
	all := d.components()
	reached, paths := map[string]bool{}, any(nil)
	if err := again(d.Paths, &paths); err != nil {
		return err
	}
	var reach func(ref string)
	var err error
	reach = func(ref string) {
		ref = component(ref)
		if reached[ref] {
			return
		}
		reached[ref] = true
		var v any
		err = errors.Join(err, again(all[ref], &v))
		references(v, reach)
	}
	references(paths, reach)
	for name, text := range d.Webhooks {
		var hook any
		err = errors.Join(err, again(text, &hook))
		d.Webhooks[name], err = d.inlined(hook, all, reached, err)
	}
	for _, kind := range []struct {
		name string
		of   map[string]json.RawMessage
	}{{"parameters", d.Components.Parameters}, {"schemas", d.Components.Schemas}, {"headers", d.Components.Headers}, {"responses", d.Components.Responses}} {
		for name := range kind.of {
			if !reached["#/components/"+kind.name+"/"+name] {
				delete(kind.of, name)
			}
		}
	}
	return err
}

// inlined is a webhook without references to what paths do not reach.
func (d *description) inlined(hook any, all map[string]json.RawMessage, reached map[string]bool, before error) (json.RawMessage, error) {
	err := before
	var write func(v any) any
	write = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			if ref, is := v["$ref"].(string); is && !reached[component(ref)] {
				var whole any
				err = errors.Join(err, again(all[ref], &whole))
				return write(whole)
			}
			for key := range v {
				v[key] = write(v[key])
			}
		case []any:
			for i := range v {
				v[i] = write(v[i])
			}
		}
		return v
	}
	b, wrong := encoded(write(hook))
	return b, errors.Join(err, wrong)
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

// again reads what was written, or can be.
func again(from, to any) error {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	return err
}
