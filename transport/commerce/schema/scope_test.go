package schema_test

import (
	"errors"
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

// genericTree is a tree of any nodes. strictTree restricts the nodes.
const (
	genericTree = `{"$id": "https://vendor.com/tree", "$dynamicAnchor": "node", "type": "object",
		"properties": {"data": true, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}}}`
	strictTree = `{"$id": "https://vendor.com/strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": false}`
	forest     = `{"$id": "https://vendor.com/forest", "properties": {"strict": {"$ref": "strict"}, "loose": {"$ref": "tree"}}}`
)

func treeLibrary(t *testing.T, texts ...string) (*schema.Library, *schema.Resource) {
	t.Helper()
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
	var last *schema.Resource
	for _, text := range texts {
		last = add(t, lib, text)
	}
	return lib, last
}

// The test compiles one generic schema in two scopes. It compiles the schema as "commerce validate"
// does, and as lint does.
func TestDynamicReferencesLeadToTheOutermostAnchor(t *testing.T) {
	const misspelled = `{"children": [{"daat": 1}]}`
	lib, root := treeLibrary(t, genericTree, strictTree, forest)
	target := schema.Target{Resource: root, Value: root.Root()}
	bundle, err := schema.Bundle(lib, target, schema.View{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := schema.CompileBundle(bundle)
	if err != nil {
		t.Fatal(err)
	}
	compiler := schema.NewCompiler(lib)
	linked, err := compiler.Compile(target)
	if err != nil {
		t.Fatal(err)
	}
	again, err := compiler.Compile(target)
	if err != nil {
		t.Fatal(err)
	}
	for payload, fits := range map[string]bool{
		`{"strict": ` + misspelled + `}`: false, `{"loose": ` + misspelled + `}`: true, `{"strict": {"children": [{"data": 1}]}}`: true,
	} {
		for name, validator := range map[string]*schema.Validator{"bundle": whole, "compiler": linked, "again": again} {
			if problems := validator.Check(value(t, payload)); fits != (len(problems) == 0) {
				t.Errorf("with the %s, the payload %s has the problems %v", name, payload, problems)
			}
		}
	}
}

func TestDynamicReferencesNextToOthers(t *testing.T) {
	lib, root := treeLibrary(t, `{"$id": "https://vendor.com/both", "items": {"$ref": "#/$defs/short", "$dynamicRef": "#word"},
		"$defs": {"short": {"maxLength": 3}, "word": {"$dynamicAnchor": "word", "type": "string"}}}`)
	validator, err := schema.Compile(lib, schema.Target{Resource: root, Value: root.Root()}, schema.View{})
	if err != nil {
		t.Fatal(err)
	}
	for payload, fits := range map[string]bool{`["abc"]`: true, `["abcd"]`: false, `[1]`: false} {
		if problems := validator.Check(value(t, payload)); fits != (len(problems) == 0) {
			t.Errorf("the payload %s has the problems %v", payload, problems)
		}
	}
}

// The schema has a cycle that only the dynamic scope closes. If $dynamicRef were a plain reference,
// there would be no cycle.
func TestEndlessDynamicReferencesAreRefused(t *testing.T) {
	lib, root := treeLibrary(t,
		`{"$id": "https://vendor.com/inner", "allOf": [{"$dynamicRef": "#end"}], "$defs": {"end": {"$dynamicAnchor": "end"}}}`,
		`{"$id": "https://vendor.com/outer", "$dynamicAnchor": "end", "$ref": "inner"}`)
	_, err := schema.Bundle(lib, schema.Target{Resource: root, Value: root.Root()}, schema.View{})
	if e := (*schema.CycleError)(nil); !errors.As(err, &e) || !e.Endless {
		t.Errorf("Bundle returned %v, want an endless cycle", err)
	}
}

func TestDynamicReferencesNeedAllDocuments(t *testing.T) {
	lib, root := treeLibrary(t, genericTree)
	_, err := schema.Compose(lib, root, nil, schema.ComposeOptions{})
	if err == nil || !strings.Contains(err.Error(), "--bundle") {
		t.Errorf("Compose returned %v, want an error with --bundle", err)
	}
}

func TestNestedIDsAreResolvedAgainstTheEnclosingResource(t *testing.T) {
	lib, root := treeLibrary(t, `{"$id": "https://vendor.com/a/root", "$ref": "https://vendor.com/b/inner",
		"$defs": {"x": {"$id": "https://vendor.com/b/x", "properties": {"y": {"$id": "inner", "type": "number"}}}}}`)
	validator, err := schema.Compile(lib, schema.Target{Resource: root, Value: root.Root()}, schema.View{})
	if err != nil {
		t.Fatal(err)
	}
	if len(validator.Check(value(t, `"text"`))) == 0 || len(validator.Check(value(t, `1`))) != 0 {
		t.Error("the reference is resolved to another schema")
	}
}
