package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// address matches the verb %p in a format.
var address = regexp.MustCompile(`%[-+# 0]*p\b`)

// addresses lists the files that need addresses, and why.
var addresses = map[string]string{
	"transport/commerce/schema/scope.go": "identifies schemas by their addresses; none of them is secret",
}

// For %p, package fmt does not call the Format method of a value, which redacts secrets. It prints a
// secret of a string type in clear, and go vet accepts that.
func TestOnlyListedFilesPrintAddresses(t *testing.T) {
	if !address.MatchString("at %p") || !address.MatchString("%+p") || address.MatchString("5 %per") || address.MatchString("%%") {
		t.Fatal("the pattern matches other texts than the verb")
	}
	texts := 0
	for _, dir := range []string{"actors", "transport", "persistence", "cmd", "bench"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == "node_modules":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					texts++
					if address.MatchString(text.Value) && addresses[filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))] == "" {
						t.Errorf("%s: the verb %%p would print a secret in clear", set.Position(text.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 10_000 {
		t.Errorf("only %d texts were read", texts)
	}
}
