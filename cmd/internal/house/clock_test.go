package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// machineTime lists the functions that read the machine's clock or start its timers. The keys are
// import paths.
var machineTime = map[string][]string{
	"time":                  {"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"},
	"context":               {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"atelier/actors/naming": {"NewID"},
}

// Each simulated node has its own clock, so actors use the clock that they are given. Packages with
// names that end in "test" support tests, and are exempt.
func TestActorsUseTheClockTheyAreGiven(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "actors"), func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (file == filepath.Join(root, "actors", "clock") || strings.HasSuffix(file, "test")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		files++
		found, err := readsMachineTime(file, nil)
		for _, use := range found {
			t.Errorf("%s: use the time of a clock.Clock", use)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}

// readsMachineTime returns the places where a file uses a function of machineTime, or a method of
// clock.System, which code is only allowed to pass on. src is the text, or nil to read the file.
func readsMachineTime(file string, src any) (found []string, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	report := func(n ast.Node, what string) {
		found = append(found, fmt.Sprintf("%s uses %s", set.Position(n.Pos()), what))
	}
	imported := map[string]string{} // import paths by their names in the file
	for _, i := range tree.Imports {
		of, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		name := path.Base(of)
		if i.Name != nil {
			name = i.Name.Name
		}
		if name == "." && machineTime[of] != nil {
			report(i, of+" without its name")
		}
		imported[name] = of
	}
	// member returns the import path and the name of a selector like time.Now.
	member := func(e ast.Expr) (of, name string) {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				return imported[x.Name], s.Sel.Name
			}
		}
		return "", ""
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, name := member(s); slices.Contains(machineTime[of], name) {
			report(s, of+"."+name)
		}
		if of, name := member(s.X); of == "atelier/actors/clock" && name == "System" {
			report(s, of+".System."+s.Sel.Name)
		}
		return true
	})
	return found, nil
}

func TestEachUseOfTheMachinesTimeIsDetected(t *testing.T) {
	type source struct{ imports, body string }
	for want, sources := range map[int][]source{
		1: {
			{`"time"`, `_ = time.Now()`},
			{`"time"`, `now := time.Now; _ = now`},
			{`"time"`, `for range time.Tick(1) {}`},
			{`"time"`, `func() { defer time.NewTimer(1).Stop() }()`},
			{`std "time"`, `std.Sleep(1)`},
			{`. "time"`, `Sleep(1)`},
			{`"context"`, `_, _ = context.WithTimeout(nil, 1)`},
			{`"atelier/actors/naming"`, `_ = naming.NewID()`},
			{`"atelier/actors/clock"`, `_ = clock.System.Now()`},
			{`"atelier/actors/clock"`, `_ = clock.System.NewTicker`},
		},
		2: {
			{`"time"`, `_ = time.Until(time.Now())`},
		},
		0: {
			{`"time"`, `_ = time.UnixMilli(1).Add(time.Second)`},
			{`"time"`, `var t interface{ After(time.Time) bool }; _ = t.After(time.Time{})`},
			{`"context"`, `_, _ = context.WithCancel(nil)`},
			{`"atelier/actors/naming"`, `_ = naming.NewIDs("")`},
			{`"atelier/actors/clock"`, `c := clock.System; _ = c.Now()`},
			{`"atelier/other"`, `_ = other.System.Now()`},
		},
	} {
		for _, s := range sources {
			text := "package p\nimport " + s.imports + "\nfunc f() { " + s.body + " }\n"
			found, err := readsMachineTime("p.go", text)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != want {
				t.Errorf("%s: found %q, want %d", text, found, want)
			}
		}
	}
}
