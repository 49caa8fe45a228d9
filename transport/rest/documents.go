package rest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"
)

// pieces are the OpenAPI document by resource, so that an operation is described
// in a file that can be read. A component stands in the piece of its resource, or
// in shared.json when it belongs to none; head.json introduces the whole.
//
//go:embed openapi/*.json
var pieces embed.FS

// description is an OpenAPI document or a piece of one.
type description struct {
	OpenAPI    json.RawMessage            `json:"openapi"`
	Info       json.RawMessage            `json:"info"`
	Servers    json.RawMessage            `json:"servers"`
	Tags       json.RawMessage            `json:"tags"`
	Paths      map[string]json.RawMessage `json:"paths"`
	Webhooks   map[string]json.RawMessage `json:"webhooks"`
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
	dec.DisallowUnknownFields() // or it would be lost
	return dec.Decode(d)
}

// join makes the whole of the pieces. Its bytes are the same at each start:
// members of maps are in the order of their names.
func join() ([]byte, error) {
	var whole description
	err := fs.WalkDir(pieces, ".", func(path string, d fs.DirEntry, err error) error {
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
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(whole)
	return out.Bytes(), err
}

var openAPIDocument = sync.OnceValue(func() []byte {
	b, err := join()
	if err != nil { // the pieces are ours
		panic("join the OpenAPI document: " + err.Error())
	}
	return b
})

// OpenAPI returns the OpenAPI document.
func OpenAPI() []byte { return openAPIDocument() }

func openAPI(r *Request) error { return r.Document(OpenAPI()) }

// Document answers a description of the interface, which changes only with the
// program.
func (r *Request) Document(b []byte) error {
	r.Response.Header.Set("Cache-Control", "public, max-age=300")
	return r.Answer(b)
}
