package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// DecodeStrict does the same as Decode, but refuses a member that has no field in the value. The
// error names the member. Names are compared exactly.
func DecodeStrict(body []byte, into any) error {
	if err := Decode(body, into); err != nil {
		return err
	}
	var sent any
	if err := json.Unmarshal(body, &sent); err != nil {
		return Invalid("the body is not valid JSON")
	}
	if name := unknown(sent, reflect.TypeOf(into), ""); name != "" {
		return Invalid("%.100s is not known here", name)
	}
	return nil
}

// unknown returns the first member for which a type has no field; "" if there is none.
func unknown(sent any, t reflect.Type, at string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch sent := sent.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return ""
		}
		for i, v := range sent {
			if name := unknown(v, t.Elem(), fmt.Sprintf("%s[%d]", at, i)); name != "" {
				return name
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return ""
		}
		fields := map[string]reflect.Type{}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			fields[name] = t.Field(i).Type
		}
		for _, member := range slices.Sorted(maps.Keys(sent)) {
			name := strings.TrimPrefix(at+"."+member, ".")
			field, known := fields[member]
			if !known {
				return name
			}
			if name := unknown(sent[member], field, name); name != "" {
				return name
			}
		}
	}
	return ""
}
