package schema_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"atelier/transport/commerce/schema"
)

// internet is a Fetcher with a few documents. It counts its requests.
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

func TestReferencesAreResolved(t *testing.T) {
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
		"types/b.json":                  "", // the adjacent file has priority
		"only.json":                     "", // without an adjacent file, the $id is used
		"https://x.example/s/only.json": "",
		"inner.json#/$defs/d":           "/$defs/in/$defs/d",
		"https://atelier.example/schemas/2026-01-23/types/buyer.json": "",
		"https://net.example/n.json#/$defs/e":                         "/$defs/e",
		"https://json-schema.org/draft/2020-12/schema":                "",
	}
	for ref, pointer := range good {
		target, err := lib.Resolve(from, ref)
		if err != nil || target.Pointer != pointer {
			t.Errorf("%s is resolved to %q: %v", ref, target.Pointer, err)
		}
	}
	if b, _ := lib.Resolve(from, "types/b.json"); b.Value.(map[string]any)["title"] != "beside" {
		t.Error("the $id took precedence over the adjacent file")
	}
	bad := map[string]schema.RefKind{
		"#/$defs/none":                  schema.RefNoPlace,
		"#nowhere":                      schema.RefNoPlace,
		"none.json":                     schema.RefUnreachable, // no adjacent file, so the request uses the $id
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
			t.Errorf("the reference %s returned %v", ref, err)
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

func TestADeclaredSchemaIsFetchedOnlyFromItsOwner(t *testing.T) {
	net := &internet{pages: map[string]string{"https://vendor.com/a.json": `{}`, "https://evil.com/a.json": `{}`}}
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Fetcher: net})
	if _, err := lib.Declared("com.vendor.a", "https://evil.com/a.json"); err == nil || net.asked != 0 {
		t.Errorf("the network got %d requests: %v", net.asked, err)
	}
	for range 3 {
		if _, err := lib.Declared("com.vendor.a", "https://vendor.com/a.json"); err != nil {
			t.Error(err)
		}
	}
	if net.asked != 1 {
		t.Errorf("the network got %d requests", net.asked)
	}
}

// An endless chain of documents is followed only up to a limit.
func TestFetchingAnEndlessChainEnds(t *testing.T) {
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

func TestEndlessCyclesAreFound(t *testing.T) {
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
			t.Errorf("%s: the cycle is %v", source, cycle)
		}
	}
}

// FuzzReferences loads any schema and follows every reference in it.
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
					t.Errorf("%q has neither a target nor an error", ref)
				}
			}
		})
		lib.NewCosts().Check(r)
	})
}

func TestALoadThatFailedIsNotRepeated(t *testing.T) {
	folder := tree(t, map[string]string{"a.json": `{"$id": "https://x.example/a.json"}`, "broken.json": `{`})
	net := &internet{pages: map[string]string{"https://net.example/bad.json": `[`}}
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Fetcher: net, Folders: []string{folder}})
	from, err := lib.AddFile(filepath.Join(folder, "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	// More references than documents that may be loaded.
	for i := range 1000 {
		for _, ref := range []string{"https://net.example/gone.json", "https://net.example/bad.json", "none.json", "broken.json"} {
			var e *schema.RefError
			if _, err := lib.Resolve(from, ref+fmt.Sprint("#/", i)); !errors.As(err, &e) || e.Ref != ref+fmt.Sprint("#/", i) {
				t.Fatalf("reference %d to %s: %v", i, ref, err)
			}
		}
	}
	if _, err := lib.Resolve(from, "https://net.example/gone.json"); net.asked != 3 || err == nil { // "none.json" is also tried at its $id
		t.Errorf("%d requests, want 3; %v", net.asked, err)
	}
}

// A payload can name any schema. Its document must not be found in place of another vendor's.
func TestAFetchedDocumentCannotTakeThePlaceOfAnother(t *testing.T) {
	net := &internet{pages: map[string]string{
		"https://attacker.example/x.json":     `{"$defs": {"a": {"$id": "https://vendor.example/loyalty.json", "title": "forged"}, "b": {"$id": "https://attacker.example/own.json", "title": "own"}}}`,
		"https://vendor.example/loyalty.json": `{"title": "genuine"}`,
	}}
	lib := schema.NewLibrary(t.Context(), schema.LibraryOptions{Fetcher: net})
	if _, err := lib.ByID("https://attacker.example/x.json"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"https://vendor.example/loyalty.json": "genuine", "https://attacker.example/own.json": "own"} {
		r, err := lib.ByID(id)
		if err != nil {
			t.Fatal(err)
		}
		if root, _ := r.Root().(map[string]any); root["title"] != want {
			t.Errorf("%s is %v, want %s", id, root, want)
		}
	}
}
