package describe

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Missing returns the first required member of a decoded body that the body does not contain, as in
// "steps[2].title", or "" if no member is missing. into is a pointer to the body. Missing finds
// only pointers, slices and maps, because only these are nil if the body lacks the member. It also
// searches embedded structs and lists of structs, but not the members of other structs. It ignores
// members that Body does not require or that can be null. It is safe for concurrent use.
func Missing(into any) string {
	v := reflect.ValueOf(into).Elem()
	if v.Kind() != reflect.Struct {
		return ""
	}
	return missing(v)
}

// demand describes what a body must contain for a field of a struct.
type demand struct {
	index    int
	name     string
	required bool
	elements bool // a list of structs that have demands
}

// demands caches the demands of struct types. Bodies have a bounded number of types.
var demands sync.Map // reflect.Type to []demand

func missing(v reflect.Value) string {
	for _, d := range demandsOf(v.Type()) {
		f := v.Field(d.index)
		if d.required && f.IsNil() {
			return d.name
		}
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				continue
			}
			f = f.Elem()
		}
		switch {
		case d.name == "": // embedded
			if name := missing(f); name != "" {
				return name
			}
		case d.elements:
			for i := range f.Len() {
				if name := missing(f.Index(i)); name != "" {
					return fmt.Sprintf("%s[%d].%s", d.name, i, name)
				}
			}
		}
	}
	return ""
}

func demandsOf(t reflect.Type) []demand {
	if known, ok := demands.Load(t); ok {
		return known.([]demand)
	}
	var all []demand
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		d := demand{index: i, name: name}
		switch {
		case f.Anonymous && name == "":
			if kind.Kind() != reflect.Struct || len(demandsOf(kind)) == 0 || f.Tag.Get("optional") == "true" {
				continue
			}
		case name == "-" || name == "" || !f.IsExported():
			continue
		default:
			nilable := f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map
			d.required = nilable && isRequired(f) && f.Tag.Get("null") != "true"
			d.elements = kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct && len(demandsOf(kind.Elem())) > 0
			if !d.required && !d.elements {
				continue
			}
		}
		all = append(all, d)
	}
	demands.Store(t, all)
	return all
}
