package schema_test

import (
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

// compile compiles a published schema, given by path and fragment.
func compile(t testing.TB, place string, view schema.View) *schema.Validator {
	t.Helper()
	lib := published(t)
	path, fragment, _ := strings.Cut(place, "#")
	r, err := lib.ByID(schema.DefaultBase + "/" + schema.Release + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	target, err := lib.Resolve(r, "#"+fragment)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(lib, target, view)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const checkout = `{
  "ucp": {"version": "2026-01-23", "capabilities": {"dev.commerce.shopping.checkout": [{"version": "2026-01-23"}]}},
  "id": "chk_1",
  "line_items": [{"id": "line-1", "item": {"id": "mug", "title": "Blue mug", "price": 1200}, "quantity": 2, "totals": {"total": 2400}}],
  "buyer": {"email": "ada@example.com"},
  "status": "open", "currency": "EUR",
  "totals": {"subtotal": 2400, "tax": {"amount": 480, "label": "VAT"}, "total": 2880},
  "links": {"terms_of_service": "https://business.example/terms"}
}`

func TestProblemsHaveTheirPointerAndMessage(t *testing.T) {
	s := compile(t, "shopping/checkout.json", schema.View{Direction: schema.Response})
	if p := s.Check(value(t, checkout)); len(p) > 0 {
		t.Fatalf("a valid checkout has the problems %v", p)
	}
	cases := []struct{ old, new, pointer, message string }{
		{`"id": "chk_1",`, ``, "", `misses "id"`},
		{`"status": "open"`, `"status": "paid"`, "/status", `must be one of "open", "completed", "expired", is "paid"`},
		{`"EUR"`, `"euro"`, "/currency", `does not match the pattern ^[A-Z]{3}$`},
		{`"quantity": 2`, `"quantity": 0`, "/line_items/0/quantity", `must be at least 1, is 0`},
		{`"quantity": 2`, `"quantity": "2"`, "/line_items/0/quantity", `must be an integer, is a string`},
		{`"total": 2880`, `"total": true`, "/totals/total", `must be an integer or an object`},
		{`"amount": 480`, `"amount": "480"`, "/totals/tax/amount", `must be an integer, is a string`},
		{`"https://business.example/terms"`, `"not a uri"`, "/links/terms_of_service", `"not a uri" is not a valid uri`},
		{`"version": "2026-01-23", "capabilities"`, `"version": "2026-02-30", "capabilities"`, "/ucp/version", `"2026-02-30" is not a valid date`},
		{`"dev.commerce.shopping.checkout"`, `"Checkout"`, "/ucp/capabilities", `member name "Checkout" does not match the pattern ^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$`},
	}
	for _, tc := range cases {
		text := strings.Replace(checkout, tc.old, tc.new, 1)
		problems := s.Check(value(t, text))
		if len(problems) != 1 || problems[0] != (schema.Problem{Pointer: tc.pointer, Message: tc.message}) {
			t.Errorf("%s has the problems %+v", tc.new, problems)
		}
	}
}

// Problems do not repeat card numbers, because problems can end up in a log.
func TestSecretsAreNotRepeated(t *testing.T) {
	s := compile(t, "handlers/tokenization.json#/$defs/tokenize_request", schema.View{})
	good := `{"credential": {"type": "card", "card_number_type": "fpan", "number": "4242424242424242", "expiry_month": 1, "expiry_year": 2030, "cvc": "123"}, "binding": {"checkout_id": "c"}}`
	if p := s.Check(value(t, good)); len(p) > 0 {
		t.Fatalf("a valid request has the problems %v", p)
	}
	for _, bad := range []string{strings.Replace(good, "4242424242424242", "4242-4242-4242-4242", 1), strings.Replace(good, `"123"`, `"98765"`, 1), strings.Replace(good, `"4242424242424242"`, `4242424242424242`, 1)} {
		problems := s.Check(value(t, bad))
		if len(problems) == 0 {
			t.Errorf("the payload %s is valid", bad)
		}
		for _, p := range problems {
			if strings.Contains(p.String(), "4242") || strings.Contains(p.String(), "98765") {
				t.Errorf("the problem contains the number: %s", p)
			}
		}
	}
}

// The cases are the parts of draft 2020-12 that the published schemas and composition need.
func TestDraftBehaviours(t *testing.T) {
	cases := []struct {
		name, schema string
		good, bad    []string
	}{
		{"keywords beside $ref apply", `{"$ref": "#/$defs/a", "minimum": 5, "$defs": {"a": {"type": "integer"}}}`, []string{"5"}, []string{"4", "5.5"}},
		{"an integer can be written as a float", `{"type": "integer"}`, []string{"1.0", "1e2"}, []string{"1.5"}},
		{"const and enum compare numbers by value", `{"enum": [1]}`, []string{"1", "1.0"}, []string{"2", `"1"`}},
		{"formats are checked", `{"format": "date"}`, []string{`"2024-02-29"`, "7"}, []string{`"2023-02-29"`}},
		{"names are checked by propertyNames", `{"propertyNames": {"pattern": "^a"}}`, []string{`{"a": 1}`, "{}"}, []string{`{"b": 1}`}},
		{"additionalProperties considers only adjacent keywords", `{"allOf": [{"properties": {"a": {}}}], "additionalProperties": false}`, []string{"{}"}, []string{`{"a": 1}`}},
		{"unevaluatedProperties considers allOf", `{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}`, []string{`{"a": 1}`}, []string{`{"b": 1}`}},
		{"then applies only if the condition holds", `{"if": {"required": ["t"]}, "then": {"required": ["u"]}}`, []string{"{}", `{"t": 1, "u": 1}`}, []string{`{"t": 1}`}},
		{"prefixItems come before items", `{"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}`, []string{`[1, "a"]`, "[]"}, []string{`[1, 2]`, `["a"]`}},
		{"a false schema refuses", `{"properties": {"a": false}}`, []string{"{}"}, []string{`{"a": 1}`}},
		{"recursion ends with the value", `{"properties": {"next": {"$ref": "#"}}, "required": ["n"]}`, []string{`{"n": 1, "next": {"n": 2}}`}, []string{`{"n": 1, "next": {}}`}},
		{"anchors can be referenced", `{"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "null"}}}`, []string{"null"}, []string{"1"}},
		{"a nested $id starts a new base", `{"$id": "https://x.example/a/", "$ref": "b", "$defs": {"x": {"$id": "b", "$ref": "#/$defs/y", "$defs": {"y": {"type": "null"}}}}}`, []string{"null"}, []string{"1"}},
		{"a reference in data is data", `{"const": {"$ref": "#/nowhere"}}`, []string{`{"$ref": "#/nowhere"}`}, []string{"{}"}},
		{"a property can have the name $ref", `{"properties": {"$ref": {"type": "string"}}}`, []string{`{"$ref": "x"}`}, []string{`{"$ref": 1}`}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			lib := published(t)
			doc, err := schema.Parse("schema.json", []byte(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			r := lib.Add(doc)
			s, err := schema.Compile(lib, schema.Target{Resource: r, Value: doc.Value}, schema.View{})
			if err != nil {
				t.Fatal(err)
			}
			for _, good := range tc.good {
				if p := s.Check(value(t, good)); len(p) > 0 {
					t.Errorf("the valid %s has the problems %v", good, p)
				}
			}
			for _, bad := range tc.bad {
				if len(s.Check(value(t, bad))) == 0 {
					t.Errorf("the invalid %s is valid", bad)
				}
			}
		})
	}
}

func TestInvalidSchemasAreRefused(t *testing.T) {
	for _, node := range []map[string]any{{"type": "whole"}, {"pattern": "("}, {"$ref": "https://elsewhere.example/x.json"}, {"required": "a"}} {
		if _, err := schema.CompileBundle(node); err == nil {
			t.Errorf("the schema %v compiles", node)
		}
	}
}

// BenchmarkCheckout validates a checkout with compiled schemas:
//
//	go test -run - -bench Checkout -benchmem ./transport/commerce/schema
//	BenchmarkCheckout-2   43975   27743 ns/op   13885 B/op   259 allocs/op
func BenchmarkCheckout(b *testing.B) {
	s := compile(b, "shopping/checkout.json", schema.View{Direction: schema.Response})
	payload := value(b, checkout)
	b.ReportAllocs()
	for b.Loop() {
		if p := s.Check(payload); len(p) > 0 {
			b.Fatal(p)
		}
	}
}
