package config

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"atelier/actors/naming"
	"atelier/actors/token"
)

// Write writes a configuration as a TOML file with a comment for each key. For a secret it
// writes only whether it is set.
func Write(w io.Writer, c Config) error {
	var b strings.Builder
	kind := "value"
	if reflect.DeepEqual(c, Default()) {
		kind = "default"
	}
	b.WriteString("# Every key of Atelier with its " + kind + ". Each can also be set in the environment\n")
	b.WriteString("# as ATELIER_<SECTION>_<KEY>, which overrides this file; flags override both.\n")
	b.WriteString("# In the environment, separate the members of a list with commas: ATELIER_CLUSTER_PEERS=10.0.0.11:6222,10.0.0.12:6222\n")
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		fmt.Fprintf(&b, "\n# %s\n[%s]\n", f.Tag.Get("doc"), f.Tag.Get("toml"))
		for j := range f.Type.NumField() {
			key := f.Type.Field(j)
			fmt.Fprintf(&b, "# %s\n%s = %s\n", explained.Replace(key.Tag.Get("doc"))+boundsOf(key).explain(), key.Tag.Get("toml"), value(v.Field(i).Field(j).Interface()))
		}
		if example, ok := v.Field(i).Interface().(interface{ example() string }); ok {
			writeExample(&b, example.example())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeExample writes lines of text as comments.
func writeExample(b *strings.Builder, text string) {
	b.WriteString("#\n")
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
}

// explained inserts the values of enums into the description of a key.
var explained = strings.NewReplacer(
	"${policies}", naming.Or(token.PolicyNames(nil)...),
	"${policies_with_life}", naming.And(token.PolicyNames(token.Lives)...),
	"${policies_that_repeat}", naming.And(token.PolicyNames(token.Repeats)...),
)

func value(x any) string {
	switch x := x.(type) {
	case int:
		return strconv.Itoa(x)
	case bool:
		return strconv.FormatBool(x)
	case fmt.Stringer:
		return strconv.Quote(x.String())
	}
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = value(v.Index(i).Interface())
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Struct, reflect.Map:
		return inline(x)
	}
	return strconv.Quote(fmt.Sprint(x))
}

// inline writes a table on one line.
func inline(x any) string {
	b, err := toml.Marshal(x)
	if err != nil {
		return strconv.Quote(err.Error())
	}
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		return strconv.Quote(err.Error())
	}
	return inlineTree(tree)
}

func inlineTree(x any) string {
	switch x := x.(type) {
	case map[string]any:
		var fields []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			fields = append(fields, strconv.Quote(k)+" = "+inlineTree(x[k]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case []any:
		items := make([]string, len(x))
		for i := range x {
			items[i] = inlineTree(x[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return strconv.Quote(x)
	}
	return fmt.Sprint(x)
}
