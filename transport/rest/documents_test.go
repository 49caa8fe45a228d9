package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier/actors/token"
)

// follow visits everything that a node refers to: references and security schemes.
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

// components returns the components of a piece by their reference.
func (d *description) components() map[string]json.RawMessage {
	c, all := &d.Components, map[string]json.RawMessage{}
	for kind, named := range map[string]map[string]json.RawMessage{
		"securitySchemes": c.SecuritySchemes, "parameters": c.Parameters, "headers": c.Headers, "responses": c.Responses, "schemas": c.Schemas,
	} {
		for name, text := range named {
			all["#/components/"+kind+"/"+name] = text
		}
	}
	return all
}

// component returns the reference of the component that contains the target of ref.
func component(ref string) string {
	parts := strings.SplitN(ref, "/", 5) // the rest is a position in the component
	return strings.Join(parts[:min(4, len(parts))], "/")
}

// twice returns the duplicate fields of objects in the text. A decoder would silently use the last
// of them.
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

// The file openapi.json contains the current document. The app's types are generated from it.
func TestTheDocumentFileIsUpToDate(t *testing.T) {
	const file = "openapi.json"
	var want bytes.Buffer
	if err := json.Indent(&want, OpenAPI(), "", "  "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date; run make generate", file)
	}
}

// Every path and component is in exactly one piece, and every component is used. Otherwise the last
// of two equal names would silently replace the first, and an unused component would stay forever.
func TestThePiecesOfTheDocumentFitTogether(t *testing.T) {
	const shared = "shared.json"
	files, err := fs.Glob(pieces, "openapi/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("the pieces are %v, %v", files, err)
	}
	pieceOf := map[string]string{}        // the piece of each component
	users := map[string]map[string]bool{} // the pieces that refer to each component
	all, err := readPieces()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := pieces.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p description
		if err := p.read(b); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		piece := path.Base(file)
		for _, name := range twice(json.NewDecoder(bytes.NewReader(b)), "") {
			t.Errorf("%s: duplicate field %s", piece, name)
		}
		if len(p.Operations) > 0 && p.Tag == "" {
			t.Errorf("%s: the operations have no tag", piece)
		}
		for _, what := range slices.Concat(slices.Collect(maps.Keys(p.Operations)), slices.Collect(maps.Keys(p.Paths)), slices.Collect(maps.Keys(p.components()))) {
			if before := pieceOf[what]; before != "" {
				t.Errorf("%s is in %s and in %s", what, before, piece)
			}
			pieceOf[what] = piece
		}
		if err := p.complete(operations, &all); err != nil {
			t.Fatalf("completing %s: %v", file, err)
		}
		if b, err = encoded(p); err != nil {
			t.Fatal(err)
		}
		var whole any
		if err := json.Unmarshal(b, &whole); err != nil {
			t.Fatal(err)
		}
		follow(whole, func(ref string) {
			ref = component(ref)
			if users[ref] == nil {
				users[ref] = map[string]bool{}
			}
			users[ref][piece] = true
		})
	}
	defined := all.components()
	for ref, by := range users {
		if defined[ref] == nil {
			t.Errorf("%v: the reference %s has no target", slices.Sorted(maps.Keys(by)), ref)
		}
	}
	for ref := range defined {
		by, piece := users[ref], pieceOf[ref]
		switch {
		case strings.HasPrefix(ref, "#/components/parameters/"): // from the table of parameters
			if len(by) == 0 {
				t.Errorf("nothing refers to %s", ref)
			}
		case len(by) == 0:
			t.Errorf("%s: nothing refers to %s", piece, ref)
		case piece == shared && len(by) == 1 && !by[shared]:
			t.Errorf("%s: %s belongs to %v, which alone refers to it", piece, ref, slices.Sorted(maps.Keys(by)))
		case piece != shared && !by[piece]:
			t.Errorf("%s: %s belongs to %v or to %s", piece, ref, slices.Sorted(maps.Keys(by)), shared)
		}
	}
}

// The pieces describe exactly the operations of the table. Operations outside the table have
// complete responses in the document.
func TestTheTableAndTheDocumentHaveTheSameOperations(t *testing.T) {
	all, err := readPieces()
	if err != nil {
		t.Fatal(err)
	}
	for i := range operations {
		op := &operations[i]
		name := op.Method + " " + op.Path
		o, described := all.Operations[op.ID]
		if !described {
			t.Errorf("%s is not described", name)
			continue
		}
		delete(all.Operations, op.ID)
		if op.Summary == "" || o.Description == "" {
			t.Errorf("%s has no summary or description", name)
		}
		checkNoRepetition(t, name, op, *o)
	}
	for id := range all.Operations {
		t.Errorf("%s is not in the table", id)
	}
	for path, methods := range all.Paths {
		for method, text := range methods {
			var whole struct{ Responses map[string]any }
			if err := json.Unmarshal(text, &whole); err != nil || len(whole.Responses) == 0 {
				t.Errorf("%s %s is not in the table and has no responses, %v", method, path, err)
			}
		}
	}
}

// checkNoRepetition fails if a piece repeats the table, because the two could diverge.
func checkNoRepetition(t *testing.T, name string, op *Operation, o outline) {
	t.Helper()
	if o.Security != nil {
		own, _ := json.Marshal(o.Security)
		table, _ := json.Marshal(op.security())
		if bytes.Equal(own, table) {
			t.Errorf("%s: its security repeats the table's", name)
		}
	}
	bare, usual := o, *op
	bare.Answers, usual.Also, usual.Never = nil, nil, nil
	known := usual.components(&bare)
	for _, status := range op.Also {
		if known[status] != "" || standard[status] == "" {
			t.Errorf("%s: %d is in Also, but it is implied or has no standard response", name, status)
		}
	}
	for _, status := range op.Never {
		if known[status] == "" {
			t.Errorf("%s: %d is in Never, but it is not implied", name, status)
		}
	}
	for code, answer := range o.Answers {
		if status, err := strconv.Atoi(code); err == nil && reflect.DeepEqual(answer, refTo("responses", standard[status])) {
			t.Errorf("%s: %s belongs in Also", name, code)
		}
	}
	if op.Takes != nil && (o.Body != nil || bodyOf[op.Takes] == "" && op.Takes != reflect.TypeFor[struct{}]()) {
		t.Errorf("%s: its body is described twice, or has no component", name)
	}
	if given := op.Gives.json; given != nil {
		for given.Kind() == reflect.Slice {
			given = given.Elem()
		}
		if o.Gives != nil || componentOf[given] == "" && given.Kind() != reflect.String {
			t.Errorf("%s: its response is described twice, or has no component", name)
		}
	}
}

// Client generators name files and types after components, and some file systems and languages
// ignore case. The test also finds references into a component, which generators do not follow.
func TestComponentNamesAreUniqueIgnoringCase(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for kind, all := range doc["components"].(map[string]any) {
		seen := map[string]string{}
		for name := range all.(map[string]any) {
			if before := seen[strings.ToLower(name)]; before != "" {
				t.Errorf("two components of %s differ only in case: %s and %s", kind, before, name)
			}
			seen[strings.ToLower(name)] = name
		}
	}
	follow(doc, func(ref string) {
		if strings.Count(ref, "/") != 3 {
			t.Errorf("%s is not a component", ref)
		}
	})
}

// A path refers to every component, directly or through other components. Client generators omit
// other components, but still generate references to them.
func TestEveryComponentIsReachableFromAPath(t *testing.T) {
	var doc struct {
		Paths      any
		Components map[string]map[string]any
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{}
	var reach func(ref string)
	reach = func(ref string) {
		if parts := strings.Split(ref, "/"); !reached[ref] {
			reached[ref] = true
			follow(doc.Components[parts[2]][parts[3]], reach)
		}
	}
	follow(doc.Paths, reach)
	for kind, named := range doc.Components {
		for name := range named {
			if ref := "#/components/" + kind + "/" + name; !reached[ref] {
				t.Errorf("%s is not reachable from a path", ref)
			}
		}
	}
}

// The table determines the permission, the limit and the common responses in the description of an
// operation.
func TestOperationsAreDescribedFromTheTable(t *testing.T) {
	for name, c := range map[string]struct {
		op   Operation
		o    outline
		want string
	}{
		"a change by an attendee": {
			Operation{
				Method: put, Path: "/codelabs/{id}/polls/{poll_id}", Access: CodelabAttendee, Body: 3 << 10, Params: []string{"as"},
				Takes: body[voteBody](), Gives: of[pollRecord](), Seq: true, Also: []int{409},
			},
			outline{},
			`{"parameters":["codelab_id","poll_id","as","csrf"],"security":[{"csrfAuth":[],"sessionAuth":[]}],"body":"At most 3 KiB. Vote","required":true,"codes":"200 400 401 403 404 409 413 415 429 500 503","headers":["X-Codelab-Seq","X-Request-Id"],"gives":"Poll"}`,
		},
		"a list for anybody": {
			Operation{Method: get, Path: "/certificates/{id}", Access: Anyone, Params: []string{"certificate_id"}, Gives: of[[]pollRecord](), Never: []int{503}},
			outline{},
			`{"parameters":["certificate_id"],"security":[{},{"sessionAuth":[]},{"tokenAuth":[]}],"codes":"200 400 404 429 500","headers":["X-Request-Id"],"gives":"list of Poll"}`,
		},
		"a view with an ETag": {
			Operation{Method: get, Path: "/polls", Access: AdminLogin, Gives: of[pollRecord](), Tag: view},
			outline{},
			`{"parameters":["etag"],"security":[{"sessionAuth":[]}],"codes":"200 304 400 401 403 429 500 503","headers":["ETag","X-Request-Id"],"gives":"Poll"}`,
		},
		"an edit": {
			Operation{Method: put, Path: "/polls", Access: AdminLogin, Takes: body[struct{}](), Gives: of[pollRecord](), Tag: edition},
			outline{},
			`{"parameters":["if_match","csrf"],"security":[{"csrfAuth":[],"sessionAuth":[]}],"body":"At most 4 MiB. .","required":true,"codes":"200 400 401 403 412 413 415 429 500 503","headers":["ETag","X-Request-Id"],"gives":"Poll"}`,
		},
		"a stored file": {
			Operation{Method: get, Path: "/file", Access: Anyone, Gives: storedFile},
			outline{},
			`{"parameters":["etag","range","if_range"],"security":[{},{"sessionAuth":[]},{"tokenAuth":[]}],"codes":"200 206 304 400 416 429 500 503","headers":["Accept-Ranges","Cache-Control","Content-Disposition","Content-Security-Policy","ETag","X-Request-Id"]}`,
		},
		"an upload": {
			Operation{Method: post, Path: "/upload", Access: AdminOnly, File: 5 << 20, Optional: true, Takes: body[voteBody](), Gives: of[pollRecord]()},
			outline{Answers: map[string]map[string]any{"200": {"description": "Kept."}}},
			`{"parameters":["csrf"],"security":[{"csrfAuth":[],"sessionAuth":[]},{"tokenAuth":[]}],"body":"At most 5 MiB for the file. Vote","required":false,"codes":"200 400 401 403 413 415 429 500 503","headers":["X-Request-Id"],"gives":"Poll"}`,
		},
		"a program": {
			Operation{Method: post, Path: "/git", Access: CodelabMember, Basic: true, Gives: nothing("Ended.")},
			outline{},
			`{"parameters":null,"security":[{"passwordAuth":[]},{"tokenAuth":[]}],"codes":"204 400 401 403 429 500 503"}`,
		},
		"a check request": {
			Operation{Method: post, Path: "/check", Access: CodelabAttendee, Check: true, Gives: done},
			outline{},
			`{"parameters":null,"security":[{"checkAuth":[]}],"codes":"204 400 401 403 429 500 503"}`,
		},
	} {
		d, err := c.op.describe(&c.o)
		if err != nil {
			t.Errorf("describing %s returned %v", name, err)
			continue
		}
		if got := summed(t, d); got != c.want {
			t.Errorf("%s is described as\n%s, want\n%s", name, got, c.want)
		}
	}
	for _, op := range []Operation{{Method: get, Path: "/{unknown}"}, {Method: get, Path: "/", Params: []string{"unknown"}}} {
		if _, err := op.describe(&outline{}); err == nil {
			t.Errorf("%s %v with an unknown parameter was described", op.Path, op.Params)
		}
	}
}

// summed returns the parts of a described operation that a test compares.
func summed(t *testing.T, d map[string]any) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	type reference struct {
		Ref   string `json:"$ref"`
		Items *reference
	}
	type content map[string]struct{ Schema reference }
	var o struct {
		Parameters  []reference
		Security    json.RawMessage
		RequestBody *struct {
			Description string
			Required    bool
			Content     content
		}
		Responses map[string]struct {
			Headers map[string]any
			Content content
		}
	}
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	var sum struct {
		Parameters []string        `json:"parameters"`
		Security   json.RawMessage `json:"security"`
		Body       string          `json:"body,omitempty"`
		Required   *bool           `json:"required,omitempty"`
		Codes      string          `json:"codes"`
		Headers    []string        `json:"headers,omitempty"`
		Gives      string          `json:"gives,omitempty"`
	}
	for _, p := range o.Parameters {
		sum.Parameters = append(sum.Parameters, path.Base(p.Ref))
	}
	sum.Security, sum.Codes = o.Security, strings.Join(slices.Sorted(maps.Keys(o.Responses)), " ")
	if o.RequestBody != nil {
		sum.Body, sum.Required = o.RequestBody.Description+" "+path.Base(o.RequestBody.Content["application/json"].Schema.Ref), &o.RequestBody.Required
	}
	sum.Headers = slices.Sorted(maps.Keys(o.Responses["200"].Headers))
	if s := o.Responses["200"].Content["application/json"].Schema; s.Items != nil {
		sum.Gives = "list of " + path.Base(s.Items.Ref)
	} else if s.Ref != "" {
		sum.Gives = path.Base(s.Ref)
	}
	out, _ := json.Marshal(sum)
	return string(out)
}

// The policies are the same as in the list that defines them.
func TestTokenPoliciesAreDescribed(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas struct{ TokenPolicy struct{ Enum []string } }
		}
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	if got, want := doc.Components.Schemas.TokenPolicy.Enum, token.PolicyNames(nil); !slices.Equal(got, want) {
		t.Errorf("TokenPolicy has the values %v, want %v", got, want)
	}
}
