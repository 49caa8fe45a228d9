package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// mistake returns the error for a bad value: its line and, where known, its key and the expected kind
// of value. It never repeats a value that can be a secret, only a bad duration.
func mistake(bad *toml.DecodeError) error {
	row, _ := bad.Position()
	text := strings.TrimPrefix(bad.Error(), "toml: ")
	key := strings.Join(bad.Key(), ".")
	t, known := typeOf(reflect.TypeFor[Config](), bad.Key())
	switch {
	case known && strings.HasPrefix(text, "cannot "):
		return fmt.Errorf("line %d: %s must be %s", row, key, wanted(t))
	case strings.HasPrefix(text, "cannot "):
		return fmt.Errorf("line %d: %s has a value of the wrong type", row, key)
	case known && t == reflect.TypeFor[Duration]():
		return fmt.Errorf("line %d: %s: %s", row, key, text)
	}
	return fmt.Errorf("line %d: %s", row, text)
}

// typeOf returns the type of a key's value in the type t of a table. It returns false if t has no
// such key.
func typeOf(t reflect.Type, key []string) (reflect.Type, bool) {
	for _, name := range key {
		for t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil, false
		}
		found := false
		for f := range fields(t) {
			if tag, _, _ := strings.Cut(f.Tag.Get("toml"), ","); tag == name {
				t, found = f.Type, true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return t, len(key) > 0
}

// wanted describes how a value of a type is written.
func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Duration]():
		return `a duration with its unit, like "30s", "5m" or "8h"`
	case t == reflect.TypeFor[Names]():
		return `a string or a list of strings, like "a" or ["a", "b"]`
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return "a list of tables, like [{name = \"a\"}]"
	case t.Kind() == reflect.Slice:
		return `a list of strings, like ["a", "b"]`
	case t.Kind() == reflect.Int:
		return "a whole number, like 10"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return `a string in quotation marks, like "a"`
	}
	return "a table: its name in brackets, and each key on its own line"
}
