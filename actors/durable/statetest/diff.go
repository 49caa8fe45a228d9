// Package statetest compares the states of actors field by field, including unexported ones.
// Comparing snapshots is not enough, because equal snapshots can both lack a field.
package statetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

// Tag is the key of the struct tag for fields that a snapshot does not restore unchanged, with the
// reason:
//
//	encoded Encodings `snapshot:"readers fill it"`
//
// Such a field is not compared, unless the reason begins with TrailingZeros or AnyOrder.
const (
	Tag = "snapshot"
	// TrailingZeros ignores the trailing zeros of a list.
	TrailingZeros = "trailing zeros: "
	// AnyOrder ignores the order of elements.
	AnyOrder = "any order: "
)

// Diff returns the first difference between two states as a path and both values, or "" if there is
// none. nil and empty lists and maps are equal. Functions and channels are not compared.
func Diff(a, b any) string {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Type() != y.Type() {
		return fmt.Sprintf("a %T instead of a %T", a, b)
	}
	return (&differ{seen: map[[2]unsafe.Pointer]bool{}}).diff("", readable(x), readable(y))
}

type differ struct {
	seen map[[2]unsafe.Pointer]bool // pairs of pointers being compared
}

// readable returns a value whose methods can be called, even for an unexported field.
func readable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	c := reflect.New(v.Type()).Elem()
	if v.CanInterface() {
		c.Set(v)
	}
	return c
}

// elements returns the elements of a slice, an array, or a list with Len and At; ok is false for
// anything else.
func elements(v reflect.Value) (all []reflect.Value, ok bool) {
	at, size := reflect.Value{}, 0
	switch {
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		size = v.Len()
	case v.Kind() == reflect.Struct && v.Addr().MethodByName("At").IsValid() && v.Addr().MethodByName("Len").IsValid():
		at, size = v.Addr().MethodByName("At"), int(v.Addr().MethodByName("Len").Call(nil)[0].Int())
	default:
		return nil, false
	}
	for i := range size {
		var e reflect.Value
		if at.IsValid() {
			e = reflect.New(at.Type().Out(0)).Elem()
			e.Set(at.Call([]reflect.Value{reflect.ValueOf(i)})[0])
		} else {
			e = readable(v.Index(i))
		}
		all = append(all, e)
	}
	return all, true
}

func (d *differ) diff(path string, a, b reflect.Value) string {
	if all, ok := elements(a); ok {
		other, _ := elements(b)
		return d.lists(path, all, other)
	}
	switch a.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return ""
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return unequal(path, a.IsNil(), b.IsNil(), show(a), show(b))
		}
		pair := [2]unsafe.Pointer{a.UnsafePointer(), b.UnsafePointer()}
		if pair[0] == pair[1] || d.seen[pair] {
			return ""
		}
		d.seen[pair] = true
		if m, is := a.Interface().(proto.Message); is {
			return unequal(path, proto.Equal(m, b.Interface().(proto.Message)), true, show(a), show(b))
		}
		return d.diff(path, readable(a.Elem()), readable(b.Elem()))
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Elem().Type() != b.Elem().Type() {
			return unequal(path, a.IsNil() && b.IsNil(), true, show(a), show(b))
		}
		return d.diff(path, readable(a.Elem()), readable(b.Elem()))
	case reflect.Map:
		return d.maps(path, a, b)
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if found := d.field(path+"."+f.Name, f.Tag, readable(a.Field(i)), readable(b.Field(i))); found != "" {
				return found
			}
		}
		return ""
	}
	return unequal(path, a.Interface(), b.Interface(), show(a), show(b))
}

// field compares a field according to its tag.
func (d *differ) field(path string, tag reflect.StructTag, a, b reflect.Value) string {
	reason, tagged := tag.Lookup(Tag)
	all, isList := elements(a)
	other, _ := elements(b)
	switch {
	case tagged && isList && strings.HasPrefix(reason, TrailingZeros):
		return d.lists(path, trimmed(all), trimmed(other))
	case tagged && isList && strings.HasPrefix(reason, AnyOrder):
		return d.lists(path, sorted(all), sorted(other))
	case tagged:
		return ""
	}
	return d.diff(path, a, b)
}

func trimmed(all []reflect.Value) []reflect.Value {
	for len(all) > 0 && all[len(all)-1].IsZero() {
		all = all[:len(all)-1]
	}
	return all
}

func sorted(all []reflect.Value) []reflect.Value {
	slices.SortFunc(all, func(a, b reflect.Value) int { return strings.Compare(show(a), show(b)) })
	return all
}

func (d *differ) lists(path string, a, b []reflect.Value) string {
	for i := range min(len(a), len(b)) {
		if found := d.diff(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); found != "" {
			return found
		}
	}
	return unequal(path, len(a), len(b), fmt.Sprint(len(a), " elements"), fmt.Sprint(len(b), " elements"))
}

func (d *differ) maps(path string, a, b reflect.Value) string {
	for it := a.MapRange(); it.Next(); {
		other := b.MapIndex(it.Key())
		at := path + "[" + show(it.Key()) + "]"
		if !other.IsValid() {
			return at + " is " + show(it.Value()) + " in only one of them"
		}
		if found := d.diff(at, readable(it.Value()), readable(other)); found != "" {
			return found
		}
	}
	return unequal(path, a.Len(), b.Len(), show(a), show(b))
}

// show formats a value for people, including the value it points to.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.IsNil() && v.CanInterface() {
		if m, is := v.Interface().(proto.Message); is {
			return fmt.Sprint(m)
		}
	}
	return fmt.Sprintf("%+v", v)
}

func unequal(path string, a, b any, showA, showB string) string {
	if a == b {
		return ""
	}
	return fmt.Sprintf("%s: %s and %s", path, showA, showB)
}
