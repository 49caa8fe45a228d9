package schema

import (
	"fmt"
	"maps"
	"slices"
)

// word is an extension's annotation of the visibility of a base's member.
type word struct {
	visibility, extension string
}

// overrule applies the additions' annotations to their members, regardless of the document that
// declared the members. If an extension omits a member of its base, the result does not have the
// member. If an extension makes a member optional, the result does not require it. Extensions with
// different annotations of a member do not compose.
func (b *bundler) overrule(root map[string]any, additions []addition) error {
	applied := map[string]word{}
	for _, a := range additions {
		if err := b.applyAnnotations("", a, sameValue(a.schema), sameValue(root), applied); err != nil {
			return err
		}
	}
	return nil
}

// applyAnnotations applies the annotations of one addition to the result, recursively. over
// contains the addition's schemas of a value. places contains the result's schemas of this value.
// Each schema is visited once.
func (b *bundler) applyAnnotations(at string, a addition, over, places []map[string]any, applied map[string]word) error {
	above, below := properties(over), properties(places)
	words := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(above)) {
		path := at + "/" + name
		for _, property := range above[name] {
			visibility, err := b.view.visibility(property)
			if err != nil {
				return fmt.Errorf("%s: property %q: %w", a.extension.Name(), name, err)
			}
			if visibility == "" {
				continue
			}
			if other, ok := applied[path]; ok && other.visibility != visibility {
				return fmt.Errorf("%s annotates %s as %s, but %s annotates it as %s", other.extension, path, other.visibility, a.extension.Name(), visibility)
			}
			applied[path] = word{visibility, a.extension.Name()}
			words[name] = visibility
		}
		if err := b.applyAnnotations(path, a, flat(above[name]), flat(below[name]), applied); err != nil {
			return err
		}
	}
	for _, place := range places {
		lift(place, words)
	}
	return nil
}

// flat returns the given schemas and all schemas that they apply to the same value.
func flat(schemas []map[string]any) (list []map[string]any) {
	for _, schema := range schemas {
		list = append(list, sameValue(schema)...)
	}
	return list
}

// properties returns the schemas of each member in some schemas of one value.
func properties(schemas []map[string]any) map[string][]map[string]any {
	byName := map[string][]map[string]any{}
	for _, schema := range schemas {
		properties, _ := schema["properties"].(map[string]any)
		for name, value := range properties {
			if property, ok := value.(map[string]any); ok {
				byName[name] = append(byName[name], property)
			}
		}
	}
	return byName
}

// lift removes optional and omitted members from a schema's required members, and omitted members
// from its properties. It does not add members that the extension requires, because the extension's
// addition requires them.
func lift(schema map[string]any, words map[string]string) {
	if len(words) == 0 {
		return
	}
	if required, ok := schema["required"].([]any); ok {
		kept := slices.DeleteFunc(slices.Clone(required), func(r any) bool {
			name, _ := r.(string)
			return words[name] == Omit || words[name] == Optional
		})
		delete(schema, "required")
		if len(kept) > 0 {
			schema["required"] = kept
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	maps.DeleteFunc(properties, func(name string, _ any) bool { return words[name] == Omit })
}

// sameValue returns the schemas that apply to the same value: a schema and its allOf.
func sameValue(schema map[string]any) []map[string]any {
	list := []map[string]any{schema}
	branches, _ := schema["allOf"].([]any)
	for _, branch := range branches {
		if node, ok := branch.(map[string]any); ok {
			list = append(list, sameValue(node)...)
		}
	}
	return list
}
