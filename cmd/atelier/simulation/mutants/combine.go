package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// switchedOn is the environment variable that contains the number of the active mutant. Without it
// a combined build behaves like the unmodified tree.
const switchedOn = "MUTANT_ON"

// combined is the tree with many mutants in one build, each controlled by a switch. For each
// mutant, the changed function gets a copy with the change. The function calls the copy while the
// switch is on:
//
//	func released(h *pb.HelpRequest) { if mutantOn == 17 { released_17(h); return }; …
//
// A change outside functions, for instance of a constant, cannot be switched. Such a mutant has its
// own build.
type combined struct {
	overlay string           // file for -overlay
	has     map[*mutant]bool // mutants with a switch
}

// combine writes the overlay of all mutants that can be switched into dir.
func combine(all []*mutant, read func(string) ([]byte, error), root, dir string) (*combined, error) {
	c := &combined{overlay: filepath.Join(dir, "overlay.json"), has: map[*mutant]bool{}}
	copies := map[string][]*copied{} // by file
	for _, m := range all {
		made, err := copiesOf(m, read)
		if err != nil {
			return nil, err
		}
		for _, x := range made {
			copies[x.file] = append(copies[x.file], x)
			c.has[m] = true
		}
	}
	files := map[string][]byte{}
	for file, made := range copies {
		text, err := read(file)
		if err != nil {
			return nil, err
		}
		name := made[0].pkg
		files[file] = switched(text, made)
		files[path.Join(path.Dir(file), "mutant_on.go")] = fmt.Appendf(nil,
			"package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantOn, _ = strconv.Atoi(os.Getenv(%q))\n", name, switchedOn)
	}
	return c, overlay(files, root, dir, c.overlay)
}

// overlay writes replacement files for the go command's -overlay flag.
func overlay(files map[string][]byte, root, dir, to string) error {
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for i, file := range slices.Sorted(maps.Keys(files)) {
		put := filepath.Join(dir, fmt.Sprint(i, "-", path.Base(file)))
		if err := os.WriteFile(put, files[file], 0o600); err != nil {
			return err
		}
		list.Replace[filepath.Join(root, file)] = put
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// copied is a function as changed by one mutant.
type copied struct {
	*mutant
	file, pkg string
	key       string // the receiver's type and the function's name
	text      []byte // the text of the whole changed function
}

// copiesOf returns the functions that a mutant changes. It returns none if the mutant also changes
// something else, such as a constant, a function's parameters or an init function.
func copiesOf(m *mutant, read func(string) ([]byte, error)) (out []*copied, err error) {
	changed, _, err := m.apply(read)
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		if !strings.HasSuffix(file, ".go") {
			return nil, nil
		}
		was, err := read(file)
		if err != nil {
			return nil, err
		}
		before, err := parsed(was)
		if err != nil {
			return nil, err
		}
		after, err := parsed(changed[file])
		if err != nil {
			return nil, fmt.Errorf("%s is not Go: %w", m.name, err)
		}
		if before.rest != after.rest || len(before.keys) != len(after.keys) {
			return nil, nil
		}
		for i, key := range before.keys {
			a, b := before.funcs[key], after.funcs[key]
			switch {
			case b == nil || after.keys[i] != key || !bytes.Equal(before.head(a), after.head(b)):
				return nil, nil
			case !bytes.Equal(before.of(a), after.of(b)):
				if a.Body == nil || a.Name.Name == "init" {
					return nil, nil
				}
				out = append(out, &copied{m, file, before.name, key, bytes.Clone(after.of(b))})
			}
		}
	}
	return out, nil
}

// goFile is a parsed file.
type goFile struct {
	text  []byte
	name  string // name of the package
	funcs map[string]*ast.FuncDecl
	keys  []string // keys of funcs, in the order of the source
	rest  string   // all declarations except functions, without comments between declarations
}

func parsed(text []byte) (*goFile, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &goFile{text: text, name: f.Name.Name, funcs: map[string]*ast.FuncDecl{}}
	for _, d := range f.Decls {
		if fn, is := d.(*ast.FuncDecl); is {
			key := fn.Name.Name
			if fn.Recv != nil {
				key = string(s.of(fn.Recv.List[0].Type)) + "." + key
			}
			s.funcs[key], s.keys = fn, append(s.keys, key)
			continue
		}
		s.rest += string(s.of(d)) + "\n"
	}
	return s, nil
}

// at returns an index into the text. Positions in a file set with one file begin at 1.
func at(p token.Pos) int { return int(p) - 1 }

func (s *goFile) of(n ast.Node) []byte { return s.text[at(n.Pos()):at(n.End())] }

// head returns a function's text up to its body.
func (s *goFile) head(fn *ast.FuncDecl) []byte {
	if fn.Body == nil {
		return s.of(fn)
	}
	return s.text[at(fn.Pos()):at(fn.Body.Lbrace)]
}

// switched returns a file in which each changed function calls the copy of the active mutant. In
// compiler errors, the mutant's name replaces the file name.
func switched(text []byte, copies []*copied) []byte {
	s, err := parsed(text)
	if err != nil {
		panic(err) // the file was parsed before
	}
	var out, behind bytes.Buffer
	done := 0
	for _, key := range s.keys {
		fn := s.funcs[key]
		var calls strings.Builder
		for _, c := range copies {
			if c.key != key {
				continue
			}
			name := fmt.Sprint(fn.Name.Name, "_", c.number)
			fmt.Fprintf(&calls, " if mutantOn == %d { %s };", c.number, call(s, fn, name))
			from := at(fn.Name.Pos()) - at(fn.Pos())
			fmt.Fprintf(&behind, "\n//line %s.mutant:1\n%s%s%s\n", c.name, c.text[:from], name, c.text[from+len(fn.Name.Name):])
		}
		if calls.Len() == 0 {
			continue
		}
		out.Write(text[done:at(fn.Pos())])
		out.Write(named(s, fn))
		out.WriteString("{" + calls.String())
		done = at(fn.Body.Lbrace) + 1
	}
	out.Write(text[done:])
	out.Write(behind.Bytes())
	return out.Bytes()
}

// parameters returns a function's receiver and parameters, with the names that are needed to pass
// them on.
func parameters(fn *ast.FuncDecl) (all []*ast.Field, names [][]string) {
	if fn.Recv != nil {
		all = append(all, fn.Recv.List...)
	}
	all = append(all, fn.Type.Params.List...)
	n := 0
	for _, f := range all {
		var of []string
		for _, id := range f.Names {
			of = append(of, id.Name)
		}
		if len(of) == 0 {
			of = []string{"_"}
		}
		for i := range of {
			if n++; of[i] == "_" {
				of[i] = fmt.Sprint("unnamed", n)
			}
		}
		names = append(names, of)
	}
	return all, names
}

// named returns the head of a function, with names for all parameters.
func named(s *goFile, fn *ast.FuncDecl) []byte {
	var out bytes.Buffer
	done := at(fn.Pos())
	all, names := parameters(fn)
	for i, f := range all {
		out.Write(s.text[done:at(f.Pos())])
		out.WriteString(strings.Join(names[i], ", ") + " ")
		done = at(f.Type.Pos())
	}
	out.Write(s.text[done:at(fn.Body.Lbrace)])
	return out.Bytes()
}

// call returns a statement that calls the copy of a function by the copy's name.
func call(s *goFile, fn *ast.FuncDecl, name string) string {
	all, names := parameters(fn)
	var args []string
	for i, f := range all {
		if i == 0 && fn.Recv != nil {
			name = names[0][0] + "." + name
			continue
		}
		args = append(args, names[i]...)
		if _, variadic := f.Type.(*ast.Ellipsis); variadic {
			args[len(args)-1] += "..."
		}
	}
	if types := fn.Type.TypeParams; types != nil {
		var of []string
		for _, f := range types.List {
			for _, id := range f.Names {
				of = append(of, id.Name)
			}
		}
		name += "[" + strings.Join(of, ", ") + "]"
	}
	does := name + "(" + strings.Join(args, ", ") + ")"
	if fn.Type.Results != nil {
		return "return " + does
	}
	return does + "; return"
}

// notCompiled finds mutant names in compiler errors.
var notCompiled = regexp.MustCompile(`([\w-]+)\.mutant:\d+`)

// namedBy returns the mutants mentioned in the compiler's output, each with its errors.
func namedBy(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if m := notCompiled.FindStringSubmatch(line); m != nil {
			out[m[1]] += line + "\n"
		}
	}
	return out
}
