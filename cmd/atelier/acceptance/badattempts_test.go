package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"atelier/transport/auth"
)

// attempts returns all ways to call an operation wrongly.
func (w *badWorld) attempts(p probe) []attempt {
	method, template, _ := strings.Cut(p.op, " ")
	var good any
	if p.body != nil {
		good = p.body(w)
	}
	base := attempt{by: w.right(p), method: method, path: w.path(p, nil), body: good}
	sent, isForm := good.(form)
	if isForm {
		base.body, base.opts = sent.encode()
	}
	var out []attempt
	add := func(what string, status int, change func(*attempt)) {
		a := base
		a.what, a.status = what, status
		change(&a)
		out = append(out, a)
	}
	add("wrong method", http.StatusMethodNotAllowed, func(a *attempt) { a.method, a.stray = http.MethodPatch, true })
	add("unknown path", http.StatusNotFound, func(a *attempt) { a.path, a.stray = a.path+"/no/such/thing/at/all", true })
	w.wrongCallers(p, add)
	w.wrongIDs(p, template, add)
	wrongQueries(method, template, base, add)
	switch {
	case isForm:
		wrongForms(sent, add)
	case good != nil:
		wrongBodies(p, base, template, add)
	}
	return out
}

type adder func(what string, status int, change func(*attempt))

func (w *badWorld) wrongCallers(p probe, add adder) {
	if p.by != byAnyone {
		add("no session", http.StatusUnauthorized, func(a *attempt) { a.by = w.nobody })
		add("unknown token", http.StatusUnauthorized, func(a *attempt) { a.opts = []option{header("Authorization", "Bearer atl_no")} })
	}
	if strings.Contains(p.op, "{id}") && p.by != byAnyone {
		add("attendee of another codelab", http.StatusForbidden, func(a *attempt) { a.by = w.foreign.browser })
	}
	switch p.by {
	case byAdmin:
		add("an attendee", http.StatusForbidden, func(a *attempt) { a.by = w.own.browser })
	case byAttendee:
		// Admins can send more message types, and can offer help.
		if !strings.HasSuffix(p.op, "/messages") && !strings.HasSuffix(p.op, "/help") {
			add("an admin", http.StatusForbidden, func(a *attempt) { a.by = w.c.admin })
		}
	}
	if p.by == byChecker {
		add("an attendee", http.StatusUnauthorized, func(a *attempt) { a.by = w.own.browser })
		add("an admin", http.StatusUnauthorized, func(a *attempt) { a.by = w.c.admin })
		return // without a cookie, no request can be forged
	}
	if !strings.HasPrefix(p.op, "GET ") {
		member := w.right(p)
		if member == w.nobody {
			member = w.foreign.browser
		}
		for what, token := range map[string]string{"missing": "", "wrong": "x", "another session's": w.foreign.cookie(auth.CSRFCookie) + w.c.admin.cookie(auth.CSRFCookie)} {
			if what == "another session's" {
				if token = w.foreign.cookie(auth.CSRFCookie); member == w.foreign.browser {
					token = w.own.cookie(auth.CSRFCookie)
				}
			}
			add(what+" CSRF token", http.StatusForbidden, func(a *attempt) {
				a.by, a.opts, a.names = member, []option{header(auth.CSRFHeader, token)}, auth.CSRFHeader
			})
		}
	}
}

const unknownID = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c01"

func (w *badWorld) wrongIDs(p probe, template string, add adder) {
	for name := range w.ids {
		if !strings.Contains(template, "{"+name+"}") {
			continue
		}
		want := http.StatusNotFound
		if name == "id" && p.by == byAttendee || name == "attendee_id" && p.own {
			want = http.StatusForbidden // the role is checked first
		}
		for _, id := range []string{unknownID, "x", "%00", "%2e%2e", strings.Repeat("9", 2000)} {
			want := want
			if (name == "branch" || name == "folder") && id != "x" && id != unknownID {
				want = http.StatusBadRequest // the name is missing
			}
			add("unknown "+name, want, func(a *attempt) { a.path = w.path(p, map[string]string{name: id}) + p.query })
		}
		if other := w.others[name]; name != "id" && other != "" && !strings.HasPrefix(template, "/certificates") {
			add("another codelab's "+name, want, func(a *attempt) { a.path = w.path(p, map[string]string{name: other}) + p.query })
		}
	}
}

// wrongQueries adds query parameters with invalid values.
func wrongQueries(method, template string, base attempt, add adder) {
	v, at := openAPI.at(pointer{"paths", template, strings.ToLower(method), "parameters"})
	parameters, _ := v.([]any)
	for i := range parameters {
		v, _ := openAPI.at(at.to(fmt.Sprint(i)))
		p := record(v.(map[string]any))
		schema, _ := p["schema"].(map[string]any)
		var bad []string
		switch {
		case p.text("in") != "query":
		case schema["type"] == "integer":
			bad = []string{"x", "1.5", "", "-1", "99999999999999999999"}
			if least, ok := schema["minimum"].(json.Number); ok && least != "0" {
				bad = append(bad, "0")
			}
			if _, ok := schema["maximum"]; ok {
				bad = append(bad, "1001")
			}
			if p.text("name") == "since" {
				bad = slices.DeleteFunc(bad, func(s string) bool { return s == "" })
			}
		case p.text("name") == "target_type":
			bad = []string{"chapter"}
		case p.text("name") == "file":
			bad = []string{"", "%00", "/etc/passwd", "../x", "a/../b", "a%5cb", ".git/config", ".GIT/config", strings.Repeat("a/", 600)}
		case p.text("name") == "before":
			bad = []string{"x", unknownID}
		}
		for _, value := range bad {
			add("query", http.StatusBadRequest, func(a *attempt) { a.path, a.names = base.path+"?"+p.text("name")+"="+value, p.text("name") })
		}
	}
}

func wrongBodies(p probe, base attempt, template string, add adder) {
	bad := func(what, field string, body any) {
		add(what, http.StatusBadRequest, func(a *attempt) { a.body, a.names = body, field })
	}
	good, _ := json.Marshal(base.body)
	for _, text := range []string{"{", `{"a":}`, string(good) + " x", string(good[:len(good)-1]), "\x00", `'x'`, `{"\ud800":1`} {
		bad("malformed", "JSON", text)
	}
	bad("invalid UTF-8", "UTF-8", []byte("{\"x\":\"\xff\"}"))
	bad("invalid UTF-8 in a key", "UTF-8", []byte("{\"\xc3\":1}"))
	if !p.optional {
		bad("no body", "body", "")
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"} {
		if p.by == byChecker && strings.HasSuffix(kind, "urlencoded") {
			continue // the operation also accepts a form
		}
		add(kind, http.StatusUnsupportedMediaType, func(a *attempt) { a.opts = []option{header("Content-Type", kind)} })
	}
	limit := 4 << 20
	if strings.HasSuffix(template, "/steps") || strings.HasPrefix(template, "/codeserver") && !strings.HasSuffix(template, "/branch") {
		limit = 32 << 20
	}
	add("too large", http.StatusRequestEntityTooLarge, func(a *attempt) {
		a.body = append(bytes.Repeat([]byte(" "), limit-len(good)+1), good...)
	})
	schema := pointer{"paths", template, strings.ToLower(base.method), "requestBody", "content", "application/json", "schema"}
	mutate(schema, decoded(good), "", func(v any) any { return v }, func(what, field string, body any) {
		if field != p.ignored || field == "" {
			bad(what, field, body)
		}
	})
}

func decoded(text []byte) any {
	var v any
	_ = json.Unmarshal(text, &v)
	return v
}

// mutate changes a valid body in every way that its schema forbids. put returns the whole body with
// another value at the position of good.
func mutate(at pointer, good any, field string, put func(any) any, emit func(what, field string, body any)) {
	v, at := openAPI.at(at)
	schema := record(v.(map[string]any))
	kinds := typesOf(schema)
	for kind, wrong := range map[string]any{"string": "x", "integer": 7, "boolean": true, "array": []any{}, "object": record{}} {
		if !slices.Contains(kinds, any(kind)) {
			emit("wrong type", field, put(wrong))
		}
	}
	switch kinds[0] {
	case "string":
		brokenText(schema, good, field, put, emit)
	case "integer":
		emit("not an integer", field, put(1.5))
		emit("too large", field, put(1<<40))
		if least, ok := schema["minimum"].(json.Number); ok && good != nil {
			n, _ := least.Int64()
			emit("too small", field, put(n-1))
		}
		if most, ok := schema["maximum"].(json.Number); ok && good != nil {
			n, _ := most.Int64()
			emit("too large", field, put(n+1))
		}
	case "array":
		brokenArray(schema, at, good, field, put, emit)
	case "object":
		fields, ok := good.(map[string]any)
		if !ok || schema["properties"] == nil {
			return
		}
		if schema["minProperties"] != nil {
			emit("empty", "", put(record{}))
		}
		required, _ := schema["required"].([]any)
		for name := range schema["properties"].(map[string]any) {
			with := func(v any) any {
				m := maps.Clone(fields)
				m[name] = v
				return put(m)
			}
			if slices.Contains(required, any(name)) {
				m := maps.Clone(fields)
				delete(m, name)
				emit("missing", name, put(m))
				if v, _ := openAPI.at(at.to("properties", name)); !nullable(v) {
					emit("null", name, with(nil))
				}
			}
			mutate(at.to("properties", name), fields[name], name, with, emit)
		}
	}
}

// typesOf returns the types that a schema accepts. An integer is also a number.
func typesOf(schema record) (types []any) {
	switch t := schema["type"].(type) {
	case []any:
		types = slices.Clone(t)
	case string:
		types = []any{t}
	}
	alternatives, _ := schema["oneOf"].([]any)
	for _, s := range alternatives {
		types = append(types, typesOf(s.(map[string]any))...)
	}
	if slices.Contains(types, any("number")) {
		types = append(types, "integer")
	}
	return types
}

// nullable reports whether a schema accepts null.
func nullable(schema any) bool {
	return slices.Contains(typesOf(schema.(map[string]any)), any("null"))
}

func brokenText(schema record, good any, field string, put func(any) any, emit func(what, field string, body any)) {
	if good == nil {
		return // the schema has bounds of a field that this kind of body does not contain
	}
	if most, ok := schema["maxLength"].(json.Number); ok {
		n, _ := most.Int64()
		emit("too long", field, put(strings.Repeat("ä", int(n)+1)))
	}
	if _, ok := schema["minLength"]; ok {
		emit("empty", field, put(""))
	}
	if schema["enum"] != nil {
		emit("none of the choices", field, put("no such"))
	}
}

func brokenArray(schema record, at pointer, good any, field string, put func(any) any, emit func(what, field string, body any)) {
	items, _ := good.([]any)
	if len(items) == 0 {
		return
	}
	if schema["minItems"] != nil {
		emit("no items", field, put([]any{}))
	}
	if most, ok := schema["maxItems"].(json.Number); ok {
		n, _ := most.Int64()
		emit("too many items", field, put(slices.Repeat(items[:1], int(n)+1)))
	}
	mutate(at.to("items"), items[0], field, func(v any) any {
		changed := slices.Clone(items)
		changed[0] = v
		return put(changed)
	}, emit)
}
