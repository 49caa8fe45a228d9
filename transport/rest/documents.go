package rest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// pieces are the hand-written parts of the OpenAPI document, one per resource. They complete the
// table of operations (outline). A component is in its resource's piece, or in shared.json if it
// belongs to no resource. head.json is the document's beginning.
//
//go:embed openapi/*.json
var pieces embed.FS

// description is an OpenAPI document or a piece of one.
type description struct {
	// Tag is the tag of all operations of a piece. Operations contains the operations of the table,
	// by their ids.
	Tag        string                                `json:"tag,omitempty"`
	Operations map[string]*outline                   `json:"operations,omitempty"`
	OpenAPI    json.RawMessage                       `json:"openapi"`
	Info       json.RawMessage                       `json:"info"`
	Servers    json.RawMessage                       `json:"servers"`
	Tags       json.RawMessage                       `json:"tags"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"` // by method
	Webhooks   map[string]json.RawMessage            `json:"webhooks"`
	Components struct {
		SecuritySchemes map[string]json.RawMessage `json:"securitySchemes"`
		Parameters      map[string]json.RawMessage `json:"parameters"`
		Headers         map[string]json.RawMessage `json:"headers"`
		Responses       map[string]json.RawMessage `json:"responses"`
		Schemas         map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

// read adds a piece.
func (d *description) read(piece []byte) error {
	dec := json.NewDecoder(bytes.NewReader(piece))
	dec.DisallowUnknownFields() // otherwise an unknown field would be lost
	if err := dec.Decode(d); err != nil {
		return err
	}
	for _, o := range d.Operations {
		if o.tag == "" {
			o.tag = d.Tag
		}
	}
	return nil
}

// readPieces reads all pieces.
func readPieces() (whole description, err error) {
	err = fs.WalkDir(pieces, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := pieces.ReadFile(path)
		if err == nil {
			err = whole.read(b)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return whole, err
	}
	whole.Components.Parameters = map[string]json.RawMessage{}
	for name, p := range parameters {
		if whole.Components.Parameters[name], err = encoded(p); err != nil {
			return whole, err
		}
	}
	return whole, nil
}

// join builds the document from the pieces. Its bytes are the same at each start, because map
// members are sorted by name.
func join() ([]byte, error) {
	whole, err := readPieces()
	if err == nil {
		err = whole.complete(operations, &whole)
	}
	if err != nil {
		return nil, err
	}
	return encoded(whole)
}

// complete describes the operations of the table, and adds the members of Go types to components
// and webhook deliveries. whole contains the components of all pieces. The pieces describe in full
// the operations that are not in the table.
func (d *description) complete(table []Operation, whole *description) error {
	words, err := vocabulary(whole.Components.Schemas), error(nil)
	for name, piece := range d.Components.Schemas {
		if d.Components.Schemas[name], err = words.withMembers(name, piece); err != nil {
			return err
		}
	}
	if err := d.describeWebhooks(words); err != nil {
		return err
	}
	for i := range table {
		op := &table[i]
		text, described := d.Operations[op.ID]
		if !described {
			continue // a test reports operations without a description
		}
		whole, err := op.describe(text)
		if err != nil {
			return err
		}
		if d.Paths == nil {
			d.Paths = map[string]map[string]json.RawMessage{}
		}
		if d.Paths[op.Path] == nil {
			d.Paths[op.Path] = map[string]json.RawMessage{}
		}
		if d.Paths[op.Path][strings.ToLower(op.Method)], err = encoded(whole); err != nil {
			return err
		}
	}
	d.Tag, d.Operations = "", nil
	return nil
}

func encoded(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}

// openAPIDocument is set by init to avoid an initialization cycle: the document is built from the
// table of operations, one of which serves it.
var openAPIDocument func() []byte

func init() {
	openAPIDocument = sync.OnceValue(func() []byte {
		b, err := join()
		if err != nil { // cannot happen, because the pieces are part of the program and a test joins them
			panic("join the OpenAPI document: " + err.Error())
		}
		return b
	})
}

// OpenAPI returns the OpenAPI document.
func OpenAPI() []byte { return openAPIDocument() }

// servers matches server addresses in the document that are relative to this server's address.
var servers = regexp.MustCompile(`("servers":\[\{[^\]]*"url":")/`)

// openAPI sends the document, with the path at which browsers reach the server in its server
// addresses.
func openAPI(r *Request) error {
	at := r.prefix()
	if at == "" {
		return r.Document(OpenAPI())
	}
	return r.Document(servers.ReplaceAll(OpenAPI(), []byte("${1}"+at.At("/"))))
}

// unversioned is the version in the repository's documents.
var unversioned = []byte(`"version":"1.0.0"`)

// Document sends a description of the API, with the program's version. The description changes only
// with the program, so clients can cache it for five minutes.
func (r *Request) Document(b []byte) error {
	if v := r.api.App.Version; v != "" {
		b = bytes.Replace(b, unversioned, fmt.Appendf(nil, `"version":%q`, v), 1)
	}
	r.Response.Header.Set("Cache-Control", "public, max-age=300")
	return r.Answer(b)
}
