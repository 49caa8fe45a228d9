package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

// repeated returns an array of n equal items.
func repeated(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// allocated returns the bytes that a function allocates, including bytes that are freed meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAtMostAHundredProblemsAreReported(t *testing.T) {
	s, err := schema.CompileBundle(map[string]any{"items": map[string]any{"type": "integer"}})
	if err != nil {
		t.Fatal(err)
	}
	if few := s.Check(value(t, repeated(100_000, `"a"`))); len(few) != 100 || few[0].Pointer == "" {
		t.Errorf("%d problems are reported, want 100", len(few))
	}
	if fits := s.Check(value(t, repeated(300_000, `1`))); len(fits) > 0 {
		t.Errorf("a valid array has the problems %v", fits)
	}
}

func TestProblemsInALargeCheckoutAreFound(t *testing.T) {
	lib := published(t)
	base, err := lib.ByID(schema.DefaultBase + "/" + schema.Release + "/shopping/checkout.json")
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := schema.Bundle(lib, schema.Target{Resource: base, Value: base.Root()}, schema.View{Direction: schema.Response})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.CompileBundle(bundle)
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(checkout, `"line_items": [`)
	line, _, _ = strings.Cut(line, `],`)
	large := strings.Replace(checkout, line, strings.Trim(repeated(1000, line), "[]"), 1)
	if p := s.Check(value(t, large)); len(p) > 0 {
		t.Errorf("a valid checkout has the problems %v", p)
	}
	wrong := strings.Replace(large, `"quantity": 2`, `"quantity": 0`, 1)
	if p := s.Check(value(t, wrong)); len(p) != 1 || p[0].Pointer != "/line_items/0/quantity" {
		t.Errorf("a wrong checkout has the problems %v", p)
	}
}

// Messages must be short, because they are shown on a screen or sent to an unknown client.
func TestMessagesRepeatNoLargeValues(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var names []any
	wide := map[string]any{}
	for i := range 5000 {
		name := fmt.Sprintf("%d%s", i, long[:100])
		names = append(names, name)
		wide[name] = "y"
	}
	for name, tc := range map[string]struct {
		schema map[string]any
		value  any
	}{
		"many missing members":    {map[string]any{"required": names}, map[string]any{}},
		"many additional members": {map[string]any{"additionalProperties": false}, wide},
		"a long text":             {map[string]any{"const": 1}, long},
		"a wide object":           {map[string]any{"const": wide}, 1},
		"nested wide":             {map[string]any{"enum": []any{[]any{wide}}}, []any{[]any{wide, long}}},
		"a long format":           {map[string]any{"format": "date"}, long},
		"a long pattern":          {map[string]any{"pattern": long[:4000]}, "y"},
		"a dependent list":        {map[string]any{"dependentRequired": map[string]any{"a": names}}, map[string]any{"a": 1}},
		"a wrong long name":       {map[string]any{"propertyNames": map[string]any{"maxLength": 3}}, map[string]any{long: 1}},
	} {
		s, err := schema.CompileBundle(tc.schema)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list := s.Check(tc.value)
		if len(list) == 0 {
			t.Errorf("%s: the payload is valid", name)
		}
		for _, p := range list {
			if len(p.Message) > 4000 {
				t.Errorf("%s: the message has %d bytes", name, len(p.Message))
			}
		}
	}
}

// In an earlier version, large values were formatted completely before they were shortened to one
// line.
func TestLargeValuesAreNotFormattedCompletely(t *testing.T) {
	large := strings.Split(strings.Repeat("word ", 50_000), " ")
	items := make([]any, len(large))
	for i, word := range large {
		items[i] = word
	}
	var payload []any
	for range 100 {
		payload = append(payload, []any{items})
	}
	s, err := schema.CompileBundle(map[string]any{"items": map[string]any{"const": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if bytes := allocated(func() { s.Check(payload) }); bytes > 4<<20 {
		t.Errorf("checking allocates %d bytes", bytes)
	}
}

// In an earlier version, these valid patterns were refused, and the invalid one was accepted.
func TestPatternsUseTheSyntaxOfECMA262(t *testing.T) {
	s, err := schema.CompileBundle(map[string]any{"pattern": `^(?=.*\d)[a-z\d]+$`})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Check("abc"); len(p) != 1 || !strings.Contains(p[0].Message, "pattern") {
		t.Errorf("the problems of a wrong text are %v", p)
	}
	if p := s.Check("a1"); len(p) > 0 {
		t.Errorf("a valid text has the problems %v", p)
	}
	for _, wrong := range []map[string]any{{"pattern": "^[a-z"}, {"patternProperties": map[string]any{"(?P<n>a)": true}}} {
		if len(schema.Draft2020(wrong)) != 1 {
			t.Errorf("Draft2020(%v) has not exactly one problem", wrong)
		}
		if _, err := schema.CompileBundle(wrong); err == nil {
			t.Errorf("CompileBundle(%v) succeeded", wrong)
		}
	}
	s, err = schema.CompileBundle(map[string]any{"items": map[string]any{"format": "regex"}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Check([]any{"(?=a)", "(?P<n>a)"})
	if len(p) != 1 || p[0] != (schema.Problem{Pointer: "/1", Message: `"(?P<n>a)" is not a valid regex`}) {
		t.Errorf("the problems of a wrong regex are %v", p)
	}
}
