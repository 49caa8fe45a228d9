package acceptance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atelier/transport/rest"
)

const schemathesis = "schemathesis==4.32.5"

// workbench is a copy of a folder of transport/rest/clients, or of testdata, next to a running
// server.
type workbench struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkbench(t *testing.T, from string) *workbench {
	t.Helper()
	if os.Getenv("ATELIER_GENERATORS") == "" {
		t.Skip("ATELIER_GENERATORS=1 generates clients with tools of package registries")
	}
	w := &workbench{t, t.TempDir(), append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod",
		"ATELIER_URL=http://"+common.get(t).Addr(), "ATELIER_ADMIN="+adminID, "ATELIER_PASSWORD="+adminPW)}
	if err := os.CopyFS(w.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return w
}

// run runs a program in the folder and returns its output.
func (w *workbench) run(program string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// read returns the content of a file in the folder.
func (w *workbench) read(name string) []byte {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// indented matches the lines of a page that are commands.
var indented = regexp.MustCompile(`(?m)^ {4}(.+)$`)

// follow copies a folder of clients and runs the commands of its page. It returns the output of
// each command, in order.
func follow(t *testing.T, client string) (w *workbench, wrote []string) {
	t.Helper()
	w = newWorkbench(t, filepath.Join("..", "..", "..", "transport", "rest", "clients", client))
	for _, line := range indented.FindAllStringSubmatch(string(w.read("README.md")), -1) {
		wrote = append(wrote, w.run("sh", "-c", line[1]))
	}
	if len(wrote) == 0 {
		t.Fatal("the page has no command")
	}
	return w, wrote
}

// holds follows the page of a client that runs a workshop. The last output must end with "held".
func holds(t *testing.T, client string) (w *workbench, wrote []string) {
	t.Helper()
	w, wrote = follow(t, client)
	if last := wrote[len(wrote)-1]; !strings.HasSuffix(strings.TrimSpace(last), "held") {
		t.Errorf("the workshop ended early:\n%s", last)
	}
	return w, wrote
}

// openapi-python-client omits everything that it cannot parse, with a warning. The client would
// then lack an operation or a response, so the test forbids warnings.
func TestAPythonClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w, wrote := holds(t, "python")
	if warning := regexp.MustCompile(`.*(WARNING|Unable|Cannot).*`).FindString(strings.Join(wrote, "")); warning != "" {
		t.Errorf("the generator omits a part of the interface: %s", warning)
	}
	// Each operation and model is a module, and each module must be importable.
	for _, client := range []string{"atelier_client", "handler_client"} {
		w.run("venv/bin/python", "-c", "import pkgutil, importlib, "+client+" as c\n"+
			"for m in pkgutil.walk_packages(c.__path__, c.__name__ + '.'): importlib.import_module(m.name)")
	}
}

func TestAGoClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w, _ := holds(t, "go")
	// A struct without AdditionalProperties drops fields that must be returned unchanged.
	b := w.read("handler/client.go")
	for _, name := range []string{"Credential", "JWK"} {
		if !regexp.MustCompile(`type ` + name + ` struct \{[^}]*AdditionalProperties +map\[string\]`).Match(b) {
			t.Errorf("the client's %s has no field for additional members", name)
		}
	}
}

func TestATypeScriptClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	holds(t, "typescript")
}

// ogen generates types for each response. It warns about header names whose spelling differs from
// Go's, but uses them.
func TestAnOgenClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	_, wrote := holds(t, "ogen")
	if out := strings.Join(wrote, ""); strings.Count(out, "Skipping operation") > 1 {
		t.Errorf("ogen skips more than one operation:\n%s", out)
	}
}

func TestAnOrvalClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	holds(t, "orval")
}

// Of openapi-generator's Java libraries, the page uses okhttp-gson, because it reads arrays with
// elements of different types.
func TestAJavaClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	program(t, "javac")
	program(t, "mvn")
	holds(t, "java")
}

// modelina stops at schemas that it cannot parse, and names unnamed schemas AnonymousSchema.
func TestMessagesHaveModelsInTypeScriptAndPython(t *testing.T) {
	t.Parallel()
	w, wrote := follow(t, "messages")
	if last := wrote[len(wrote)-1]; last != "2\n" {
		t.Errorf("the last command printed %q", last)
	}
	for _, pattern := range []string{"typescript/*.ts", "python/messages/*.py"} {
		files, err := filepath.Glob(filepath.Join(w.dir, pattern))
		if err != nil || len(files) < 40 {
			t.Errorf("%s matches only %d models, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if b, err := os.ReadFile(file); err != nil || bytes.Contains(b, []byte("Anonymous")) {
				t.Errorf("%s refers to a type without a name, %v", file, err)
			}
		}
	}
	w.env = append(w.env, "PYTHONPATH=python")
	w.run("python3", "-c", "import pkgutil, importlib, messages\n"+
		"for m in pkgutil.iter_modules(messages.__path__): importlib.import_module('messages.' + m.name)")
}

// Schemathesis generates twenty requests for each operation, and more at the bounds of each
// field. No response is an internal error or undocumented. The test does not verify that the
// server accepts every request that the schemas allow, since some rules concern several fields,
// or a field and the stored state. Nor does it verify that the server refuses all others, since
// it accepts null for an optional field.
func TestSchemathesisFindsNothing(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, filepath.Join("testdata", "generators", "schemathesis"))
	w.run("python3", "-m", "venv", "venv")
	w.run("venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", schemathesis)
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute, cfg.Limits.ReadsPerMinute, cfg.Limits.UploadsPerMinute = 1<<20, 1<<20, 1<<20
	s := startServer(t, cfg)
	token := facilitator(t, s.Addr(), "").post("/admin/tokens", record{"name": "schemathesis"}).object().text("token")
	w.env = append(w.env, "ATELIER_TOKEN="+token)
	out := w.run("venv/bin/schemathesis", "--config-file", "schemathesis.toml", "run", "http://"+s.Addr()+"/api/openapi.json")
	tried := regexp.MustCompile(`Tested: (\d+)`).FindStringSubmatch(out)
	if tried == nil {
		t.Fatalf("schemathesis does not report how many operations it tried:\n%s", out)
	}
	if n, err := strconv.Atoi(tried[1]); err != nil || n < len(rest.Operations())*9/10 {
		t.Errorf("schemathesis tried %d of %d operations", n, len(rest.Operations()))
	}
	facilitator(t, s.Addr(), "").get("/codelabs").want(200)
}
