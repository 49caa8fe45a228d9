package describe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Vocabulary provides the information for descriptions that the types do not contain.
type Vocabulary interface {
	// Named returns the schema with the name that the tag "is" contains. If component is true, the
	// name is that of a component, and s can be nil. Named panics for an unknown name, because tags
	// are constant.
	Named(name string) (s *Schema, component bool)
	// Component returns the name of a type's component. It returns "" if the type's members are
	// described where the type is used.
	Component(t reflect.Type) string
	// Siblings reports whether members are allowed next to a reference. In draft 7 of JSON Schema
	// they are ignored.
	Siblings() bool
}

// Forbidden describes a member that an open object must not have. The field's type is *Forbidden.
type Forbidden struct{}

// Of describes the members of a struct type, including embedded ones. open permits other members.
func Of(v Vocabulary, t reflect.Type, open bool) *Schema {
	return describer{v, false}.of(t, open)
}

// Body describes a request body. In a body, nil means a missing member, and members that the type
// lacks are permitted.
func Body(v Vocabulary, t reflect.Type) *Schema { return describer{v, true}.of(t, nil) }

type describer struct {
	Vocabulary
	body bool
}

func (d describer) of(t reflect.Type, open any) *Schema {
	s := &Schema{Type: "object", Open: open}
	d.include(s, t)
	return s
}

// isOmitted reports whether a member without a value is omitted.
func isOmitted(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return options == "omitempty" || options == "omitzero"
}

// isRequired reports whether an object must contain the field's member.
func isRequired(f reflect.StructField) bool {
	return !isOmitted(f) && f.Tag.Get("optional") != "true"
}

func (d describer) include(s *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			d.embed(s, f)
			continue
		case name == "-" || name == "":
			continue
		case f.Type == reflect.TypeFor[*Forbidden]():
			s.forbid(name)
			continue
		}
		if isRequired(f) {
			s.Required = append(s.Required, name)
		}
		s.Properties.Add(name, d.field(f, isOmitted(f)))
	}
}

// embed includes the members of an embedded struct. None of them is required if the struct is
// embedded by a pointer or can be missing as a whole. The tag defaults:"false" removes their
// defaults.
func (d describer) embed(s *Schema, f reflect.StructField) {
	required, members := s.Required, len(s.Properties)
	if f.Type.Kind() == reflect.Pointer {
		d.include(s, f.Type.Elem())
	} else {
		d.include(s, f.Type)
	}
	if f.Type.Kind() == reflect.Pointer || f.Tag.Get("optional") == "true" {
		s.Required = required
	}
	if f.Tag.Get("defaults") == "false" {
		for _, p := range s.Properties[members:] {
			p.Value.(*Schema).Default = nil
		}
	}
}

// forbid excludes a member from an open object. The schema false for that member would mean the
// same, but client generators expect a schema of every member.
func (s *Schema) forbid(name string) {
	if s.PropertyNames == nil {
		s.PropertyNames = &Schema{Not: &Schema{}}
	}
	s.PropertyNames.Not.Enum = append(s.PropertyNames.Not.Enum, name)
}

// field describes a member. A pointer can be null, unless nil is a missing member.
func (d describer) field(f reflect.StructField, omitted bool) *Schema {
	t, null := f.Type, false
	if t.Kind() == reflect.Pointer {
		t, null = t.Elem(), !omitted && !d.body
	}
	if t.Kind() == reflect.Pointer { // nil is a missing member, and a pointer to nil is null
		t, null = t.Elem(), true
	}
	if tag, ok := f.Tag.Lookup("null"); ok {
		null = tag == "true"
	}
	s := d.ofType(f, t)
	value, about := f.Tag.Get("default"), f.Tag.Get("doc")
	if null {
		s = d.orNull(s)
	}
	if s.Ref != "" && value+about != "" && !d.Siblings() {
		s = &Schema{AllOf: []*Schema{s}}
	}
	if value != "" {
		s.Default = json.RawMessage(value)
	}
	if about != "" {
		s.Description = code.Replace(about)
	}
	return s
}

// code replaces the marks « and » with backquotes, which Go tags cannot contain.
var code = strings.NewReplacer("«", "`", "»", "`")

// ofType describes the type of a field, by its tag or the type itself. Integers without a range are
// at least 0.
func (d describer) ofType(f reflect.StructField, t reflect.Type) *Schema {
	switch f.Tag.Get("as") {
	case "number":
		t = reflect.TypeFor[float64]()
	case "string":
		t = reflect.TypeFor[string]()
	case "boolean":
		t = reflect.TypeFor[bool]()
	}
	is := f.Tag.Get("is")
	if !d.isWhole(is) {
		switch t.Kind() {
		case reflect.Slice, reflect.Array:
			s := &Schema{Type: "array", Items: d.ofElement(f, t.Elem()), UniqueItems: f.Tag.Get("unique") == "true"}
			if s.MinItems, s.MaxItems = bounds(f, "items"); t.Kind() == reflect.Array {
				s.MinItems, s.MaxItems = t.Len(), t.Len()
			}
			return s
		case reflect.Map:
			return &Schema{Type: "object", Open: d.ofElement(f, t.Elem())}
		}
	}
	if is != "" {
		s, component := d.Named(is)
		if component {
			return Ref(is)
		}
		return s
	}
	if name := d.Component(t); name != "" {
		return Ref(name)
	}
	return d.plain(f, t)
}

// ofElement describes the elements of a list or a map.
func (d describer) ofElement(f reflect.StructField, t reflect.Type) *Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return d.ofType(f, t)
}

// isWhole reports whether a name of the vocabulary describes a list or map itself and not its
// elements.
func (d describer) isWhole(is string) bool {
	if is == "" {
		return false
	}
	s, component := d.Named(is)
	if component && s == nil {
		return false
	}
	kinds, several := s.Type.([]string)
	return s.Type == "array" || s.Type == "object" && s.Of == nil && !component || several && kinds[0] == "array"
}

// plain describes a type by its kind and the tags about its values.
func (d describer) plain(f reflect.StructField, t reflect.Type) *Schema {
	s := &Schema{}
	switch t.Kind() {
	case reflect.String:
		s.Type, s.Const, s.Format, s.Pattern = "string", f.Tag.Get("const"), f.Tag.Get("format"), f.Tag.Get("pattern")
		s.MinLength, s.MaxLength = bounds(f, "length")
		if values := f.Tag.Get("enum"); values != "" {
			for value := range strings.SplitSeq(values, "|") {
				s.Enum = append(s.Enum, value)
			}
		}
	case reflect.Bool:
		s.Type = "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Uint32, reflect.Uint16:
		s.Type = "integer"
		if f.Tag.Get("range") == "" {
			s.Minimum = 0
		}
		s.number(f)
	case reflect.Float64:
		s.Type = "number"
		s.number(f)
	case reflect.Struct:
		var open any = false
		if d.body || f.Tag.Get("open") == "true" {
			open = nil
		}
		if s = d.of(t, open); len(s.Properties) == 0 {
			s.Type = nil
		}
	case reflect.Interface:
		return s // any value
	}
	if s.Type == nil {
		panic(f.Name + " needs a tag that describes its type " + t.String())
	}
	return s
}

func (s *Schema) number(f reflect.StructField) {
	if least, most, ok := strings.Cut(f.Tag.Get("range"), ".."); ok {
		s.Minimum, s.Maximum = number(least), number(most)
	}
	s.MultipleOf = number(f.Tag.Get("multiple"))
}

// number returns a number as JSON, or nil for an empty text.
func number(text string) any {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// bounds returns the bounds in a tag. A missing bound is 0.
func bounds(f reflect.StructField, tag string) (least, most int) {
	text := f.Tag.Get(tag)
	if text == "" {
		return 0, 0
	}
	from, to, ok := strings.Cut(text, "..")
	bound := func(text string) (n int) {
		if text != "" {
			var err error
			n, err = strconv.Atoi(text)
			ok = ok && err == nil
		}
		return n
	}
	least, most = bound(from), bound(to)
	if !ok {
		panic(fmt.Sprintf("%s:%q of %s has no bounds", tag, text, f.Name))
	}
	return least, most
}

// orNull permits null in addition to the other values.
func (d describer) orNull(s *Schema) *Schema {
	name, isReference := strings.CutPrefix(s.Ref, components)
	if _, already := s.Type.([]string); already {
		return s
	}
	if !isReference {
		if s.Type != nil {
			s.Type = []any{s.Type, "null"}
		}
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
		return s
	}
	if target, _ := d.Named(name); target != nil {
		if _, several := target.Type.([]string); several { // null is one of them
			return s
		}
	}
	return &Schema{OneOf: []*Schema{s, {Type: "null"}}}
}

// Entitle names inline objects and enums after their position. Client generators number unnamed
// types, and these numbers change with every added message.
func (s *Schema) Entitle(name string) {
	for _, p := range s.Properties {
		if inner := p.Value.(*Schema); len(inner.Properties) > 0 || len(inner.Enum) > 0 {
			inner.Title = name + CamelCase(p.Name)
			inner.Entitle(inner.Title)
		}
	}
}

// CamelCase converts token_used to TokenUsed.
func CamelCase(name string) (camel string) {
	for word := range strings.SplitSeq(name, "_") {
		camel += strings.ToUpper(word[:1]) + word[1:]
	}
	return camel
}
