package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/naming"
)

// bounds contains the allowed values of a key, from its tags. min and max are inclusive bounds of
// whole numbers and durations. one lists the allowed texts; the tag separates them by "|".
type bounds struct {
	min, max string
	one      []string
}

func boundsOf(f reflect.StructField) bounds {
	b := bounds{min: f.Tag.Get("min"), max: f.Tag.Get("max")}
	if one := f.Tag.Get("one"); one != "" {
		b.one = strings.Split(one, "|")
	}
	return b
}

// checkBounds reports each key that is outside of its bounds.
func (c *Config) checkBounds(bad func(format string, args ...any)) {
	eachField(reflect.ValueOf(c).Elem(), func(section, key string, v reflect.Value, f reflect.StructField) {
		b := boundsOf(f)
		if !b.allow(v) {
			bad("%s.%s must be %s", section, key, b)
		}
	})
}

func (b bounds) allow(v reflect.Value) bool {
	if b.one != nil {
		for _, text := range b.one {
			if v.String() == text {
				return true
			}
		}
		return false
	}
	if b.min == "" && b.max == "" {
		return true
	}
	n := amount(v.Type(), v.Interface())
	return (b.min == "" || n >= amount(v.Type(), b.min)) && (b.max == "" || n <= amount(v.Type(), b.max))
}

// amount returns a whole number, or a duration in nanoseconds. If x is text from a tag, amount
// parses it, and panics if it is malformed. A test parses all tags.
func amount(t reflect.Type, x any) int64 {
	switch x := x.(type) {
	case int:
		return int64(x)
	case Duration:
		return int64(x)
	case string:
		if t == reflect.TypeFor[Duration]() {
			var d Duration
			if err := d.UnmarshalText([]byte(x)); err != nil {
				panic(err)
			}
			return int64(d)
		}
		n, err := strconv.ParseInt(x, 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	return 0
}

// String returns the bounds as the end of a sentence that begins with "must be".
func (b bounds) String() string {
	switch {
	case b.one != nil:
		quoted := make([]string, len(b.one))
		for i, text := range b.one {
			quoted[i] = strconv.Quote(text)
		}
		return naming.Or(quoted...)
	case b.max == "":
		return "at least " + b.min
	case b.min == "":
		return "at most " + b.max
	}
	return fmt.Sprintf("from %s to %s", b.min, b.max)
}

// explain returns the sentence about the bounds in config.toml, with a space before it. It returns
// "" if there are no bounds, and for choices, which the key's text lists itself. It also returns ""
// for a minimum of 0 or 1 without a maximum, which is obvious.
func (b bounds) explain() string {
	if b.one != nil || b.max == "" && slices.Contains([]string{"", "0", "0s", "1", "1s"}, b.min) {
		return ""
	}
	text := b.String()
	return " " + strings.ToUpper(text[:1]) + text[1:] + "."
}
