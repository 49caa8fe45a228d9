package house

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier/transport/rest"
)

// severalTypes lists the schemas with objects that do not come from a single struct. The values
// describe the code that creates or reads the objects.
var severalTypes = map[string]string{
	// A profile is stored unchanged.
	"CommerceProfile":    "a document that transport/commerce/profile reads",
	"NegotiationRequest": "the body that ReadRequest of transport/commerce/negotiate reads",
}

// For each object in the REST document, some struct of the code has exactly the same JSON fields.
// The test finds this struct itself. Message schemas are generated from their types.
func TestSchemasHaveTheMembersOfAStruct(t *testing.T) {
	structs := jsonStructs(t, "transport/rest", "transport/ai", "transport/messages", "transport/webhook", "transport/commerce/negotiate")
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(rest.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	held := 0
	for name, schema := range doc.Components.Schemas {
		members := slices.Sorted(maps.Keys(schema.Properties))
		if len(members) == 0 {
			continue
		}
		held++
		nearest, distance := jsonStruct{}, len(members)+1
		for _, s := range structs {
			if d := len(without(members, s.members)) + len(without(s.members, members)); d < distance {
				nearest, distance = s, d
			}
		}
		_, known := severalTypes[name]
		switch {
		case known && distance == 0:
			t.Errorf("%s is one of severalTypes, and the struct at %s has its members", name, nearest.at)
		case !known && distance > 0:
			t.Errorf("no struct has the members of the schema %s; the closest, at %s, lacks %v and has the additional %v", name, nearest.at, without(members, nearest.members), without(nearest.members, members))
		}
	}
	if held < 150 {
		t.Errorf("only %d schemas were checked", held)
	}
}

// jsonStruct is a struct of the code, named or not, with its JSON fields.
type jsonStruct struct {
	at      string
	members []string // in order
}

// without returns the names of a that b lacks.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
}

// jsonStructs returns the structs with JSON fields in the given folders.
func jsonStructs(t *testing.T, dirs ...string) (all []jsonStruct) {
	t.Helper()
	files := token.NewFileSet()
	named := map[string]*ast.StructType{} // by "folder.Name"
	found := map[*ast.StructType]string{}
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s has %d files, %v", dir, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						named[filepath.Base(dir)+"."+spec.Name.Name] = s
					}
				}
				if s, ok := n.(*ast.StructType); ok {
					found[s] = filepath.Base(dir)
				}
				return true
			})
		}
	}
	for s, dir := range found {
		if members := jsonMembers(s, dir, named); len(members) > 0 {
			slices.Sort(members)
			at := files.Position(s.Pos())
			all = append(all, jsonStruct{fmt.Sprintf("%s:%d", strings.TrimPrefix(at.Filename, root+"/"), at.Line), members})
		}
	}
	return all
}

// jsonMembers returns the fields of a struct and of its embedded structs.
func jsonMembers(s *ast.StructType, dir string, named map[string]*ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		name := ""
		if f.Tag != nil {
			text, _ := strconv.Unquote(f.Tag.Value)
			name, _, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
		}
		switch {
		case name != "" && name != "-":
			names = append(names, name)
		case name == "" && len(f.Names) == 0:
			if inner := named[embedded(f.Type, dir)]; inner != nil {
				names = append(names, jsonMembers(inner, dir, named)...)
			}
		}
	}
	return names
}

// embedded returns the name of an embedded type, as "folder.Name".
func embedded(t ast.Expr, dir string) string {
	switch e := t.(type) {
	case *ast.StarExpr:
		return embedded(e.X, dir)
	case *ast.Ident:
		return dir + "." + e.Name
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return pkg.Name + "." + e.Sel.Name
		}
	}
	return ""
}
