package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

const shopping = schema.DefaultBase + "/" + schema.Release + "/shopping/"

func published(t testing.TB) *schema.Library {
	t.Helper()
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewLibrary(t.Context(), schema.LibraryOptions{Published: set})
}

func byID(t testing.TB, lib *schema.Library, id string) *schema.Resource {
	t.Helper()
	r, err := lib.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func add(t testing.TB, lib *schema.Library, text string) *schema.Resource {
	t.Helper()
	doc, err := schema.Parse("schema.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lib.Add(doc)
}

func value(t testing.TB, text string) any {
	t.Helper()
	doc, err := schema.Parse("value", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Value
}

func resolved(t testing.TB, view schema.View, base string, extensions ...string) map[string]any {
	t.Helper()
	lib := published(t)
	var over []*schema.Resource
	for _, e := range extensions {
		over = append(over, byID(t, lib, shopping+e))
	}
	composed, err := schema.Compose(lib, byID(t, lib, shopping+base), over, schema.ComposeOptions{View: view, Bundle: true})
	if err != nil {
		t.Fatal(err)
	}
	return composed
}

// checks validates a value with a schema that must not need other schemas.
func checks(t testing.TB, bundle map[string]any, text string) []schema.Problem {
	t.Helper()
	s, err := schema.CompileBundle(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return s.Check(value(t, text))
}

func TestAnnotationsAreAppliedForAnOperation(t *testing.T) {
	create := resolved(t, schema.View{Direction: schema.Request, Operation: "create"}, "checkout.json")
	properties := create["properties"].(map[string]any)
	for _, gone := range []string{"id", "ucp", "status", "totals", "links"} {
		if properties[gone] != nil {
			t.Errorf("the request of a create has the member %s", gone)
		}
	}
	if got := fmt.Sprint(create["required"]); got != "[currency line_items]" {
		t.Errorf("the request of a create requires %s", got)
	}
	update := resolved(t, schema.View{Direction: schema.Request, Operation: "update"}, "checkout.json")
	if got := fmt.Sprint(update["required"]); got != "[id line_items]" {
		t.Errorf("the request of an update requires %s", got)
	}
	response := resolved(t, schema.View{Direction: schema.Response}, "checkout.json")
	if got := len(response["required"].([]any)); got != 7 {
		t.Errorf("the response requires %d members", got)
	}
	for name, one := range map[string]any{"create": create, "response": response} {
		text, _ := json.Marshal(one)
		if strings.Contains(string(text), "ucp_re") || one.(map[string]any)["$defs"].(map[string]any)["platform_schema"] != nil {
			t.Errorf("%s still has annotations or meta schemas: %s", name, text)
		}
		if strings.Contains(string(text), "atelier.example") {
			t.Errorf("%s refers to other documents: %s", name, text)
		}
	}
}

func TestAnnotationsApplyToReferencedSchemas(t *testing.T) {
	create := resolved(t, schema.View{Direction: schema.Request, Operation: "create"}, "checkout.json")
	line := create["$defs"].(map[string]any)["types_line_item"].(map[string]any)
	if line["properties"].(map[string]any)["totals"] != nil {
		t.Error("a line item of the request still has totals")
	}
}

func TestExtensionsAddToTheBase(t *testing.T) {
	view := schema.View{Direction: schema.Request, Operation: "create"}
	composed := resolved(t, view, "checkout.json", "discount.json", "fulfillment.json")
	good := `{"line_items":[{"item":{"id":"a"}}],"currency":"EUR","discounts":{"codes":["X"]},"fulfillment":{"groups":[{"id":"g"}]}}`
	if p := checks(t, composed, good); len(p) > 0 {
		t.Errorf("a valid request has the problems %v", p)
	}
	for _, bad := range []string{
		`{"line_items":[],"currency":"EUR","discounts":{"codes":[""]}}`,
		`{"line_items":[],"currency":"EUR","fulfillment":{"groups":[{}],"x":1},"discounts":7}`,
		`{"line_items":[]}`,
	} {
		if len(checks(t, composed, bad)) == 0 {
			t.Errorf("the payload %s is valid", bad)
		}
	}
	other, _ := json.Marshal(resolved(t, view, "checkout.json", "fulfillment.json", "discount.json"))
	if same, _ := json.Marshal(composed); string(same) != string(other) {
		t.Error("the order of the extensions changes the result")
	}
}

func TestWithoutADirectionComposeKeepsAnnotations(t *testing.T) {
	text, _ := json.Marshal(resolved(t, schema.View{}, "checkout.json", "discount.json"))
	if !strings.Contains(string(text), "ucp_request") {
		t.Error("the annotations were removed")
	}
}

func TestWithoutBundlingOtherDocumentsAreReferenced(t *testing.T) {
	lib := published(t)
	composed, err := schema.Compose(lib, byID(t, lib, shopping+"checkout.json"), []*schema.Resource{byID(t, lib, shopping+"discount.json")}, schema.ComposeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(composed)
	if !strings.Contains(string(text), schema.DefaultBase+"/2026-01-23/types/line_item.json") {
		t.Error("the line items are not referenced by their address")
	}
	if strings.Contains(string(text), "/shopping/discount.json") {
		t.Error("the extension is only referenced")
	}
}

// extension returns an extension that adds a field to its parents.
func extension(name, requires string, parents ...string) string {
	var defs []string
	for _, p := range parents {
		defs = append(defs, fmt.Sprintf(`%q: {"properties": {%q: {"type": "string"}}}`, p, name))
	}
	return fmt.Sprintf(`{"$id": "https://x.example/%s", "name": %q, "version": "2026-01-01", "requires": %s, "$defs": {%s}}`, name, name, requires, strings.Join(defs, ","))
}

func TestInvalidCompositionsAreRefused(t *testing.T) {
	base := `{"$id": "https://x.example/base", "name": "com.x.base", "version": "2026-01-01", "type": "object"}`
	cases := map[string]struct {
		extensions []string
		want       string
	}{
		"an orphan":                   {[]string{extension("com.x.a", "{}", "com.x.other")}, "extends nothing"},
		"a cycle without root":        {[]string{extension("com.x.a", "{}", "com.x.b"), extension("com.x.b", "{}", "com.x.a")}, "extends nothing"},
		"a duplicate name":            {[]string{extension("com.x.a", "{}", "com.x.base"), extension("com.x.a", "{}", "com.x.base")}, "both named"},
		"an extension without a name": {[]string{`{"$id": "https://x.example/n"}`}, "no name"},
		"a later base required":       {[]string{extension("com.x.a", `{"capabilities": {"com.x.base": {"min": "2026-02-01"}}}`, "com.x.base")}, "requires com.x.base"},
		"a later protocol required":   {[]string{extension("com.x.a", `{"protocol": {"min": "2027-01-01"}}`, "com.x.base")}, "requires protocol"},
		"invalid requirements":        {[]string{extension("com.x.a", `{"protocol": 1}`, "com.x.base")}, "requires/protocol"},
		"a reference to nowhere":      {[]string{strings.Replace(extension("com.x.a", "{}", "com.x.base"), `{"type": "string"}`, `{"$ref": "#/$defs/none"}`, 1)}, "nothing at"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lib := published(t)
			var over []*schema.Resource
			b := add(t, lib, base)
			for _, e := range tc.extensions {
				over = append(over, add(t, lib, e))
			}
			_, err := schema.Compose(lib, b, over, schema.ComposeOptions{Bundle: true, Protocol: "2026-01-23"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Compose returned %v, want %q", err, tc.want)
			}
		})
	}
}

// The second of two extensions extends the base only through the first, so it cannot be applied
// alone.
func TestAnExtensionOfAnExtensionNeedsItsParent(t *testing.T) {
	lib := published(t)
	base := add(t, lib, `{"$id": "https://x.example/base", "name": "com.x.base", "version": "2026-01-01", "type": "object"}`)
	a := add(t, lib, extension("com.x.a", "{}", "com.x.base"))
	b := add(t, lib, extension("com.x.b", "{}", "com.x.a"))
	composed, err := schema.Compose(lib, base, []*schema.Resource{b, a}, schema.ComposeOptions{Bundle: true})
	if err != nil {
		t.Fatal(err)
	}
	if p := checks(t, composed, `{"com.x.a": 1, "com.x.b": 2}`); len(p) != 2 {
		t.Errorf("the problems are %v, want 2", p)
	}
	if _, err := schema.Compose(lib, base, []*schema.Resource{b}, schema.ComposeOptions{Bundle: true}); err == nil {
		t.Error("the extension composes without its parent")
	}
}

// The annotations of an extension also apply to fields of the base. In an earlier version, omit and
// optional applied only to fields of the extension itself.
func TestAnExtensionOverridesItsBasesAnnotations(t *testing.T) {
	over := func(properties string) string {
		return `{"$id": "https://x.example/over", "name": "com.x.over", "version": "2026-01-01", "$defs": {"dev.commerce.shopping.checkout":
			{"allOf": [{"$ref": "` + shopping + `checkout.json"}, {"properties": ` + properties + `}]}}}`
	}
	laid := func(view schema.View, schemas ...string) (map[string]any, error) {
		lib := published(t)
		var list []*schema.Resource
		for _, s := range schemas {
			list = append(list, add(t, lib, s))
		}
		return schema.Compose(lib, byID(t, lib, shopping+"checkout.json"), list, schema.ComposeOptions{View: view, Bundle: true})
	}
	create := schema.View{Direction: schema.Request, Operation: "create"}
	for name, tc := range map[string]struct {
		properties string
		good, bad  []string
	}{
		"omit": {`{"currency": {"ucp_request": "omit"}}`, []string{`{"line_items": []}`, `{"line_items": [], "currency": 7}`}, []string{`{"currency": "EUR"}`}},
		"optional": {`{"currency": {"ucp_request": {"create": "optional"}}}`, []string{`{"line_items": []}`, `{"line_items": [], "currency": "EUR"}`},
			[]string{`{"line_items": [], "currency": "euro"}`}},
		"required": {`{"buyer": {"ucp_request": "required"}}`, []string{`{"line_items": [], "currency": "EUR", "buyer": {}}`}, []string{`{"line_items": [], "currency": "EUR"}`}},
		"a nested field": {`{"payment": {"properties": {"instruments": {"ucp_request": "omit"}}}}`,
			[]string{`{"line_items": [], "currency": "EUR", "payment": {"instruments": 7}}`}, []string{`{"line_items": [], "currency": "EUR", "payment": 7}`}},
	} {
		composed, err := laid(create, over(tc.properties))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, text := range tc.good {
			if p := checks(t, composed, text); len(p) > 0 {
				t.Errorf("%s: the valid %s has the problems %v", name, text, p)
			}
		}
		for _, text := range tc.bad {
			if p := checks(t, composed, text); len(p) == 0 {
				t.Errorf("%s: the invalid %s is valid", name, text)
			}
		}
	}
	other := strings.ReplaceAll(over(`{"currency": {"ucp_request": "optional"}}`), "over", "other")
	if _, err := laid(create, over(`{"currency": {"ucp_request": "omit"}}`), other); err == nil || !strings.Contains(err.Error(), "annotates /currency as ") {
		t.Errorf("extensions that disagree: %v", err)
	}
}

// In an earlier version, conflicting types caused no error, and the result had fields for which no
// value was valid.
func TestConflictingTypesDoNotCompose(t *testing.T) {
	base := `{"$id": "https://x.example/base", "name": "com.x.base", "version": "2026-01-01", "properties": {
		"n": {"type": "number"}, "s": {"$ref": "#/$defs/text"}, "in": {"allOf": [{"properties": {"deep": {"type": "array"}}}]}}, "$defs": {"text": {"type": "string"}}}`
	over := func(name, properties string) string {
		return `{"$id": "https://x.example/` + name + `", "name": "com.x.` + name + `", "version": "2026-01-01", "$defs": {"com.x.base": {"allOf": [{"$ref": "base"}, {"properties": ` + properties + `}]}}}`
	}
	for properties, conflict := range map[string]string{
		`{"n": {"type": "integer"}, "s": {"type": ["string", "null"]}, "new": {"type": "string"}}`: "",
		`{"n": {"type": "string"}}`:                            `"n" is number in com.x.base and string in com.x.over`,
		`{"s": {"type": "object"}}`:                            `"s" is string in com.x.base and object in com.x.over`,
		`{"in": {"properties": {"deep": {"type": "string"}}}}`: `"in/deep" is array in com.x.base and string in com.x.over`,
		`{"later": {"type": "integer"}}`:                       `"later" is boolean in com.x.first and integer in com.x.over`,
	} {
		lib := published(t)
		b := add(t, lib, base)
		list := []*schema.Resource{add(t, lib, over("over", properties)), add(t, lib, over("first", `{"later": {"type": "boolean"}}`))}
		_, err := schema.Compose(lib, b, list, schema.ComposeOptions{Bundle: true})
		if conflict == "" && err != nil || conflict != "" && (err == nil || !strings.Contains(err.Error(), conflict)) {
			t.Errorf("%s: Compose returned %v", properties, err)
		}
	}
}

// In an earlier version, the number of branches multiplied with every level.
func TestOverridingTakesLinearTime(t *testing.T) {
	deep := `{"ucp_request": "optional"}`
	for range 8 {
		deep = `{"allOf": [` + strings.TrimSuffix(strings.Repeat(`{"properties": {"a": {}}},`, 30), ",") + `], "properties": {"a": ` + deep + `}}`
	}
	lib := published(t)
	b := add(t, lib, `{"$id": "https://x.example/base", "name": "com.x.base", "version": "2026-01-01", "allOf": [`+deep+`]}`)
	e := add(t, lib, `{"$id": "https://x.example/over", "name": "com.x.over", "version": "2026-01-01", "$defs": {"com.x.base": `+deep+`}}`)
	if _, err := schema.Compose(lib, b, []*schema.Resource{e}, schema.ComposeOptions{Bundle: true, View: schema.View{Direction: schema.Request}}); err != nil {
		t.Error(err)
	}
}

// The base is the root of the result, which contains the extension. In an earlier version, a
// reference from the extension to the base therefore looked like an endless schema.
func TestAnExtensionCanReferToItsBaseAnywhere(t *testing.T) {
	lib := published(t)
	base := add(t, lib, `{"$id": "https://x.example/base", "name": "com.x.base", "version": "2026-01-01", "required": ["a"]}`)
	deep := add(t, lib, `{"$id": "https://x.example/deep", "name": "com.x.deep", "version": "2026-01-01",
		"$defs": {"com.x.base": {"allOf": [{"allOf": [{"$ref": "base"}]}, {"properties": {"next": {"$ref": "base"}}}]}}}`)
	composed, err := schema.Compose(lib, base, []*schema.Resource{deep}, schema.ComposeOptions{Bundle: true})
	if err != nil {
		t.Fatal(err)
	}
	if p := checks(t, composed, `{"a": 1, "next": {}}`); len(p) != 1 || p[0].Pointer != "/next" {
		t.Errorf("the problems are %v, want 1 at /next", p)
	}
}

func TestHostileSchemasAreRefused(t *testing.T) {
	doubling := &strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(doubling, `"d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	chain := &strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(chain, `"d%d": {"$ref": "#/$defs/d%d"},`, i, i+1)
	}
	for name, source := range map[string]string{
		"a reference to itself":         `{"$ref": "#"}`,
		"references to each other":      `{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}`,
		"references that double":        `{"$ref": "#/$defs/d0", "$defs": {` + doubling.String() + `"d40": {}}}`,
		"a long chain":                  `{"$ref": "#/$defs/d0", "$defs": {` + chain.String() + `"d20000": {}}}`,
		"a dynamic reference to itself": `{"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", "$dynamicRef": "#a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			lib := published(t)
			r := add(t, lib, source)
			if _, err := schema.Compose(lib, r, nil, schema.ComposeOptions{Bundle: true}); err == nil {
				t.Error("the schema composes")
			}
		})
	}
}

// FuzzResolve passes any schema to the resolver. The result compiles or is refused, in bounded
// time.
func FuzzResolve(f *testing.F) {
	set, err := schema.Published("")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range set.All() {
		f.Add(file.Data)
	}
	f.Add([]byte(`{"$ref": "#/$defs/a", "$defs": {"a": {"$id": "b", "$ref": "#"}}}`))
	f.Add([]byte(`{"properties": {"a": {"ucp_request": "omit"}}, "required": ["a", 7]}`))
	f.Add([]byte(`{"$id": "https://x.example/a#b", "$anchor": "c", "$ref": "#c"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := schema.Parse("f", data)
		if err != nil {
			return
		}
		lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Published: set})
		r := lib.Add(doc)
		bundle, err := schema.Compose(lib, r, nil, schema.ComposeOptions{Bundle: true, View: schema.View{Direction: schema.Request}})
		if err != nil {
			return
		}
		if s, err := schema.CompileBundle(bundle); err == nil {
			s.Check(map[string]any{"a": []any{"b"}})
		}
	})
}
