package acceptance

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/transport/ai"
	"atelier/transport/messages"
	"atelier/transport/rest"
)

// document is a description of the interface, with its compiled schemas. It is safe for concurrent
// use.
type document struct {
	name string
	root map[string]any

	mu       sync.Mutex // guards the compiler and compiled
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

var openAPI, asyncAPI = load("openapi.json", rest.OpenAPI()), load("asyncapi.json", messages.AsyncAPI())

func load(name string, text []byte) *document {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(name + ": " + err.Error())
	}
	d := &document{name: name, root: v.(map[string]any), compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource("mem:///"+name, v); err != nil {
		panic(err)
	}
	return d
}

// pointer is a position in a document.
type pointer []string

func (p pointer) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return b.String()
}

func (p pointer) to(more ...string) pointer { return append(slices.Clone(p), more...) }

// at follows a pointer and every reference in its path. It returns the value and the position of
// its definition, which differs from p after a reference.
func (d *document) at(p pointer) (any, pointer) {
	var v any = d.root
	var here pointer
	for _, key := range p {
		switch node := v.(type) {
		case map[string]any:
			v = node[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(node) {
				return nil, here
			}
			v = node[i]
		default:
			return nil, here
		}
		here = here.to(key)
		if m, ok := v.(map[string]any); ok {
			if ref, ok := m["$ref"].(string); ok {
				v, here = d.at(fromRef(ref))
			}
		}
	}
	return v, here
}

func fromRef(ref string) pointer {
	path := strings.TrimPrefix(ref, "#/")
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])
	}
	return parts
}

// schema compiles the schema at a position.
func (d *document) schema(p pointer) (*jsonschema.Schema, error) {
	at := (&url.URL{Scheme: "mem", Path: "/" + d.name, Fragment: p.String()}).String()
	at = strings.Replace(at, "mem:/"+d.name, "mem:///"+d.name, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.compiled[at]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(at)
	if err == nil {
		d.compiled[at] = s
	}
	return s, err
}

// validate validates JSON text against the schema at a position.
func (d *document) validate(p pointer, text []byte) error {
	s, err := d.schema(p)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("invalid JSON: %w: %.200q", err, text)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%w\n%.2000s", err, text)
	}
	return nil
}

// operationOf finds the operation of a request. It returns the path template in the form of the
// routing table.
func operationOf(method, path string) (template string, ok bool) {
	best := -1
	for _, op := range offered() {
		if op.Method != method {
			continue
		}
		if literal, fits := matches(op.Path, path); fits && literal > best {
			template, best, ok = op.Path, literal, true
		}
	}
	return template, ok
}

// matches reports whether a template matches the path, and counts its literal parts.
func matches(template, path string) (literal int, ok bool) {
	a, b := strings.Split(template, "/"), strings.Split(path, "/")
	if len(a) != len(b) {
		return 0, false
	}
	for i := range a {
		switch {
		case strings.HasPrefix(a[i], "{"):
			if b[i] == "" {
				return 0, false
			}
		case a[i] != b[i]:
			return 0, false
		default:
			literal++
		}
	}
	return literal, true
}

// mustDocument contains the headers that must be documented wherever the server sends them.
var mustDocument = []string{"X-Request-Id", "X-Codelab-Seq", "Etag", "Retry-After", "Set-Cookie", "Content-Disposition", "Content-Range"}

// verifyAnswer verifies a response against its description in openapi.json.
func verifyAnswer(method, path string, status int, h http.Header, body []byte) error {
	template, ok := operationOf(method, path)
	if !ok {
		return fmt.Errorf("%s %s is not an operation", method, path)
	}
	return openAPI.verifyAnswer(method, template, status, h, body)
}

// verifyAnswer verifies a response against the description of its operation.
func (d *document) verifyAnswer(method, template string, status int, h http.Header, body []byte) error {
	v, at := d.at(pointer{"paths", template, strings.ToLower(method), "responses", strconv.Itoa(status)})
	response, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s %s: status %d is not documented: %.300s", method, template, status, body)
	}
	if err := d.verifyHeaders(response, at, h); err != nil {
		return fmt.Errorf("%s %s %d: %w", method, template, status, err)
	}
	if err := d.verifyBody(response, at, h.Get("Content-Type"), body); err != nil {
		return fmt.Errorf("%s %s %d: %w", method, template, status, err)
	}
	return nil
}

func (d *document) verifyHeaders(response map[string]any, at pointer, h http.Header) error {
	documented, _ := response["headers"].(map[string]any)
	known := map[string]bool{}
	for name := range documented {
		v, here := d.at(at.to("headers", name))
		header, _ := v.(map[string]any)
		known[http.CanonicalHeaderKey(name)] = true
		values := h.Values(name)
		if header["required"] == true && len(values) == 0 {
			return fmt.Errorf("the header %s is missing", name)
		}
		for _, value := range values {
			text := strconv.Quote(value)
			if schema, _ := header["schema"].(map[string]any); schema["type"] == "integer" {
				text = value
			}
			if err := d.validate(here.to("schema"), []byte(text)); err != nil {
				return fmt.Errorf("the header %s: %w", name, err)
			}
		}
	}
	for _, name := range mustDocument {
		if len(h.Values(name)) > 0 && !known[name] {
			return fmt.Errorf("the header %s is not documented", name)
		}
	}
	return nil
}

func (d *document) verifyBody(response map[string]any, at pointer, contentType string, body []byte) error {
	content, _ := response["content"].(map[string]any)
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("the response has a body that is not documented: %.200q", body)
		}
		return nil
	}
	if content["*/*"] != nil && contentType != "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || content[media] == nil {
		return fmt.Errorf("the content type %q is not documented", contentType)
	}
	if media != "application/json" {
		return nil
	}
	return d.validate(at.to("content", media, "schema"), body)
}

// verifyRequest verifies that the document allows a body that the server accepted.
func verifyRequest(method, path string, body []byte) error {
	template, _ := operationOf(method, path)
	v, at := openAPI.at(pointer{"paths", template, strings.ToLower(method), "requestBody", "content", "application/json"})
	if v == nil || len(body) == 0 {
		return nil
	}
	return openAPI.validate(at.to("schema"), body)
}

// verifyMessage verifies a server message against the schema of its type in asyncapi.json.
func verifyMessage(text []byte) error {
	var m message
	if err := m.decode(text); err != nil {
		return err
	}
	documented, _ := asyncAPI.at(pointer{"channels", "events", "messages"})
	for name := range documented.(map[string]any) {
		v, _ := asyncAPI.at(pointer{"channels", "events", "messages", name})
		if v.(map[string]any)["name"] == m.kind() {
			_, at := asyncAPI.at(pointer{"channels", "events", "messages", name, "payload"})
			return asyncAPI.validate(at, text)
		}
	}
	return fmt.Errorf("messages of type %q are not documented: %.300s", m.kind(), text)
}

// offered returns all documented operations: those below /api, the uploads, and Git.
func offered() []rest.Operation {
	return slices.Concat(rest.Operations(), (&messages.Gateway{}).Operations(), (&ai.Service{}).Operations())
}
