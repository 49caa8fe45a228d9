package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// outline is an operation's description in a piece. It omits the data that the table of operations
// contains or implies: the path's parameters, access, the body limit, and the responses common to
// such operations.
type outline struct {
	ID          string   `json:"operationId"`
	Tags        []string `json:"tags"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	// Parameters lists the parameters outside the path, each as a component name or a full
	// parameter.
	Parameters []any `json:"parameters"`
	// Takes is the schema of a JSON body. Body is the description of any other body. With Optional,
	// the body can be omitted.
	Takes    string         `json:"takes"`
	Body     map[string]any `json:"body"`
	Optional bool           `json:"optional"`
	// Gives is the schema of the JSON in a successful response; a list that contains a schema means
	// an array. Seq means that the response has X-Codelab-Seq.
	Gives any  `json:"gives"`
	Seq   bool `json:"seq"`
	// Also lists additional status codes. Never lists codes that such operations usually return,
	// but this one does not. Answers lists responses that are described in full.
	Also    []string                  `json:"also"`
	Never   []string                  `json:"never"`
	Answers map[string]map[string]any `json:"answers"`
	// Security and Servers replace the values from the table.
	Security []any `json:"security"`
	Servers  []any `json:"servers"`
}

// standard contains the components of responses that have the same meaning everywhere.
var standard = map[string]string{
	"204": "NoContent", "304": "NotModified", "400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "409": "Conflict",
	"412": "Outdated", "413": "TooLarge", "415": "MediaType", "429": "TooMany", "500": "Internal", "503": "Unavailable",
}

func refTo(kind, name string) map[string]any {
	return map[string]any{"$ref": "#/components/" + kind + "/" + name}
}

// describe returns the operation in OpenAPI form.
func (op *Operation) describe(o *outline, known pathParameters) (map[string]any, error) {
	names, err := op.parameters(o, known)
	if err != nil {
		return nil, err
	}
	d := map[string]any{
		"operationId": o.ID, "tags": o.Tags, "summary": o.Summary, "description": o.Description,
		"security": o.Security, "responses": op.answers(o),
	}
	if o.Security == nil {
		d["security"] = op.security()
	}
	if len(names) > 0 {
		d["parameters"] = names
	}
	if o.Servers != nil {
		d["servers"] = o.Servers
	}
	if body := op.takes(o); body != nil {
		d["requestBody"] = body
	}
	return d, nil
}

// changes reports whether pages of other origins must not call the operation.
func (op *Operation) changes() bool {
	return op.Method != get && !op.Basic && !op.Check
}

// parameters returns the path's parameters in order, those of the outline, and the CSRF token.
func (op *Operation) parameters(o *outline, known pathParameters) (all []any, err error) {
	for part := range strings.SplitSeq(op.Path, "/") {
		name, isParameter := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		if !isParameter || slices.ContainsFunc(o.Parameters, func(p any) bool { return known.isOf(p, name) }) {
			continue
		}
		component := known.component[name]
		if component == "" {
			return nil, fmt.Errorf("%s %s: no parameter of a path is {%s}", op.Method, op.Path, name)
		}
		all = append(all, refTo("parameters", component))
	}
	for _, p := range o.Parameters {
		if name, isName := p.(string); isName {
			p = refTo("parameters", name)
		}
		all = append(all, p)
	}
	if op.changes() {
		all = append(all, refTo("parameters", "csrf"))
	}
	return all, nil
}

// pathParameters contains the components for path parameters.
type pathParameters struct {
	component map[string]string // by the name in the path; {id} is a codelab's id
	name      map[string]string // by the component
}

func pathParametersOf(components map[string]json.RawMessage) (pathParameters, error) {
	known := pathParameters{map[string]string{}, map[string]string{}}
	for component, text := range components {
		var p struct{ Name, In string }
		if err := json.Unmarshal(text, &p); err != nil {
			return known, fmt.Errorf("parameter %s: %w", component, err)
		}
		if p.In == "path" {
			known.component[p.Name], known.name[component] = component, p.Name
		}
	}
	known.component["id"] = "codelab_id"
	return known, nil
}

// isOf reports whether an outline's parameter, given by name or in full, belongs to a path.
func (k pathParameters) isOf(p any, name string) bool {
	switch p := p.(type) {
	case string:
		return k.name[p] == name
	case map[string]any:
		return p["in"] == "path" && p["name"] == name
	}
	return false
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

// takes returns the description of the operation's body.
func (op *Operation) takes(o *outline) map[string]any {
	content := o.Body
	if o.Takes != "" {
		content = map[string]any{"application/json": map[string]any{"schema": refTo("schemas", o.Takes)}}
	}
	if content == nil {
		return nil
	}
	limit := "At most " + sizeText(op.body()) + "."
	if op.File > 0 {
		limit = "At most " + sizeText(op.File) + " for the file."
	}
	return map[string]any{"required": !o.Optional, "description": limit, "content": content}
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
	codes := []string{"400", "429", "500", "503"}
	if op.Access != Anyone && op.Access != Registrant && op.Access != CodelabReader {
		codes = append(codes, "401", "403")
	}
	if strings.Contains(op.Path, "{") {
		codes = append(codes, "404")
	}
	if op.Method != get && (o.Takes != "" || o.Body != nil) {
		codes = append(codes, "413", "415")
	}
	all := map[string]any{}
	for _, code := range slices.Concat(codes, o.Also) {
		if !slices.Contains(o.Never, code) {
			all[code] = refTo("responses", standard[code])
		}
	}
	headers := map[string]any{"X-Request-Id": refTo("headers", "X-Request-Id")}
	if o.Seq {
		headers["X-Codelab-Seq"] = refTo("headers", "X-Codelab-Seq")
	}
	success := map[string]any{"description": "Success.", "headers": headers}
	if o.Gives != nil {
		success["content"] = map[string]any{"application/json": map[string]any{"schema": schemaOf(o.Gives)}}
		all["200"] = success
	}
	for code, written := range o.Answers {
		if _, isRef := written["$ref"]; !isRef {
			own, _ := written["headers"].(map[string]any)
			written = merged(success, written, map[string]any{"headers": merged(headers, own)})
		}
		all[code] = written
	}
	return all
}

// schemaOf returns a schema given by its name, by its name in a list, or in full.
func schemaOf(gives any) any {
	switch g := gives.(type) {
	case string:
		return refTo("schemas", g)
	case []any:
		return map[string]any{"type": "array", "items": schemaOf(g[0])}
	}
	return gives
}

// merged merges all objects; later ones take precedence.
func merged(objects ...map[string]any) map[string]any {
	whole := map[string]any{}
	for _, o := range objects {
		maps.Copy(whole, o)
	}
	return whole
}
