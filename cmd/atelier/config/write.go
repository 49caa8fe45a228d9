package config

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Write writes a configuration as a TOML file in which every key has its line
// of explanation. Secrets show only whether they are set.
func Write(w io.Writer, c Config) error {
	var b strings.Builder
	b.WriteString("# Every key of Atelier with its default. Each can also be set in the environment\n")
	b.WriteString("# as ATELIER_<SECTION>_<KEY>, which wins over this file; flags win over both.\n")
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		fmt.Fprintf(&b, "\n# %s\n[%s]\n", f.Tag.Get("doc"), f.Tag.Get("toml"))
		for j := range f.Type.NumField() {
			key := f.Type.Field(j)
			fmt.Fprintf(&b, "# %s\n%s = %s\n", key.Tag.Get("doc"), key.Tag.Get("toml"), value(v.Field(i).Field(j).Interface()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func value(x any) string {
	switch x := x.(type) {
	case int:
		return strconv.Itoa(x)
	case []string:
		quoted := make([]string, len(x))
		for i, s := range x {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case fmt.Stringer:
		return strconv.Quote(x.String())
	default:
		return strconv.Quote(fmt.Sprint(x))
	}
}
