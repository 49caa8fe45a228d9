package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestExactlyTheServedOperationsAreDocumented(t *testing.T) {
	t.Parallel()
	var served, documented []string
	for _, op := range offered() {
		served = append(served, op.Method+" "+op.Path)
	}
	for name := range commerceOperations { // other packages serve these operations; shop.described verifies them
		served = append(served, strings.Replace(name, "/api/", "/", 1))
	}
	for path, item := range openAPI.root["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	for _, op := range served {
		if !slices.Contains(documented, op) {
			t.Errorf("%s is not documented", op)
		}
	}
	for _, op := range documented {
		if !slices.Contains(served, op) {
			t.Errorf("%s is documented, but not served", op)
		}
	}
}

// walk visits every node of a document.
func walk(v any, at pointer, visit func(pointer, map[string]any)) {
	switch node := v.(type) {
	case map[string]any:
		visit(at, node)
		for k, child := range node {
			walk(child, at.to(k), visit)
		}
	case []any:
		for i, child := range node {
			walk(child, at.to(fmt.Sprint(i)), visit)
		}
	}
}

// inExample reports whether a position is inside an example.
func inExample(at pointer) bool {
	return slices.Contains(at, "examples") || slices.Contains(at, "example")
}

func TestEveryReferenceResolves(t *testing.T) {
	t.Parallel()
	for _, d := range []*document{openAPI, asyncAPI} {
		walk(d.root, nil, func(at pointer, node map[string]any) {
			ref, ok := node["$ref"].(string)
			if !ok || inExample(at) {
				return
			}
			if v, _ := d.at(fromRef(ref)); v == nil {
				t.Errorf("%s%s: %s does not resolve", d.name, at, ref)
			}
		})
	}
}

func TestEveryExampleIsValid(t *testing.T) {
	t.Parallel()
	n := 0
	hold := func(d *document, schema pointer, example any, at pointer) {
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if err := d.validate(schema, text); err != nil {
			t.Errorf("the example at %s%s is invalid: %v", d.name, at, err)
		}
	}
	for _, d := range []*document{openAPI, asyncAPI} {
		walk(d.root, nil, func(at pointer, node map[string]any) {
			if inExample(at) {
				return
			}
			switch examples := node["examples"].(type) {
			case []any: // of a schema, or of a message
				for _, e := range examples {
					if node["payload"] != nil {
						_, schema := d.at(at.to("payload"))
						hold(d, schema, e.(map[string]any)["payload"], at)
					} else {
						hold(d, at, e, at)
					}
				}
			case map[string]any: // of a media type
				for _, e := range examples {
					_, schema := d.at(at.to("schema"))
					hold(d, schema, e.(map[string]any)["value"], at)
				}
			}
		})
	}
	if n < 60 {
		t.Errorf("only %d examples were found", n)
	}
}

// Every schema must compile, and response schemas must be closed. Any undocumented field is then
// an error.
func TestResponseSchemasAreClosed(t *testing.T) {
	t.Parallel()
	for _, d := range []*document{openAPI, asyncAPI} {
		for name, v := range d.root["components"].(map[string]any)["schemas"].(map[string]any) {
			if _, err := d.schema(pointer{"components", "schemas", name}); err != nil {
				t.Errorf("%s: the schema %s does not compile: %v", d.name, name, err)
			}
			if s := v.(map[string]any); s["type"] == "object" && s["properties"] == nil {
				t.Errorf("%s: %s does not describe its fields", d.name, name)
			}
		}
	}
	closed := map[string]bool{}
	var follow func(p pointer)
	follow = func(p pointer) {
		v, at := openAPI.at(p)
		if closed[at.String()] {
			return
		}
		closed[at.String()] = true
		walk(v, at, func(here pointer, node map[string]any) {
			if ref, ok := node["$ref"].(string); ok {
				follow(fromRef(ref))
			}
			if node["properties"] != nil && node["type"] == "object" && node["additionalProperties"] != false {
				t.Errorf("openapi.json%s is part of a response, but allows additional fields", here)
			}
		})
	}
	for _, op := range offered() {
		responses, at := openAPI.at(pointer{"paths", op.Path, strings.ToLower(op.Method), "responses"})
		for status := range responses.(map[string]any) {
			p := at.to(status, "content", "application/json", "schema")
			if v, _ := openAPI.at(p); v != nil {
				follow(p)
			}
		}
	}
}

func TestEveryOperationAndItsParametersAreDescribed(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, op := range offered() {
		v, at := openAPI.at(pointer{"paths", op.Path, strings.ToLower(op.Method)})
		o := record(v.(map[string]any))
		if o.text("summary") == "" || o.text("description") == "" || ids[o.text("operationId")] {
			t.Errorf("%s %s lacks a summary, a description or a unique operationId", op.Method, op.Path)
		}
		ids[o.text("operationId")] = true
		names := map[string]bool{}
		parameters, _ := o["parameters"].([]any)
		for i := range parameters {
			p, _ := openAPI.at(at.to("parameters", fmt.Sprint(i)))
			names[record(p.(map[string]any)).text("name")] = true
		}
		for part := range strings.SplitSeq(op.Path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok && !names[strings.TrimSuffix(name, "}")] {
				t.Errorf("%s %s: the path parameter %s is not documented", op.Method, op.Path, name)
			}
		}
		if op.Method != http.MethodGet && !op.Check && !op.Basic && !names["X-CSRF-Token"] {
			t.Errorf("%s %s: the CSRF header is not documented", op.Method, op.Path)
		}
	}
}

func TestTheServerServesItsDocuments(t *testing.T) {
	t.Parallel()
	b := open(t, common.get(t).Addr())
	if got := b.get("/openapi.json").object().text("openapi"); got != "3.1.0" {
		t.Errorf("the OpenAPI version is %q, want \"3.1.0\"", got)
	}
	if got := b.get("/asyncapi.json").object().text("asyncapi"); got != "3.0.0" {
		t.Errorf("the AsyncAPI version is %q, want \"3.0.0\"", got)
	}
	// The documents have the version of the program.
	program := b.get("/app").object().text("version")
	for _, path := range []string{"/openapi.json", "/asyncapi.json"} {
		if info := b.get(path).object()["info"].(map[string]any); info["version"] != program || program == "" {
			t.Errorf("%s has the version %v, the program %q", path, info["version"], program)
		}
	}
}
