package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier/transport/handler"
	"atelier/transport/messages"
	"atelier/transport/rest"
)

const root = "../../.."

// pkg is the output of go list for a package.
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
		t.Fatalf("only %d packages were found", len(out))
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

// Imports point down, from cmd to transport to actors. Persistence is on the same level as
// transport, and implements interfaces of the actors. The packages of bench import none of these.
func TestImportsPointDown(t *testing.T) {
	const (
		web   = "github.com/valyala/fasthttp"
		ws    = "github.com/fasthttp/websocket"
		store = "github.com/dgraph-io/badger"
		pg    = "github.com/jackc/pgx"
	)
	forbidden := map[string][]string{
		"atelier/actors":            {"atelier/transport", "atelier/persistence", "atelier/cmd", "atelier/bench", web, ws, store, pg},
		"atelier/persistence":       {"atelier/transport", "atelier/cmd", "atelier/bench", web, ws},
		"atelier/transport":         {"atelier/persistence", "atelier/cmd", "atelier/bench", store, pg},
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

// Every direct dependency has a row in DEPENDENCIES.md, with a reason, a licence, a maintainer and
// a replacement. Indirect dependencies are listed there, too, and removed ones are not.
func TestEveryDependencyHasAReason(t *testing.T) {
	page := read(t, "DEPENDENCIES.md")
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not .Main}}{{.Path}}\t{{.Indirect}}{{end}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	graph := map[string]bool{} // true for a module that only other modules need
	for line := range strings.Lines(string(out)) {
		if path, indirect, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			graph[path] = indirect == "true"
		}
	}
	rows := map[string]bool{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		path := strings.TrimSpace(cells[0])
		if len(cells) < 3 || !strings.Contains(path, ".") || strings.ContainsAny(path, " *") {
			continue // text, or a row that lists maintainers
		}
		rows[path] = true
		indirect, known := graph[path]
		if !known {
			t.Errorf("DEPENDENCIES.md lists %s, which is not required", path)
		}
		if want := 5; !indirect && len(cells) != want || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			t.Errorf("the row of %s has an empty or missing cell", path)
		}
	}
	direct := 0
	for line := range strings.Lines(read(t, "go.mod")) {
		required, comment, _ := strings.Cut(strings.TrimSpace(line), "//")
		f := strings.Fields(required) // a module and its version
		if !strings.HasPrefix(line, "\t") || len(f) != 2 {
			continue
		}
		if strings.TrimSpace(comment) == "" {
			direct++
		}
		if !rows[f[0]] && (strings.TrimSpace(comment) == "" || !strings.Contains(page, "`"+f[0]+"`")) {
			t.Errorf("DEPENDENCIES.md lacks %s: add a row, or run make dependencies", f[0])
		}
	}
	if direct < 20 {
		t.Errorf("only %d modules were found", direct)
	}
}

// The map of ARCHITECTURE.md contains every folder of actors, transport and persistence, and no
// folder that does not exist.
func TestArchitectureListsEveryPackage(t *testing.T) {
	_, drawn, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "```")
	drawn, _, _ = strings.Cut(drawn, "```")
	shown := strings.Fields(drawn)
	for _, part := range []string{"actors", "transport", "persistence"} {
		rooms, err := os.ReadDir(filepath.Join(root, part))
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range rooms {
			if room.IsDir() && !slices.Contains(shown, room.Name()+"/") {
				t.Errorf("ARCHITECTURE.md does not list %s/%s", part, room.Name())
			}
		}
	}
	for _, name := range shown {
		name = strings.TrimRight(name, ",")
		if !strings.HasSuffix(name, "/") {
			continue
		}
		found := false
		for _, above := range []string{"", "*", "*/*"} {
			folders, err := filepath.Glob(filepath.Join(root, above, name))
			if err != nil {
				t.Fatal(err)
			}
			found = found || len(folders) > 0
		}
		if !found {
			t.Errorf("ARCHITECTURE.md lists %s, which does not exist", name)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The amount of generated code must stay small. It once had 68,000 lines, and a quarter of them
// marshalled messages that were never stored.
func TestTheAmountOfGeneratedCodeStaysSmall(t *testing.T) {
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
	if lines == 0 || lines >= 25_500 {
		t.Errorf("%d lines are generated, want fewer than 25,500", lines)
	}
}

// A package that handles requests of unknown clients has its own tests, which take milliseconds.
// Tests of the whole server are not enough.
func TestPackagesOfTransportHaveTests(t *testing.T) {
	for _, p := range packages(t) {
		if below(p.ImportPath, "atelier/transport") && len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 && !strings.HasSuffix(p.ImportPath, "test") {
			t.Errorf("%s has no tests", p.ImportPath)
		}
	}
}

// Linters and client generators require these properties of an API description. Without them,
// linters reject the description, and client generators ignore it.
func TestAPIDescriptionsAreComplete(t *testing.T) {
	arrays, operations, components := 0, 0, 0
	for name, text := range map[string][]byte{
		"REST interface": rest.OpenAPI(), "messages": messages.AsyncAPI(), "handler": handler.OpenAPI(),
	} {
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		tags, ids, used := map[any]bool{}, map[any]bool{}, map[any]bool{}
		list, _ := doc["tags"].([]any)
		for _, tag := range list {
			tags[tag.(map[string]any)["name"]] = true
		}
		var visit func(at string, node any)
		visit = func(at string, node any) {
			switch n := node.(type) {
			case []any:
				for i, v := range n {
					visit(fmt.Sprint(at, "/", i), v)
				}
			case map[string]any:
				if isArray(n["type"]) {
					arrays++
					if _, ok := n["items"].(map[string]any); !ok {
						t.Errorf("%s%s: an array without an item schema", name, at)
					}
				}
				if host, ok := n["host"].(string); ok && n["protocol"] != nil && !strings.HasPrefix(host, "{") {
					t.Errorf("%s%s: the host is not a variable: %s", name, at, host)
				}
				if ref, ok := n["$ref"]; ok {
					used[ref] = true
					// A schema in an AsyncAPI document is a JSON Schema of draft 7.
					if doc["asyncapi"] != nil && len(n) > 1 {
						t.Errorf("%s%s: members next to a reference are ignored", name, at)
					}
				}
				if properties, ok := n["properties"].(map[string]any); ok || n["type"] == "object" {
					required, _ := n["required"].([]any)
					for _, r := range required {
						if properties[r.(string)] == nil {
							t.Errorf("%s%s: %s is required, but not described", name, at, r)
						}
					}
				}
				if responses := n["responses"]; responses != nil && doc["paths"] != nil && at != "/components" {
					operations++
					if id := n["operationId"]; id == nil || ids[id] {
						t.Errorf("%s%s: the operationId is missing or not unique", name, at)
					}
					ids[n["operationId"]] = true
					if n["summary"] == nil || n["description"] == nil {
						t.Errorf("%s%s: no summary, or no description", name, at)
					}
					of, _ := n["tags"].([]any)
					for _, tag := range of {
						if !tags[tag] {
							t.Errorf("%s%s: the document does not describe its tag %s", name, at, tag)
						}
					}
					if len(of) == 0 {
						t.Errorf("%s%s: no tag", name, at)
					}
				}
				for k, v := range n {
					if k != "examples" && k != "example" { // examples contain no descriptions
						visit(at+"/"+k, v)
					}
				}
			}
		}
		visit("", doc)
		for kind, of := range doc["components"].(map[string]any) {
			for component := range of.(map[string]any) {
				components++
				if kind != "securitySchemes" && !used["#/components/"+kind+"/"+component] { // security schemes are referred to by name
					t.Errorf("%s: nothing uses %s/%s", name, kind, component)
				}
			}
		}
	}
	if arrays < 50 || operations < 100 || components < 100 {
		t.Errorf("only %d arrays, %d operations and %d components were checked", arrays, operations, components)
	}
}

func isArray(typ any) bool {
	if list, ok := typ.([]any); ok {
		return slices.Contains(list, any("array"))
	}
	return typ == "array"
}

// A reference to a page of rules contains the name of an existing section.
func TestRulesThatAreReferredToExist(t *testing.T) {
	named := regexp.MustCompile(`((?:\w+/)*)RULES\.md(?:,[ \n/]+"([^"]+)")?`)
	found := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range named.FindAllStringSubmatch(string(b), -1) {
			found++
			page := filepath.Join(root, m[1], "RULES.md")
			if m[1] == "" {
				page = filepath.Join(filepath.Dir(path), "RULES.md")
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Errorf("%s refers to %s: %v", path, m[0], err)
			} else if m[2] != "" && !strings.Contains(string(text), "\n## "+m[2]+"\n") {
				t.Errorf("%s refers to the section %q, which %s does not have", path, m[2], page)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("only %d references were found", found)
	}
}

// Commands in documents are pasted into shells, and zsh treats a comment after a command as
// arguments. Links in documents must have existing targets.
func TestCommandsInDocumentsCanBePastedAndLinksExist(t *testing.T) {
	commented := regexp.MustCompile(`(?m)^    (?:make|bin/|atelier|commerce|go|git|systemctl|install|curl|cd) ?.*\s#\s.*$`)
	link := regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range commented.FindAllString(string(b), -1) {
			t.Errorf("%s: a comment follows a command: %s", path, line)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
