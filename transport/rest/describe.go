package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// outline is the part of an operation's description that is in a piece, a hand-written file in the
// folder openapi. The rest follows from the table of operations. An outline that has only a
// description can be written as a string.
type outline struct {
	tag         string
	Description string `json:"description"`
	// Body contains bodies other than Operation.Takes, by media type.
	Body map[string]any `json:"body"`
	// Gives is the schema of JSON in a successful response, if no type describes it.
	Gives map[string]any `json:"gives"`
	// Answers lists responses that are described in full.
	Answers map[string]map[string]any `json:"answers"`
	// Security replaces the value from the table.
	Security []any `json:"security"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *outline) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &o.Description)
	}
	type fields outline
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields() // otherwise an unknown field would be lost
	return dec.Decode((*fields)(o))
}

// success describes a successful response. The zero value means that a piece describes the
// response.
type success struct {
	status  int
	summary string
	json    reflect.Type      // nil if there is no JSON
	media   []string          // media types of other content
	headers map[string]string // components, by the names of the headers
}

// of describes a response with status 200 and a JSON value of type T.
func of[T any]() success {
	return success{status: 200, summary: "Success.", json: reflect.TypeFor[T]()}
}

// body returns the type of the JSON in a request body.
func body[T any]() reflect.Type { return reflect.TypeFor[T]() }

func (s success) about(summary string) success {
	s.summary = summary
	return s
}

// made describes the response to a creation, with status 201.
func (s success) made(summary string) success {
	s.status = 201
	return s.about(summary)
}

// withCookies describes a response that also sets the cookies of a session.
func (s success) withCookies(summary string) success {
	s.headers = map[string]string{"Set-Cookie": "Set-Cookie"}
	return s.about(summary)
}

// attachment describes a response that browsers save as a file.
func attachment(summary string, media ...string) success {
	return success{status: 200, summary: summary, media: media, headers: map[string]string{"Content-Disposition": "Content-Disposition"}}
}

// packet describes a response in Git's format.
func packet(summary string, media ...string) success {
	return success{status: 200, summary: summary, media: media}
}

// nothing describes an empty response.
func nothing(summary string) success { return success{status: 204, summary: summary} }

// done is the usual empty response.
var done = nothing("")

// storedFile describes a response with a stored file. A client can request only a part of the file,
// or the file only if it has changed.
var storedFile = success{
	status: 200, summary: "The file.", media: []string{"application/octet-stream", "*/*"},
	headers: map[string]string{
		"ETag": "ETag", "Cache-Control": "Cache-Control-File", "Accept-Ranges": "Accept-Ranges",
		"Content-Disposition": "File-Disposition", "Content-Security-Policy": "Content-Security-Policy",
	},
}

// tag is the kind of the ETag of a response.
type tag uint8

const (
	untagged tag = iota
	// view: the tag changes with everything that the caller can see.
	view
	// edition: the tag also identifies the version of a text for If-Match.
	edition
)

// The components of responses, by status: of most operations, of operations for Git clients, and the
// additional ones of stored files.
var (
	standard = map[int]string{
		204: "NoContent", 304: "NotModified", 400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound",
		409: "Conflict", 412: "Outdated", 413: "TooLarge", 415: "MediaType", 429: "TooMany", 500: "Internal", 503: "Unavailable",
	}
	ofGit = map[int]string{
		400: "GitRefused", 401: "GitUnauthorized", 403: "GitRefused", 404: "GitRefused", 413: "GitRefused", 415: "GitRefused",
		429: "GitLater", 500: "GitRefused", 503: "GitLater",
	}
	ofFile = map[int]string{206: "FilePart", 304: "FileNotModified", 416: "BadRange"}
)

func refTo(kind, name string) map[string]any {
	return map[string]any{"$ref": "#/components/" + kind + "/" + name}
}

// describe returns the operation in OpenAPI form.
func (op *Operation) describe(o *outline) (map[string]any, error) {
	parameters, err := op.parameters()
	if err != nil {
		return nil, err
	}
	d := map[string]any{
		"operationId": op.ID, "tags": []string{o.tag}, "summary": op.Summary, "description": o.Description,
		"security": o.Security, "responses": op.answers(o),
	}
	if o.Security == nil {
		d["security"] = op.security()
	}
	if len(parameters) > 0 {
		d["parameters"] = parameters
	}
	if op.Root {
		d["servers"] = []any{map[string]any{"url": "/", "description": "This server."}}
	}
	if content := op.bodies(o); content != nil {
		limit := "At most " + sizeText(op.body()) + "."
		if op.File > 0 {
			limit = "At most " + sizeText(op.File) + " for the file."
		}
		d["requestBody"] = map[string]any{"required": !op.Optional, "description": limit, "content": content}
	}
	return d, nil
}

// changes reports whether a request with a session cookie needs the CSRF token, so that pages of
// other origins cannot call the operation.
func (op *Operation) changes() bool {
	return op.Method != get && !op.Basic && !op.Check
}

// parameters returns the path's parameters in order, the parameters listed in the table, those that
// the response implies, and the CSRF token.
func (op *Operation) parameters() (all []any, err error) {
	for part := range strings.SplitSeq(op.Path, "/") {
		if name, isParameter := strings.CutPrefix(part, "{"); isParameter {
			component := pathParameter(strings.TrimSuffix(name, "}"), op.Params)
			if component == "" {
				return nil, fmt.Errorf("%s %s: no path parameter has the name %s", op.Method, op.Path, part)
			}
			all = append(all, refTo("parameters", component))
		}
	}
	names := slices.Clone(op.Params)
	switch {
	case op.Gives.of(storedFile):
		names = append(names, "etag", "range", "if_range")
	case op.Tag != untagged && op.Method == get:
		names = append(names, "etag")
	case op.Tag == edition:
		names = append(names, "if_match")
	}
	if op.changes() {
		names = append(names, "csrf")
	}
	for _, name := range names {
		p, known := parameters[name]
		if !known {
			return nil, fmt.Errorf("%s %s: no parameter has the name %s", op.Method, op.Path, name)
		}
		if p.In != "path" {
			all = append(all, refTo("parameters", name))
		}
	}
	return all, nil
}

// security returns the alternative ways to authenticate.
func (op *Operation) security() []any {
	none, token := map[string]any{}, map[string]any{"tokenAuth": []any{}}
	session := map[string]any{"sessionAuth": []any{}}
	if op.changes() {
		session["csrfAuth"] = []any{}
	}
	switch {
	case op.Basic:
		return []any{map[string]any{"passwordAuth": []any{}}, token}
	case op.Check:
		return []any{map[string]any{"checkAuth": []any{}}}
	}
	switch op.Access {
	case Anyone, Registrant, CodelabReader:
		return []any{none, session, token}
	case AdminLogin, OwnerOnly, Leader, CodelabAttendee:
		return []any{session}
	}
	return []any{session, token}
}

// bodies returns the content of the operation's body by media type.
func (op *Operation) bodies(o *outline) map[string]any {
	switch {
	case op.Takes == nil:
		return o.Body
	case op.Takes == reflect.TypeFor[struct{}]():
		return jsonContent(map[string]any{"type": "object", "additionalProperties": false})
	}
	return jsonContent(refTo("schemas", bodyOf[op.Takes]))
}

func jsonContent(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// sizeText formats a number of bytes in human-readable form.
func sizeText(n int) string {
	for _, unit := range []struct {
		name  string
		bytes int
	}{{"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d %s", n/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// answers returns the operation's responses by status code.
func (op *Operation) answers(o *outline) map[string]any {
	all := map[string]any{}
	for status, component := range op.components(o) {
		all[strconv.Itoa(status)] = refTo("responses", component)
	}
	headers := map[string]any{"X-Request-Id": refTo("headers", "X-Request-Id")}
	if op.Seq {
		headers["X-Codelab-Seq"] = refTo("headers", "X-Codelab-Seq")
	}
	usual := map[string]any{"description": "Success.", "headers": headers}
	if o.Gives != nil {
		all["200"] = merged(usual, map[string]any{"headers": op.headers(headers), "content": jsonContent(o.Gives)})
	}
	if status := op.Gives.status; status != 0 && all[strconv.Itoa(status)] == nil {
		written := map[string]any{"description": op.Gives.summary, "headers": op.headers(headers)}
		if content := op.Gives.content(); len(content) > 0 {
			written["content"] = content
		}
		all[strconv.Itoa(status)] = written
	}
	for code, written := range o.Answers {
		if _, isRef := written["$ref"]; !isRef {
			before, _ := all[code].(map[string]any)
			own, _ := written["headers"].(map[string]any)
			written = merged(usual, before, written, map[string]any{"headers": merged(headers, own)})
		}
		all[code] = written
	}
	return all
}

// components returns the components that describe responses, by status.
func (op *Operation) components(o *outline) map[int]string {
	statuses := slices.Concat([]int{400, 429, 500, 503}, op.Also)
	if op.Access != Anyone && op.Access != Registrant && op.Access != CodelabReader {
		statuses = append(statuses, 401, 403)
	}
	if strings.Contains(op.Path, "{") {
		statuses = append(statuses, 404)
	}
	if op.Method != get && op.bodies(o) != nil {
		statuses = append(statuses, 413, 415)
	}
	if op.Gives.of(done) {
		statuses = append(statuses, 204)
	}
	switch {
	case op.Tag != untagged && op.Method == get:
		statuses = append(statuses, 304)
	case op.Tag == edition:
		statuses = append(statuses, 412)
	}
	all := map[int]string{}
	for _, status := range statuses {
		switch {
		case slices.Contains(op.Never, status):
		case op.Basic:
			all[status] = ofGit[status]
		default:
			all[status] = standard[status]
		}
	}
	if op.Gives.of(storedFile) {
		maps.Copy(all, ofFile)
	}
	return all
}

// headers returns the headers of the successful response.
func (op *Operation) headers(usual map[string]any) map[string]any {
	all := maps.Clone(usual)
	for name, component := range op.Gives.headers {
		all[name] = refTo("headers", component)
	}
	switch op.Tag {
	case view:
		all["ETag"] = refTo("headers", "ETag")
	case edition:
		all["ETag"] = refTo("headers", "Edition")
	}
	return all
}

// of reports whether the response is the given one, which many operations share.
func (s success) of(shared success) bool { return reflect.DeepEqual(s, shared) }

// content returns the content of the response by media type.
func (s success) content() map[string]any {
	all := map[string]any{}
	if s.json != nil {
		all = jsonContent(schemaOf(s.json))
	}
	for _, media := range s.media {
		schema := map[string]any{"type": "string", "format": "binary"}
		if strings.HasPrefix(media, "text/") {
			delete(schema, "format")
		}
		all[media] = map[string]any{"schema": schema}
	}
	return all
}

// schemaOf returns the schema of a component's type, of a string, or of a list of these.
func schemaOf(t reflect.Type) map[string]any {
	switch {
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	}
	return refTo("schemas", componentOf[t])
}

// merged merges all objects. Members of later objects take precedence.
func merged(objects ...map[string]any) map[string]any {
	whole := map[string]any{}
	for _, o := range objects {
		maps.Copy(whole, o)
	}
	return whole
}
