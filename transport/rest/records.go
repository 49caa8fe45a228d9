package rest

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"
)

// Records writes structs as a CSV table with a column for each field that has a name for
// encoding/json, under this name. Values other than texts, numbers and booleans are written as JSON,
// a pointer as its value, and a nil pointer as an empty cell. Every record must have the type of the
// argument "of", otherwise Records returns an error. This type determines the header even if there
// are no records.
func Records(w io.Writer, of any, records iter.Seq[any]) error {
	t := reflect.TypeOf(of)
	var columns [][]int
	var head []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && f.IsExported() {
			columns, head = append(columns, f.Index), append(head, name)
		}
	}
	s := newSheet(w)
	s.Row(head...)
	row := make([]string, len(columns))
	for r := range records {
		v := reflect.ValueOf(r)
		if v.Type() != t {
			return fmt.Errorf("a record is a %T, not a %T", r, of)
		}
		for i, index := range columns {
			var err error
			if row[i], err = cell(v.FieldByIndex(index)); err != nil {
				return err
			}
		}
		s.Row(row...)
	}
	return s.Close()
}

func cell(v reflect.Value) (string, error) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "", nil
		}
		return cell(v.Elem())
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	}
	b, err := json.Marshal(v.Interface())
	return string(b), err
}
