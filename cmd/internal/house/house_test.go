package house

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

// pkg is what go list says of a package.
type pkg struct {
	ImportPath                string
	Dir                       string
	Imports                   []string
	TestGoFiles, XTestGoFiles []string
}

func packages(t *testing.T) (out []pkg) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	if len(out) < 50 {
		t.Fatalf("only %d packages", len(out))
	}
	return out
}

func below(path string, roots ...string) bool {
	for _, r := range roots {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

// Imports point down: cmd to transport to actors; persistence stands beside
// transport and serves what the actors declare. The harness knows nothing of
// the server.
func TestImportsPointDown(t *testing.T) {
	const (
		web   = "github.com/valyala/fasthttp"
		ws    = "github.com/fasthttp/websocket"
		store = "github.com/dgraph-io/badger"
	)
	forbidden := map[string][]string{
		"atelier/actors":            {"atelier/transport", "atelier/persistence", "atelier/cmd", "atelier/bench", web, ws, store},
		"atelier/persistence":       {"atelier/transport", "atelier/cmd", "atelier/bench", web, ws},
		"atelier/transport":         {"atelier/persistence", "atelier/cmd", "atelier/bench", store},
		"atelier/bench":             {"atelier/actors", "atelier/transport", "atelier/persistence", "atelier/cmd"},
		"atelier/transport/live":    {"atelier/transport/rest", "atelier/transport/messages"},
		"atelier/actors/durable":    {"atelier/actors/codelab", "atelier/actors/token", "atelier/actors/catalog", "atelier/actors/participant"},
		"atelier/transport/handler": {"atelier/actors/codelab"},
	}
	for _, p := range packages(t) {
		for from, to := range forbidden {
			if !below(p.ImportPath, from) {
				continue
			}
			for _, i := range p.Imports {
				if below(i, to...) {
					t.Errorf("%s imports %s", p.ImportPath, i)
				}
			}
		}
	}
}

// What nobody reads should be little: of 68,000 generated lines that once were
// here, a quarter marshalled what was never stored.
func TestLittleIsGenerated(t *testing.T) {
	lines := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".pb.go") {
			b, err := os.ReadFile(path)
			lines += bytes.Count(b, []byte("\n"))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines == 0 || lines >= 25_000 {
		t.Errorf("%d lines are generated", lines)
	}
}

// A package that speaks to strangers is tested where it stands, in
// milliseconds, and not only through the whole server.
func TestPackagesOfTransportHaveTests(t *testing.T) {
	for _, p := range packages(t) {
		if below(p.ImportPath, "atelier/transport") && len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 && !strings.HasSuffix(p.ImportPath, "test") {
			t.Errorf("%s has no tests", p.ImportPath)
		}
	}
}

// A description without the items of an array, or with an address of one
// machine, is refused by the tools that read it.
func TestDescriptionsAreWhole(t *testing.T) {
	names := []string{"transport/messages/asyncapi.json", "transport/handler/openapi.json"}
	pieces, err := filepath.Glob(filepath.Join(root, "transport/rest/openapi/*.json"))
	if err != nil || len(pieces) < 20 {
		t.Fatalf("the pieces of the REST interface's description are %v, %v", pieces, err)
	}
	for _, p := range pieces {
		names = append(names, strings.TrimPrefix(p, filepath.Clean(root)+"/"))
	}
	arrays := 0
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		var look func(at string, node any)
		look = func(at string, node any) {
			switch n := node.(type) {
			case []any:
				for _, v := range n {
					look(at, v)
				}
			case map[string]any:
				if isArray(n["type"]) {
					arrays++
					if n["items"] == nil {
						t.Errorf("%s%s: an array without items", name, at)
					}
				}
				if host, ok := n["host"].(string); ok && n["protocol"] != nil && !strings.HasPrefix(host, "{") {
					t.Errorf("%s%s: the host is fixed: %s", name, at, host)
				}
				for k, v := range n {
					look(at+"/"+k, v)
				}
			}
		}
		look("", doc)
	}
	if arrays < 50 {
		t.Errorf("only %d arrays: nothing is looked at any more", arrays)
	}
}

func isArray(typ any) bool {
	if list, ok := typ.([]any); ok {
		for _, t := range list {
			if t == "array" {
				return true
			}
		}
	}
	return typ == "array"
}
