package house

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier/transport/handler"
	"atelier/transport/messages"
	"atelier/transport/rest"
)

// served is a served API document, as client generators read it.
type served struct {
	name string
	root map[string]any
}

func documents(t *testing.T) (list []served) {
	for name, text := range map[string][]byte{
		"REST interface": rest.OpenAPI(), "handler": handler.OpenAPI(), "messages": messages.AsyncAPI(),
	} {
		d := served{name: name}
		if err := json.Unmarshal(text, &d.root); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// components returns the components of one kind, by name.
func (d served) components(kind string) map[string]any {
	named, _ := d.root["components"].(map[string]any)[kind].(map[string]any)
	return named
}

// isOpenAPI distinguishes an OpenAPI document from an AsyncAPI document.
func (d served) isOpenAPI() bool { return d.root["openapi"] != nil }

// walk visits every node outside of examples. under is the name of the field that contains the
// node.
func walk(node any, at, under string, visit func(at, under string, node any)) {
	visit(at, under, node)
	switch n := node.(type) {
	case []any:
		for i, v := range n {
			walk(v, fmt.Sprint(at, "/", i), under, visit)
		}
	case map[string]any:
		for k, v := range n {
			// Among the properties of an object, "example" can be a property's name.
			if k != "example" && k != "examples" || under == "properties" {
				walk(v, at+"/"+k, k, visit)
			}
		}
	}
}

// Generators create one file or type for each name, and spell it according to their language. Two
// names such as PIN and Pin become the same Python module, and if_match and IfMatch become the same
// Go type.
func TestNamesDifferInMoreThanCaseAndSeparators(t *testing.T) {
	same := func(name string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	}
	checked := 0
	for _, d := range documents(t) {
		// A parameter, a response and a schema become types of one package. An AsyncAPI message
		// becomes its payload, so it has the payload's name.
		groups := [][]string{{"schemas", "parameters", "responses"}, {"messages"}, {"headers"}, {"securitySchemes"}}
		for _, kinds := range groups {
			owners := map[string]string{}
			for _, kind := range kinds {
				for name := range d.components(kind) {
					checked++
					if other := owners[same(name)]; other != "" {
						t.Errorf("%s: generators cannot distinguish %s/%s from %s", d.name, kind, name, other)
					}
					owners[same(name)] = kind + "/" + name
				}
			}
		}
		ids, members := map[string]string{}, 0
		walk(d.root, "", "", func(at, under string, node any) {
			n, _ := node.(map[string]any)
			if id, ok := n["operationId"].(string); ok {
				if other := ids[same(id)]; other != "" {
					t.Errorf("%s: generators cannot distinguish the operation %s from %s", d.name, id, other)
				}
				ids[same(id)] = id
			}
			if under == "properties" {
				names := map[string]string{}
				for name := range n {
					members++
					if other := names[same(name)]; other != "" && strings.HasSuffix(at, "/properties") {
						t.Errorf("%s%s: generators cannot distinguish %s from %s", d.name, at, name, other)
					}
					names[same(name)] = name
				}
			}
		})
		if members < 30 || d.isOpenAPI() && len(ids) < 5 {
			t.Errorf("%s: only %d members and %d operations were checked", d.name, members, len(ids))
		}
	}
	if checked < 200 {
		t.Errorf("only %d names were checked", checked)
	}
}

// Generators resolve references to components, but not references into a component.
func TestReferencesPointToComponents(t *testing.T) {
	component := regexp.MustCompile(`^#/components/[A-Za-z]+/[A-Za-z0-9_.-]+$`)
	message := regexp.MustCompile(`^#/channels/[a-z]+(/messages/[A-Za-z]+)?$`) // operations of AsyncAPI refer to their channel and its messages
	references := 0
	for _, d := range documents(t) {
		walk(d.root, "", "", func(at, _ string, node any) {
			n, _ := node.(map[string]any)
			ref, ok := n["$ref"].(string)
			if !ok {
				return
			}
			references++
			if !component.MatchString(ref) && (d.isOpenAPI() || !message.MatchString(ref)) {
				t.Errorf("%s%s: %s does not refer to a component", d.name, at, ref)
			}
		})
	}
	if references < 500 {
		t.Errorf("only %d references were checked", references)
	}
}

// A field of a generated client has one type, or is null. Several types need oneOf or anyOf, with a
// separate schema for each type.
func TestSchemasHaveOneType(t *testing.T) {
	lists := 0
	for _, d := range documents(t) {
		walk(d.root, "", "", func(at, under string, node any) {
			n, _ := node.(map[string]any)
			_, isConst := n["const"].(string)
			if values, isEnum := n["enum"].([]any); (isConst || isEnum && len(values) > 0) && n["type"] == nil && under != "not" {
				t.Errorf("%s%s: values without a type", d.name, at)
			}
			types, _ := n["type"].([]any)
			if len(types) == 0 {
				return
			}
			lists++
			if real := slices.DeleteFunc(slices.Clone(types), func(v any) bool { return v == "null" }); len(real) != 1 {
				t.Errorf("%s%s: several types: %v", d.name, at, types)
			}
		})
	}
	if lists < 20 {
		t.Errorf("only %d lists of types were checked", lists)
	}
}

// Generators create an object from properties, or a choice from alternatives. If a schema has both,
// the object is lost, or has an alternative without fields.
func TestSchemasAreEitherAnObjectOrAChoice(t *testing.T) {
	choices := 0
	for _, d := range documents(t) {
		walk(d.root, "", "", func(at, _ string, node any) {
			n, _ := node.(map[string]any)
			for _, choice := range []string{"oneOf", "anyOf"} {
				if _, ok := n[choice].([]any); !ok {
					continue
				}
				choices++
				if n["properties"] != nil || n["type"] != nil {
					t.Errorf("%s%s: %s is next to a type or properties", d.name, at, choice)
				}
			}
		})
	}
	if choices < 10 {
		t.Errorf("only %d choices were checked", choices)
	}
}

// A schema can also be true or false. Generators expect an object, except in additionalProperties,
// where they support both.
func TestNoSchemaIsABoolean(t *testing.T) {
	for _, d := range documents(t) {
		walk(d.root, "", "", func(at, under string, node any) {
			n, _ := node.(map[string]any)
			for member, v := range n {
				_, isBoolean := v.(bool)
				switch {
				case !isBoolean:
				case under == "properties" && strings.HasSuffix(at, "/properties"), under == "schemas",
					slices.Contains([]string{"schema", "payload", "items", "not", "contains", "propertyNames", "if", "then", "else"}, member):
					t.Errorf("%s%s/%s is %v", d.name, at, member, v)
				}
			}
			for _, several := range []string{"oneOf", "anyOf", "allOf", "prefixItems"} {
				list, _ := n[several].([]any)
				for i, v := range list {
					if _, isBoolean := v.(bool); isBoolean {
						t.Errorf("%s%s/%s/%d is %v", d.name, at, several, i, v)
					}
				}
			}
		})
	}
}

// An object or an enum without its own name becomes a type such as AnonymousSchema_16 in a client.
// The number in such a name changes when another message is added.
func TestTypesOfMessagesHaveNames(t *testing.T) {
	named := 0
	for _, d := range documents(t) {
		if d.isOpenAPI() {
			continue
		}
		titles := map[any]string{}
		for name := range d.components("schemas") {
			titles[name] = "/" + name
		}
		walk(d.components("schemas"), "", "", func(at, under string, node any) {
			n, _ := node.(map[string]any)
			_, isEnum := n["enum"].([]any)
			if _, isObject := n["properties"].(map[string]any); !isObject && !isEnum || under == "schemas" || under == "not" || strings.Count(at, "/") < 2 {
				return
			}
			if named++; n["title"] == nil || titles[n["title"]] != "" {
				t.Errorf("%s%s: the title %v is missing, or is also the title of %q", d.name, at, n["title"], titles[n["title"]])
			}
			titles[n["title"]] = at
		})
	}
	if named < 5 {
		t.Errorf("only %d names were checked", named)
	}
}

// isText reports whether bodies of a media type are text for their readers.
func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || media == "application/json" || strings.HasSuffix(media, "+json")
}

// A generator treats a file as text, unless the file is declared as binary. A client then decodes
// the bytes of a file as text, or sends a description of the file instead of its content. The
// response is nevertheless 200.
func TestFilesAreBinary(t *testing.T) {
	binary := func(schema any) bool {
		s, _ := schema.(map[string]any)
		return s["type"] == "string" && s["format"] == "binary"
	}
	bodies, uploads := 0, 0
	for _, d := range documents(t) {
		walk(d.root, "", "", func(at, under string, node any) {
			n, _ := node.(map[string]any)
			for _, keyword := range []string{"contentMediaType", "contentEncoding"} {
				if n[keyword] != nil {
					t.Errorf("%s%s: generators do not support %s; files have the format binary", d.name, at, keyword)
				}
			}
			if under != "content" {
				return
			}
			if strings.HasSuffix(at, "/requestBody/content") && len(n) != 1 {
				t.Errorf("%s%s: a request has several media types, but generators support one", d.name, at)
			}
			for media, v := range n {
				body, _ := v.(map[string]any)
				if body == nil { // a message also has a field called content, which contains no bodies
					continue
				}
				schema, _ := body["schema"].(map[string]any)
				switch {
				case media == "multipart/form-data":
					uploads++
					fields, _ := schema["properties"].(map[string]any)
					if file, sent := fields["file"]; !sent || !binary(file) {
						t.Errorf("%s%s/%s: file is not a string of format binary", d.name, at, media)
					}
				case isText(media), media == "application/x-www-form-urlencoded":
					if schema["type"] == nil && schema["$ref"] == nil && schema["oneOf"] == nil && schema["anyOf"] == nil {
						t.Errorf("%s%s/%s: the body has no type", d.name, at, media)
					}
					if binary(schema) {
						t.Errorf("%s%s/%s: text must not have the format binary", d.name, at, media)
					}
				case strings.Contains(media, "/"):
					bodies++
					if !binary(schema) {
						t.Errorf("%s%s/%s: the body is not a string of format binary", d.name, at, media)
					}
				}
			}
		})
	}
	if bodies < 10 || uploads < 4 {
		t.Errorf("only %d files and %d uploads were checked", bodies, uploads)
	}
}
