package schema_test

import (
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

const (
	catalog = `{"$id": "https://vendor.com/search.json", "name": "com.vendor.search", "version": "2026-02-01", "type": "object", "$defs": {
		"search_request": {"type": "object", "required": ["query"], "properties": {"query": {"type": "string"}, "page": {"$ref": "#/$defs/page"}}},
		"search_response": {"type": "object", "required": ["products"], "properties": {"products": {"type": "array"}, "trace": {"ucp_response": {"search": "omit"}}}},
		"page": {"type": "integer"}}}`
	ranked = `{"$id": "https://vendor.com/ranked.json", "name": "com.vendor.ranked", "version": "2026-02-01", "$defs": {
		"com.vendor.search": {"$defs": {"search_response": {"allOf": [{"$ref": "search.json#/$defs/search_response"},
			{"required": ["ranking"], "properties": {"ranking": {"type": "string"}}}]}}}}}`
)

func TestContainersHaveAShapeForEachOperation(t *testing.T) {
	for _, tc := range []struct {
		direction schema.Direction
		payload   string
		fits      bool
	}{
		{schema.Request, `{"query": "mug", "page": 2}`, true},
		{schema.Request, `{"query": "mug", "page": "2"}`, false},
		{schema.Request, `{"products": []}`, false},
		{schema.Response, `{"products": [], "ranking": "price"}`, true},
		{schema.Response, `{"products": []}`, false},
		{schema.Response, `{"query": "mug"}`, false},
	} {
		lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
		base, over := add(t, lib, catalog), add(t, lib, ranked)
		composed, err := schema.Compose(lib, base, []*schema.Resource{over}, schema.ComposeOptions{View: schema.View{Direction: tc.direction, Operation: "search"}, Bundle: true})
		if err != nil {
			t.Fatal(err)
		}
		if properties, _ := composed["properties"].(map[string]any); properties["trace"] != nil {
			t.Error("the composed schema has a member that the annotation omits")
		}
		if tc.direction == schema.Response && composed["$defs"] != nil {
			t.Errorf("the composed schema repeats the extended shape: %v", composed["$defs"])
		}
		validator, err := schema.CompileBundle(composed)
		if err != nil {
			t.Fatal(err)
		}
		if problems := validator.Check(value(t, tc.payload)); tc.fits != (len(problems) == 0) {
			t.Errorf("%s of %s has the problems %v", tc.direction, tc.payload, problems)
		}
	}
}

// A container has no constraints at its root. Without its shape, every payload would be valid.
func TestAMissingShapeIsAnError(t *testing.T) {
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
	_, err := schema.Compose(lib, add(t, lib, catalog), nil, schema.ComposeOptions{View: schema.View{Direction: schema.Request, Operation: "lookup"}})
	if err == nil || !strings.Contains(err.Error(), `no shape "lookup_request"`) || !strings.Contains(err.Error(), "search_request") {
		t.Errorf("composing without a shape returned %v, want an error with the shapes", err)
	}
}
