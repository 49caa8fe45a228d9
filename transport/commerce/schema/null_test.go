package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

// In an earlier version, the copy of a schema lacked keywords with the value null, so {"const":
// null} accepted every value.
func TestKeywordsWithTheValueNullAreKept(t *testing.T) {
	const text = `{"name": "com.vendor.base", "version": "2026-02-01", "properties": {
		"gone": {"const": null, "default": null, "x-note": null}, "choice": {"enum": [null, 1]}}}`
	const extension = `{"name": "com.vendor.over", "version": "2026-02-01", "$defs": {"com.vendor.base": {
		"properties": {"more": {"const": null, "default": null}}}}}`
	for _, view := range []schema.View{{}, {Direction: schema.Request, Operation: "create"}} {
		lib := published(t)
		base, over := add(t, lib, text), add(t, lib, extension)
		composed, err := schema.Compose(lib, base, []*schema.Resource{over}, schema.ComposeOptions{View: view, Bundle: true})
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(composed)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"gone":{"const":null,"default":null,"x-note":null}`, `"more":{"const":null,"default":null}`} {
			if !strings.Contains(string(written), want) {
				t.Errorf("%+v: the schema %s lacks %s", view, written, want)
			}
		}
		validator, err := schema.CompileBundle(composed)
		if err != nil {
			t.Fatal(err)
		}
		for payload, fits := range map[string]bool{`{"gone": null, "more": null, "choice": null}`: true, `{"gone": 0}`: false, `{"more": ""}`: false, `{"choice": 2}`: false} {
			if problems := validator.Check(value(t, payload)); fits != (len(problems) == 0) {
				t.Errorf("with %+v, the payload %s has the problems %v", view, payload, problems)
			}
		}
	}
}

func TestNullRequirementsDoNotCompose(t *testing.T) {
	lib := published(t)
	base := add(t, lib, `{"name": "com.vendor.base", "version": "2026-02-01"}`)
	over := add(t, lib, `{"name": "com.vendor.over", "version": "2026-02-01", "requires": null, "$defs": {"com.vendor.base": {}}}`)
	if _, err := schema.Compose(lib, base, []*schema.Resource{over}, schema.ComposeOptions{}); err == nil || !strings.Contains(err.Error(), "requires") {
		t.Errorf("composing null requirements returned %v, want an error with requires", err)
	}
}
