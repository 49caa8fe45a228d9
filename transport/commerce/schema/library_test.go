package schema_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

// internet is a Fetcher with a few documents that counts what is asked of it.
type internet struct {
	pages map[string]string
	asked int
}

func (i *internet) Fetch(_ context.Context, address string) ([]byte, error) {
	i.asked++
	if text, ok := i.pages[address]; ok {
		return []byte(text), nil
	}
	return nil, errors.New("no such host")
}

func parse(t testing.TB, text string) *schema.Document {
	t.Helper()
	doc, err := schema.Parse("schema.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestWhereReferencesLead(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	folder := tree(t, map[string]string{
		"a.json":       `{"$id": "https://x.example/s/a.json", "$defs": {"b/c": {"$anchor": "spot"}, "in": {"$id": "inner.json", "$defs": {"d": {}}}}, "const": {"deep": 1}}`,
		"types/b.json": `{"$id": "https://elsewhere.example/b.json", "title": "beside"}`,
		"broken.json":  `{`,
	})
	net := &internet{pages: map[string]string{"https://net.example/n.json": `{"$defs": {"e": {}}}`, "https://net.example/bad.json": `[`}}
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Published: set, Fetcher: net, Folders: []string{folder}})
	from, err := lib.AddFile(filepath.Join(folder, "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	lib.Add(parse(t, `{"$id": "https://x.example/s/types/b.json", "title": "by id"}`))
	lib.Add(parse(t, `{"$id": "https://x.example/s/only.json"}`))
	good := map[string]string{
		"#":                             "",
		"#/$defs/b~1c":                  "/$defs/b~1c",
		"#/$defs/b%7E1c":                "/$defs/b~1c",
		"#spot":                         "/$defs/b~1c",
		"a.json#/const/deep":            "/const/deep",
		"types/b.json":                  "", // beside the file comes first
		"only.json":                     "", // then the $id
		"https://x.example/s/only.json": "",
		"inner.json#/$defs/d":           "/$defs/in/$defs/d",
		"https://atelier.example/schemas/2026-01-23/types/buyer.json": "",
		"https://net.example/n.json#/$defs/e":                         "/$defs/e",
		"https://json-schema.org/draft/2020-12/schema":                "",
	}
	for ref, pointer := range good {
		target, err := lib.Resolve(from, ref)
		if err != nil || target.Pointer != pointer {
			t.Errorf("%s leads to %q: %v", ref, target.Pointer, err)
		}
	}
	if b, _ := lib.Resolve(from, "types/b.json"); b.Value.(map[string]any)["title"] != "beside" {
		t.Error("the $id came before the file beside")
	}
	bad := map[string]schema.RefKind{
		"#/$defs/none":                  schema.RefNoPlace,
		"#nowhere":                      schema.RefNoPlace,
		"none.json":                     schema.RefUnreachable, // not beside, so it is asked for by $id
		"broken.json":                   schema.RefBroken,
		"https://net.example/gone.json": schema.RefUnreachable,
		"https://net.example/bad.json":  schema.RefBroken,
		"file:///etc/passwd":            schema.RefMalformed,
		"/etc/passwd":                   schema.RefUnreachable, // a path of the $id's host, never of this machine
		"%zz":                           schema.RefMalformed,
	}
	for ref, kind := range bad {
		_, err := lib.Resolve(from, ref)
		var failed *schema.RefError
		if !errors.As(err, &failed) || failed.Kind != kind {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

func TestNothingIsFetchedWithoutAFetcher(t *testing.T) {
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
	r := lib.Add(parse(t, `{"$id": "https://x.example/a.json"}`))
	_, err := lib.Resolve(r, "https://net.example/n.json")
	var failed *schema.RefError
	if !errors.As(err, &failed) || failed.Kind != schema.RefUnknown {
		t.Error(err)
	}
}

func TestADeclaredSchemaIsFetchedFromItsOwnerOnly(t *testing.T) {
	net := &internet{pages: map[string]string{"https://vendor.com/a.json": `{}`, "https://evil.com/a.json": `{}`}}
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Fetcher: net})
	if _, err := lib.Declared("com.vendor.a", "https://evil.com/a.json"); err == nil || net.asked != 0 {
		t.Errorf("asked %d times: %v", net.asked, err)
	}
	for range 3 {
		if _, err := lib.Declared("com.vendor.a", "https://vendor.com/a.json"); err != nil {
			t.Error(err)
		}
	}
	if net.asked != 1 {
		t.Errorf("asked %d times", net.asked)
	}
}

// TestFetchingEnds follows a chain of documents that never ends.
func TestFetchingEnds(t *testing.T) {
	net := &internet{pages: map[string]string{}}
	for i := range 2000 {
		net.pages[fmt.Sprintf("https://x.example/%d", i)] = fmt.Sprintf(`{"$ref": "https://x.example/%d"}`, i+1)
	}
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Fetcher: net})
	r := lib.Add(parse(t, `{"$ref": "https://x.example/0"}`))
	lib.NewCosts().Check(r)
	if net.asked > 600 {
		t.Errorf("%d documents were fetched", net.asked)
	}
}

func TestCyclesAreTold(t *testing.T) {
	for source, endless := range map[string]bool{
		`{"$ref": "#"}`:                              true,
		`{"allOf": [{"if": {"$ref": "#"}}]}`:         true,
		`{"dependentSchemas": {"a": {"$ref": "#"}}}`: true,
		`{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"oneOf": [{"$ref": "#/$defs/a"}]}}}`: true,
		`{"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#"}}`:                     false,
		`{"const": {"$ref": "#"}, "properties": {"$ref": {"type": "string"}}}`:             false,
	} {
		lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
		if cycle := lib.NewCosts().Check(lib.Add(parse(t, source))); (cycle != nil) != endless {
			t.Errorf("%s: %v", source, cycle)
		}
	}
}

// TestWorkThatMultiplies has schemas that look small and double the work at
// each level of the value, and ones that only look as if they did.
func TestWorkThatMultiplies(t *testing.T) {
	var deep any = "end"
	for range 90 {
		deep = map[string]any{"a": deep, "b": "leaf"}
	}
	for source, ends := range map[string]bool{
		`{"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}`: false,
		`{"properties": {"a": {"$ref": "#"}}, "patternProperties": {"": {"$ref": "#"}}}`:          false,
		`{"additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}`:                     false,
		`{"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}`:                                true,
		`{"additionalProperties": {"$ref": "#"}}`:                                                 true,
	} {
		lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
		r := lib.Add(parse(t, source))
		if _, err := lib.NewGauge().Measure(schema.Target{Resource: r, Value: r.Root()}, deep); (err == nil) != ends {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestWorkIsCountedAsAValidatorDoesIt has small schemas that were let through
// and kept a validator busy: it compares each item with each alternative, and
// passes the members that were not looked at yet from schema to schema.
func TestWorkIsCountedAsAValidatorDoesIt(t *testing.T) {
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	words := list(2000, `"word"`)
	wide := "{" + numbered(2000, `"m%d": 1`) + "}"
	for name, tc := range map[string]struct {
		schema, value string
		ends          bool
	}{
		"a thousand alternatives for a thousand items": {`{"items": {"oneOf": [` + numbered(1000, `{"const": %d}`) + `]}}`, list(1000, "999"), false},
		"ten alternatives for a thousand items":        {`{"items": {"oneOf": [` + numbered(10, `{"const": %d}`) + `]}}`, list(1000, "9"), true},
		"a large enum for many items":                  {`{"items": {"enum": [` + numbered(2000, `"w%d"`) + `]}}`, words, false},
		"a large enum of another kind":                 {`{"items": {"enum": [` + numbered(2000, `%d`) + `]}}`, words, true},
		"a large enum for one value":                   {`{"enum": [` + numbered(2000, `"w%d"`) + `]}`, `"w"`, true},
		"enums of large values":                        {`{"items": {"enum": ` + list(100, list(100, "1")) + `}}`, list(100, list(100, "1")), false},
		"members left over, many times":                {`{"unevaluatedProperties": false, "allOf": [` + numbered(1000, `{"title": "%d"}`) + `]}`, wide, false},
		"wide objects, some times":                     {`{"allOf": [` + numbered(200, `{"title": "%d"}`) + `]}`, wide, true},
		"members left over, some times":                {`{"unevaluatedProperties": false, "allOf": [` + numbered(200, `{"title": "%d"}`) + `]}`, wide, false},
		"equal items":                                  {`{"items": {"uniqueItems": true}}`, list(200, list(1000, "1")), false},
		"members left over, once":                      {`{"unevaluatedProperties": false, "allOf": [{"additionalProperties": true}]}`, wide, true},
		"many schemas of a wide object":                {`{"allOf": [` + numbered(1000, `{"properties": {"x%d": {}}}`) + `]}`, wide, false},
		"many patterns for many names":                 {`{"patternProperties": {` + numbered(1000, `"^x%d$": {}`) + `}}`, wide, false},
		"patterns that find nothing":                   {`{"patternProperties": {"^x": {"$ref": "#"}, "^y": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}}`, deepValue(), true},
		"patterns that backtrack":                      {`{"items": {"pattern": "(?=a)b"}}`, words, false},
		"a pattern of many steps":                      {`{"pattern": "^((a?){30}b?){30}$"}`, `"` + strings.Repeat("a", 1<<20) + `"`, false},
		"the same for a short text":                    {`{"pattern": "^((a?){30}b?){30}$"}`, `"aaaab"`, true},
		"a long text":                                  {`{"pattern": "^[a-z]*$"}`, `"` + strings.Repeat("a", 1<<20) + `"`, true},
		"patterns that do not":                         {`{"items": {"pattern": "^[a-z]+$"}}`, words, true},
		"names":                                        {`{"allOf": [` + numbered(50, `{"propertyNames": {"title": "%d"}}`) + `]}`, wide, false},
		"a type that does not fit":                     {`{"items": {"type": "object", "allOf": [` + numbered(1000, `{"title": "%d"}`) + `]}}`, words, true},
	} {
		lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
		r := lib.Add(parse(t, tc.schema))
		work, err := lib.NewGauge().Measure(schema.Target{Resource: r, Value: r.Root()}, parse(t, tc.value).Value)
		if (err == nil) != tc.ends {
			t.Errorf("%s: %+v %v", name, work, err)
		}
		if err != nil && !errors.Is(err, schema.ErrTooMuchWork) {
			t.Errorf("%s: %v", name, err)
		}
		if work.Steps > 4_000_000 {
			t.Errorf("%s: counting went on to %d", name, work.Steps)
		}
	}
}

func deepValue() string {
	return strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
}

// FuzzReferences gives the loader any schema and follows every reference in it.
func FuzzReferences(f *testing.F) {
	for _, seed := range []string{
		`{"$id": "https://x.example/a", "$ref": "#b", "$defs": {"b": {"$anchor": "b", "$ref": "a"}}}`,
		`{"$id": "../..", "allOf": [{"$ref": "//"}, {"$ref": "?"}], "$defs": {"x": {"$id": "#"}}}`,
		`{"$defs": {"a": {"$id": "https://x.example/n", "$defs": {"c": {"$id": "m", "$ref": "n#/$defs/c"}}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := schema.Parse("f", data)
		if err != nil {
			return
		}
		lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{})
		r := lib.Add(doc)
		schema.Walk(doc.Value, func(pointer string, node map[string]any) {
			if ref, ok := node["$ref"].(string); ok {
				if target, err := lib.Resolve(r.At(pointer), ref); err == nil && target.Resource == nil && target.External == "" {
					t.Errorf("%q leads nowhere, and no error", ref)
				}
			}
		})
		lib.NewCosts().Check(r)
	})
}
