package publish_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier/transport/commerce/publish"
	"atelier/transport/commerce/schema"
)

// points is a schema that extends the checkout. It uses the default base address.
const points = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://atelier.example/schemas/2026-02-01/points.json",
  "title": "Points", "description": "Points of a customer.",
  "name": "com.vendor.points", "version": "2026-02-01",
  "requires": {"protocol": {"min": "2027-01-01"}, "capabilities": {"dev.commerce.shopping.checkout": {"min": "2026-01-23"}}},
  "$defs": {
    "dev.commerce.shopping.checkout": {"properties": {"points": {"$ref": "types/amount.json"}}},
    "platform_schema": {"allOf": [{"$ref": "https://atelier.example/schemas/2026-01-23/meta/capability.json#/$defs/platform_schema"}]},
    "business_schema": {"allOf": [{"$ref": "https://atelier.example/schemas/2026-01-23/meta/capability.json#/$defs/business_schema"}, {"properties": {"config": {"properties": {"rate": {"type": "integer"}}}}}]},
    "response_schema": {"allOf": [{"$ref": "https://atelier.example/schemas/2026-01-23/meta/capability.json#/$defs/response_schema"}]}
  }
}`

const amount = `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://atelier.example/schemas/2026-02-01/types/amount.json",
  "title": "Amount", "description": "An amount of points.", "type": "integer", "examples": [1]}`

// folderOf writes files by path and returns their folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for path, text := range files {
		file := filepath.Join(folder, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestTheOperatorsSchemasArePublished(t *testing.T) {
	folder := folderOf(t, map[string]string{
		"2026-02-01/points.json": points, "2026-02-01/types/amount.json": amount,
		"2026-02-01/README.md": "left out", ".git/2026-02-01/x.json": "{", "2026-02-01/.hidden.json": "{",
	})
	if err := os.Symlink("amount.json", filepath.Join(folder, "2026-02-01/types/.link")); err != nil {
		t.Fatal(err)
	}
	const base = "https://shop.example/schemas"
	ours, err := publish.Schemas(t.Context(), base, "")
	if err != nil {
		t.Fatal(err)
	}
	set, err := publish.Schemas(t.Context(), base, folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.All()) != len(ours.All())+2 {
		t.Errorf("%d schemas are published, %d without the folder", len(set.All()), len(ours.All()))
	}
	f, ok := set.Lookup("2026-02-01/points.json")
	if !ok || f.ID != base+"/2026-02-01/points.json" || len(f.ETag) < 10 || strings.Contains(string(f.Data), schema.DefaultBase) || !strings.Contains(string(f.Data), `"`+f.ID+`"`) {
		t.Fatalf("the published schema is %+v", f)
	}
	if e, ok := set.Entity("com.vendor.points", "2026-02-01"); !ok || e != f {
		t.Errorf("the entity is %+v", e)
	}
	if _, _, err := ours.WithFolder(folder); err != nil {
		t.Fatal(err)
	}
	if _, ok := ours.Lookup("2026-02-01/points.json"); ok {
		t.Error("the set without the folder contains its schemas")
	}
	again, err := publish.Schemas(t.Context(), base, folder)
	if err != nil {
		t.Fatal(err)
	}
	if g, _ := again.Lookup(f.Path); g.ETag != f.ETag {
		t.Error("the tag of one document changed")
	}
}

func TestTheProfileIsCheckedAgainstTheOperatorsSchemas(t *testing.T) {
	folder := folderOf(t, map[string]string{"2026-02-01/points.json": points, "2026-02-01/types/amount.json": amount})
	for _, tc := range []struct {
		rate any
		rule string
	}{{2, ""}, {"two", "[declaration-config]"}} {
		c := publish.DefaultBusiness("", "https://shop.example")
		var err error
		if c.Schemas, err = publish.Schemas(t.Context(), c.SchemaBase, folder); err != nil {
			t.Fatal(err)
		}
		c.Capabilities = append(c.Capabilities, publish.Capability{Name: "com.vendor.points", Version: "2026-02-01", Extends: []string{"dev.commerce.shopping.checkout"},
			Schema: "https://shop.example/schemas/2026-02-01/points.json", Config: map[string]any{"rate": tc.rate}})
		_, err = publish.NewBusiness(t.Context(), c)
		if tc.rule == "" && err != nil || tc.rule != "" && (err == nil || !strings.Contains(err.Error(), tc.rule)) {
			t.Errorf("with the rate %v: %v", tc.rate, err)
		}
	}
}

func TestInvalidSchemasOfTheOperatorAreRefused(t *testing.T) {
	named := func(name, version string) string {
		return strings.NewReplacer("com.vendor.points", name, `"version": "2026-02-01"`, `"version": "`+version+`"`).Replace(points)
	}
	const path = "2026-02-01/points.json"
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a lint finding":                 {map[string]string{path: strings.Replace(points, `"description": "Points of a customer.",`, "", 1), "2026-02-01/types/amount.json": amount}, []string{path + ":1", "description is missing [description-missing]"}},
		"a lint finding with a position": {map[string]string{"2026-02-01/types/amount.json": strings.Replace(amount, `[1]`, `["x"]`, 1)}, []string{"2026-02-01/types/amount.json:2 /examples/0: ", "[example-invalid]"}},
		"a reference to nothing":         {map[string]string{path: points}, []string{path, "/properties/points/$ref", "[ref-missing]"}},
		"invalid JSON":                   {map[string]string{path: "{"}, []string{path, "not JSON"}},
		"no version folder":              {map[string]string{"points.json": points}, []string{"points.json: want <version>/<name>.json"}},
		"not a calendar date":            {map[string]string{"2026-02-30/points.json": points}, []string{`"2026-02-30" is not a version`}},
		"an invalid character":           {map[string]string{"2026-02-01/a b.json": points}, []string{"a b.json: want <version>"}},
		"an address elsewhere":           {map[string]string{"2026-02-01/other.json": points}, []string{"2026-02-01/other.json: /$id is", "served at https://atelier.example/schemas/2026-02-01/other.json"}},
		"no address":                     {map[string]string{path: `{"ucp": {}}`}, []string{`/$id is ""`}},
		"not an object":                  {map[string]string{path: `[]`}, []string{`/$id is ""`}},
		"a path of the server":           {map[string]string{"2026-01-23/types/buyer.json": amount}, []string{"2026-01-23/types/buyer.json: the server publishes its own schema there"}},
		"a name of the server":           {map[string]string{path: named("com.atelier.tokenization", "2026-02-01")}, []string{"/name", "is a name of the server or the protocol"}},
		"a name of the protocol":         {map[string]string{path: named("dev.commerce.points", "2026-02-01")}, []string{"/name", "is a name of the server or the protocol"}},
		"another version":                {map[string]string{path: named("com.vendor.points", "2026-02-02")}, []string{`/version is "2026-02-02"`}},
		"a name twice": {map[string]string{path: points, "2026-02-01/twice.json": strings.Replace(points, "points.json", "twice.json", 1)},
			[]string{"2026-02-01/twice.json: /name: 2026-02-01/points.json already has the name"}},
		"a file too large": {map[string]string{path: strings.Repeat(" ", 4<<20+1)}, []string{path, "larger than"}},
		"too many bytes": {map[string]string{"2026-02-01/a.json": blank("a"), "2026-02-01/b.json": blank("b"), "2026-02-01/c.json": blank("c"), "2026-02-01/d.json": blank("d"), "2026-02-01/e.json": blank("e")},
			[]string{"2026-02-01/e.json", "bytes together"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := publish.Schemas(t.Context(), "", folderOf(t, tc.files))
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "commerce.schemas: ") {
					t.Errorf("Schemas returned %v, want an error with %q", err, want)
				}
			}
		})
	}
	if _, err := publish.Schemas(t.Context(), "", filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing folder: %v", err)
	}
	if _, err := publish.Schemas(t.Context(), "", folderOf(t, manyFiles())); err == nil || !strings.Contains(err.Error(), "more than 1000 schemas") {
		t.Errorf("too many files: %v", err)
	}
}

// blank returns a valid schema of nearly the maximum size.
func blank(name string) string {
	return strings.NewReplacer("types/amount", name, "An amount", strings.Repeat("a", 4<<20-1000)).Replace(amount)
}

func manyFiles() map[string]string {
	files := map[string]string{}
	for i := range 1001 {
		files["2026-02-01/"+strings.Repeat("a", 1+i%100)+strings.Repeat("b", i/100)+".json"] = "{}"
	}
	return files
}

// A link out of the folder could publish a secret, and reading a pipe would block the start.
func TestLinksOutOfTheFolderAreRefused(t *testing.T) {
	for name, link := range map[string]func(folder string) error{
		"a file outside": func(folder string) error {
			return os.Symlink("../../secret.json", filepath.Join(folder, "2026-02-01/points.json"))
		},
		"an absolute path": func(folder string) error {
			return os.Symlink(filepath.Join(filepath.Dir(folder), "secret.json"), filepath.Join(folder, "2026-02-01/points.json"))
		},
		"a folder": func(folder string) error {
			return os.Symlink("../2026-02-01", filepath.Join(folder, "2026-02-01/points.json"))
		},
		"a pipe": func(folder string) error {
			return syscall.Mkfifo(filepath.Join(folder, "2026-02-01/points.json"), 0o600)
		},
		"a device": func(folder string) error {
			return os.Symlink("/dev/null", filepath.Join(folder, "2026-02-01/points.json"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			outside := folderOf(t, map[string]string{"secret.json": points, "schemas/2026-02-01/types/amount.json": amount})
			folder := filepath.Join(outside, "schemas")
			if err := link(folder); err != nil {
				t.Fatal(err)
			}
			if _, err := publish.Schemas(t.Context(), "", folder); err == nil || !strings.Contains(err.Error(), "2026-02-01/points.json") || strings.Contains(err.Error(), "com.vendor") {
				t.Errorf("Schemas returned %v, want an error with the path", err)
			}
		})
	}
	linked := folderOf(t, map[string]string{"2026-02-01/types/amount.json": amount})
	if err := os.Symlink("2026-02-01", filepath.Join(linked, "2026-03-01")); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Schemas(t.Context(), "", linked); err == nil || !strings.Contains(err.Error(), "2026-03-01: links to folders") {
		t.Errorf("a link to a folder: %v", err)
	}
	inside := folderOf(t, map[string]string{"..data/points.json": points, "2026-02-01/types/amount.json": amount})
	if err := os.Symlink("../..data/points.json", filepath.Join(inside, "2026-02-01/points.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Schemas(t.Context(), "", inside); err != nil {
		t.Errorf("a link inside of the folder: %v", err)
	}
}
