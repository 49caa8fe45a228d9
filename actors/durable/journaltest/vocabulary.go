package journaltest

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/runtime/protoimpl"

	"atelier/actors/durable"
)

// Vocabulary verifies that every command and every reply, with all fields set, survives encoding to
// JSON and back. It also verifies that the vocabulary contains every type of the tested package
// that has a method decide.
func Vocabulary[B any](t *testing.T, v *durable.Vocabulary[B]) {
	commands, replies := v.Words()
	known := map[string]bool{}
	for i, typ := range commands {
		known[typ.Name()] = true
		for _, x := range []reflect.Type{typ, replies[i]} {
			if field := lostField(x); field != "" {
				t.Errorf("%s: the field %s is not exported, so another node does not receive it", typ.Name(), field)
			}
		}
		sent := filled(typ).Interface().(B)
		name, fields, err := v.Encode(sent)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.Decode(name, fields); err != nil || !reflect.DeepEqual(got, sent) {
			t.Errorf("%s: %v: %+v became %+v", name, err, sent, got)
		}
		reply := filled(replies[i]).Interface()
		b, err := v.EncodeReply(name, reply)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.DecodeReply(name, b); err != nil || !reflect.DeepEqual(got, reply) {
			t.Errorf("the reply to %s: %v: %+v became %+v", name, err, reply, got)
		}
		if b, err = v.EncodeReply(name, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := v.DecodeReply(name, b); got != nil || err != nil {
			t.Errorf("no reply to %s became %v, %v", name, got, err)
		}
	}
	for _, name := range decided(t) {
		if !known[name] {
			t.Errorf("%s is not in the vocabulary", name)
		}
	}
}

// decided returns the names of the types with a method decide in the package of the working folder.
func decided(t *testing.T) (out []string) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "decide" {
				if id, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
					out = append(out, id.Name)
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("the package has no type with a method decide")
	}
	return out
}

// lostField returns the name of a field that JSON omits because it is not exported, or "". Messages of
// protobuf have such fields, which contain no data.
func lostField(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return lostField(t.Elem())
	case reflect.Map:
		return cmp.Or(lostField(t.Key()), lostField(t.Elem()))
	case reflect.Struct:
		if t.NumField() > 0 && t.Field(0).Type == reflect.TypeFor[protoimpl.MessageState]() {
			return ""
		}
		for f := range t.Fields() {
			if !f.IsExported() {
				return t.Name() + "." + f.Name
			}
			if name := lostField(f.Type); name != "" {
				return name
			}
		}
	}
	return ""
}

// filled returns a value with all exported fields set, at every depth.
func filled(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString("Ünï \"<&>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(3)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(2)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem()), filled(t.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(filled(t.Key()), filled(t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(filled(t.Field(i).Type))
			}
		}
	default:
		panic("journaltest: cannot fill a field of the type " + t.String())
	}
	return v
}
