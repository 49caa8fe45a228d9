package rest

import _ "embed"

// The machine-readable descriptions of the interface.
//
//go:embed openapi.json
var openAPIDocument []byte

//go:embed asyncapi.json
var asyncAPIDocument []byte

// OpenAPI returns the OpenAPI document.
func OpenAPI() []byte { return openAPIDocument }

// AsyncAPI returns the AsyncAPI document.
func AsyncAPI() []byte { return asyncAPIDocument }

func openAPI(r *Request) error  { return r.document(openAPIDocument) }
func asyncAPI(r *Request) error { return r.document(asyncAPIDocument) }

func (r *Request) document(b []byte) error {
	r.Response.Header.Set("Cache-Control", "public, max-age=300")
	return r.Answer(b)
}
