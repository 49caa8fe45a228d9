package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// listConcurrent writes the import paths of the packages in which goroutines can interact.
func listConcurrent(w io.Writer, packages []string) error {
	args := append([]string{"list", "-f", `{{.ImportPath}} {{.Dir}}{{range .GoFiles}} {{.}}{{end}}`}, packages...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return fmt.Errorf("list the packages: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for _, name := range fields[2:] {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(fields[1], name), nil, 0)
			if err != nil {
				return err
			}
			if isConcurrent(f) {
				fmt.Fprintln(w, fields[0])
				break
			}
		}
	}
	return nil
}

// isConcurrent reports whether a file starts goroutines, or uses channels or packages sync or
// sync/atomic.
func isConcurrent(f *ast.File) (found bool) {
	for _, i := range f.Imports {
		if path := strings.Trim(i.Path.Value, `"`); path == "sync" || path == "sync/atomic" {
			return true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			found = true
		}
		return !found
	})
	return found
}
