package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// components are the components of a piece by how one refers to them.
func (d *description) components() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	c := &d.Components
	for kind, named := range map[string]map[string]json.RawMessage{
		"securitySchemes": c.SecuritySchemes, "parameters": c.Parameters, "headers": c.Headers, "responses": c.Responses, "schemas": c.Schemas,
	} {
		for name, text := range named {
			all["#/components/"+kind+"/"+name] = text
		}
	}
	return all
}

// follow visits what a node refers to, by a reference or as a way to prove who
// is calling.
func follow(node any, visit func(ref string)) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			follow(v, visit)
		}
	case map[string]any:
		for k, v := range n {
			ref, isText := v.(string)
			alternatives, isList := v.([]any)
			switch {
			case k == "$ref" && isText:
				visit(ref)
			case k == "security" && isList:
				for _, needs := range alternatives {
					for name := range needs.(map[string]any) {
						visit("#/components/securitySchemes/" + name)
					}
				}
			case k != "example" && k != "examples":
				follow(v, visit)
			}
		}
	}
}

// twice names the members that an object of the text has twice, of which a
// decoder silently takes the last.
func twice(d *json.Decoder, at string) (names []string) {
	t, err := d.Token()
	if err != nil || t != json.Delim('{') && t != json.Delim('[') {
		return nil
	}
	for seen, i := map[string]bool{}, 0; d.More(); i++ {
		here := fmt.Sprintf("%s/%d", at, i)
		if t == json.Delim('{') {
			name, _ := d.Token()
			if here = fmt.Sprintf("%s/%s", at, name); seen[here] {
				names = append(names, here)
			}
			seen[here] = true
		}
		names = append(names, twice(d, here)...)
	}
	_, _ = d.Token()
	return names
}

// A path or component that stood twice would silently be the last one's, and
// what nobody uses any more would stay for ever.
func TestPiecesOfTheDocumentFitTogether(t *testing.T) {
	const shared = "shared.json"
	files, err := fs.Glob(pieces, "openapi/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("the pieces are %v, %v", files, err)
	}
	standsIn := map[string]string{}                           // what stands in which piece
	users, all := map[string]map[string]bool{}, description{} // which pieces refer to a component
	for _, file := range files {
		b, err := pieces.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p description
		if err := p.read(b); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := all.read(b); err != nil {
			t.Fatal(err)
		}
		piece := path.Base(file)
		for _, name := range twice(json.NewDecoder(bytes.NewReader(b)), "") {
			t.Errorf("%s: %s stands there twice", piece, name)
		}
		for _, what := range slices.Concat(slices.Collect(maps.Keys(p.Paths)), slices.Collect(maps.Keys(p.components()))) {
			if before := standsIn[what]; before != "" {
				t.Errorf("%s stands in %s and in %s", what, before, piece)
			}
			standsIn[what] = piece
		}
		var whole any
		if err := json.Unmarshal(b, &whole); err != nil {
			t.Fatal(err)
		}
		follow(whole, func(ref string) {
			parts := strings.SplitN(ref, "/", 5) // the rest is a place in the component
			ref = strings.Join(parts[:min(4, len(parts))], "/")
			if users[ref] == nil {
				users[ref] = map[string]bool{}
			}
			users[ref][piece] = true
		})
	}
	defined := all.components()
	for ref, by := range users {
		if defined[ref] == nil {
			t.Errorf("%v: %s is nowhere", slices.Sorted(maps.Keys(by)), ref)
		}
	}
	for ref := range defined {
		by, piece := users[ref], standsIn[ref]
		switch {
		case len(by) == 0:
			t.Errorf("%s: nothing refers to %s", piece, ref)
		case piece == shared && len(by) == 1 && !by[shared]:
			t.Errorf("%s: %s belongs to %v, which alone refers to it", piece, ref, slices.Sorted(maps.Keys(by)))
		case piece != shared && !by[piece]:
			t.Errorf("%s: %s belongs to %v or to %s", piece, ref, slices.Sorted(maps.Keys(by)), shared)
		}
	}
}

// An imported codelab is a codelab and what became of the file, and a run that was brought
// up to date one and what changed. They repeat the members of a codelab, since generators
// of clients follow no reference to a single member.
func TestAnImportedCodelabIsDescribedAsOne(t *testing.T) {
	changes := []string{"steps", "stale_threads", "removed_threads", "people_on_removed_steps"}
	type object struct {
		Required   []string
		Properties map[string]any
	}
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	read := func(name string) (o object) {
		if err := json.Unmarshal(doc.Components.Schemas[name], &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	one := read("Codelab")
	for name, own := range map[string]struct{ always, also []string }{
		"Imported": {[]string{"created", "left_out"}, changes}, "UpdatedRun": {changes, nil},
	} {
		is := read(name)
		if want := append(slices.Clone(one.Required), own.always...); !slices.Equal(is.Required, want) {
			t.Errorf("%s requires %v, want %v", name, is.Required, want)
		}
		for member, schema := range is.Properties {
			if !slices.Contains(own.always, member) && !slices.Contains(own.also, member) && !reflect.DeepEqual(schema, one.Properties[member]) {
				t.Errorf("%s of %s is %v, of a codelab %v", member, name, schema, one.Properties[member])
			}
		}
	}
}
