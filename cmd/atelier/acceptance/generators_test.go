package acceptance

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atelier/transport/rest"
)

// Versions of the generators, so that a run repeats. They come from package
// registries, which only a run with ATELIER_GENERATORS=1 asks.
const (
	pythonGenerator = "openapi-python-client==0.29.1"
	schemathesis    = "schemathesis==4.32.5"
	goGenerator     = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	goParts         = "types,client"
	goRuntime       = "github.com/oapi-codegen/runtime@v1.8.0"
	// Of Maven's registry; the JDK and Maven are the machine's.
	javaGenerator = "7.25.0"
	ogen          = "github.com/ogen-go/ogen"
	ogenVersion   = "v1.25.0"
)

var (
	typescriptPackages = []string{"openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3", "@types/node@20.19.43"}
	orvalPackages      = []string{"orval@8.38.0", "typescript@5.9.3", "@types/node@20.19.43"}
	messagePackages    = []string{"@asyncapi/modelina@5.10.1", "typescript@5.9.3", "@types/node@20.19.43"}
)

// workbench is a fresh folder in which a client is generated of the documents of a
// running server, with the files of testdata/generators that use it.
type workbench struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkbench(t *testing.T, kind string) *workbench {
	t.Helper()
	if os.Getenv("ATELIER_GENERATORS") == "" {
		t.Skip("ATELIER_GENERATORS=1 generates clients with tools of package registries")
	}
	address := common.get(t).Addr()
	w := &workbench{t, t.TempDir(), append(os.Environ(),
		"ATELIER_URL=http://"+address, "ATELIER_ADMIN="+adminID, "ATELIER_PASSWORD="+adminPW)}
	once := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for file, path := range map[string]string{
		"openapi.json": "/api/openapi.json", "asyncapi.json": "/api/asyncapi.json", "handler.json": "/handler/openapi.json",
	} {
		resp, err := once.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, resp.Status, err)
		}
		w.write(file, body)
	}
	if err := os.CopyFS(w.dir, os.DirFS(filepath.Join("testdata", "generators", kind))); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workbench) write(name string, content []byte) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), content, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// run runs a program in the folder and returns what it wrote.
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

// install installs packages of npm and says what a folder of TypeScript needs.
func (w *workbench) install(packages []string) {
	w.t.Helper()
	w.write("package.json", []byte(`{"private": true, "type": "module"}`))
	w.write("tsconfig.json", []byte(`{"compilerOptions": {"strict": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler", "lib": ["es2022", "dom", "dom.iterable"], "types": ["node"], "skipLibCheck": true}, "exclude": ["node_modules"]}`))
	w.run("npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"}, packages...)...)
}

// newGoWorkbench has a program in Go, which is no part of this module.
func newGoWorkbench(t *testing.T, kind string) *workbench {
	t.Helper()
	w := newWorkbench(t, kind)
	if err := os.Rename(filepath.Join(w.dir, "main.go.txt"), filepath.Join(w.dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "GOFLAGS=-mod=mod", "GOWORK=off")
	return w
}

// python makes an environment with a package, and returns the folder of its programs.
func (w *workbench) python(pack string) string {
	w.t.Helper()
	w.run("python3", "-m", "venv", "venv")
	bin := filepath.Join(w.dir, "venv", "bin")
	w.run(filepath.Join(bin, "pip"), "install", "--quiet", "--disable-pip-version-check", pack)
	return bin
}

// held fails the test unless the program held its workshop to the end.
func (w *workbench) held(out string) {
	w.t.Helper()
	if !strings.HasSuffix(strings.TrimSpace(out), "held") {
		w.t.Errorf("the workshop ended early:\n%s", out)
	}
}

// openapi-python-client leaves out what it cannot read, and warns: then a client
// lacks an operation, or the answer of one.
func TestAPythonClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "python")
	bin := w.python(pythonGenerator)
	python := filepath.Join(bin, "python")
	for document, client := range map[string]string{"openapi.json": "atelier_client", "handler.json": "handler_client"} {
		out := w.run(filepath.Join(bin, "openapi-python-client"), "generate", "--path", document,
			"--config", "config.yaml", "--meta", "none", "--output-path", client)
		if regexp.MustCompile(`WARNING|Unable|Cannot`).MatchString(out) {
			t.Errorf("%s: the generator leaves something out:\n%s", document, out)
		}
		// Each operation and model is a module; one that cannot be imported is no client.
		w.run(python, "-c", "import pkgutil, importlib, "+client+" as c\n"+
			"for m in pkgutil.walk_packages(c.__path__, c.__name__ + '.'): importlib.import_module(m.name)")
	}
	w.held(w.run(python, "client.py"))
}

func TestAGoClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w := newGoWorkbench(t, "go")
	for document, client := range map[string]string{"openapi.json": "atelier", "handler.json": "handler"} {
		if err := os.Mkdir(filepath.Join(w.dir, client), 0o700); err != nil {
			t.Fatal(err)
		}
		w.run("go", "run", goGenerator, "-generate", goParts, "-package", client, "-o", client+"/client.go", document)
	}
	if page, err := os.ReadFile("../deploy/WORKSHOPS.md"); err != nil || !bytes.Contains(page, []byte("`-generate "+goParts+"`")) {
		t.Errorf("the page tells another command: %v", err)
	}
	// A struct without them drops the members that are kept as they are given.
	b, err := os.ReadFile(filepath.Join(w.dir, "handler", "client.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Credential", "JWK"} {
		if !regexp.MustCompile(`type ` + name + ` struct \{[^}]*AdditionalProperties +map\[string\]`).Match(b) {
			t.Errorf("a %s of the client has no other members than those described", name)
		}
	}
	w.run("go", "mod", "init", "workshop")
	w.run("go", "get", goRuntime)
	w.run("go", "vet", "./...")
	w.held(w.run("go", "run", "."))
}

func TestATypeScriptClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "typescript")
	w.install(typescriptPackages)
	// A member with a default is required otherwise, also of what a client sends.
	w.run("npx", "openapi-typescript", "openapi.json", "-o", "atelier.d.ts", "--default-non-nullable=false")
	w.run("npx", "openapi-typescript", "handler.json", "-o", "handler.d.ts")
	w.run("npx", "tsc")
	w.held(w.run("node", "client.js"))
}

// ogen makes a client with types for each answer. It warns of header names that are not
// written as Go writes them, and uses them all the same.
func TestAnOgenClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w := newGoWorkbench(t, "ogen")
	w.run("go", "mod", "init", "workshop")
	out := w.run("go", "run", ogen+"/cmd/ogen@"+ogenVersion, "--config", "ogen.yml", "--target", "atelier", "--package", "atelier", "openapi.json")
	if n := strings.Count(out, "Skipping operation"); n > 1 {
		t.Errorf("ogen leaves out %d operations:\n%s", n, out)
	}
	w.run("go", "get", ogen+"@"+ogenVersion)
	w.run("go", "mod", "tidy")
	w.run("go", "vet", "./...")
	w.held(w.run("go", "run", "."))
}

func TestAnOrvalClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "orval")
	w.install(orvalPackages)
	w.run("npx", "orval", "--config", "orval.config.mjs")
	w.run("npx", "tsc")
	w.held(w.run("node", "client.js"))
}

// openapi-generator makes clients for Java of several libraries; okhttp-gson knows unions
// with lists.
func TestAJavaClientHoldsAWorkshop(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "java")
	program(t, "javac")
	maven := program(t, "mvn")
	w.run(maven, "-q", "-B", "dependency:copy", "-Dartifact=org.openapitools:openapi-generator-cli:"+javaGenerator, "-DoutputDirectory=.")
	w.run("java", "-jar", "openapi-generator-cli-"+javaGenerator+".jar", "generate", "-i", "openapi.json", "-g", "java", "--library", "okhttp-gson", "-o", "client")
	if err := os.Rename(filepath.Join(w.dir, "Workshop.java"), filepath.Join(w.dir, "client", "src", "main", "java", "Workshop.java")); err != nil {
		t.Fatal(err)
	}
	pom := filepath.Join("client", "pom.xml")
	w.run(maven, "-q", "-B", "-f", pom, "-DskipTests", "-Dmaven.javadoc.skip=true", "compile")
	w.run(maven, "-q", "-B", "-f", pom, "dependency:build-classpath", "-Dmdep.outputFile=classpath")
	paths, err := os.ReadFile(filepath.Join(w.dir, "client", "classpath"))
	if err != nil {
		t.Fatal(err)
	}
	w.held(w.run("java", "-cp", "client/target/classes:"+strings.TrimSpace(string(paths)), "Workshop"))
}

// modelina stops at what it cannot read, and calls AnonymousSchema what has no name.
func TestMessagesHaveModelsInTypeScriptAndPython(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "messages")
	w.install(messagePackages)
	w.run("node", "generate.mjs")
	w.run("npx", "tsc")
	models := func(pattern string) (files []string) {
		files, err := filepath.Glob(filepath.Join(w.dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	for _, pattern := range []string{"typescript/*.ts", "python/messages/*.py"} {
		files := models(pattern)
		if len(files) < 40 {
			t.Errorf("%s: only %d models", pattern, len(files))
		}
		for _, file := range files {
			if b, err := os.ReadFile(file); err != nil || bytes.Contains(b, []byte("Anonymous")) {
				t.Errorf("%s refers to a type without a name, %v", file, err)
			}
		}
	}
	w.env = append(w.env, "PYTHONPATH=python")
	w.run("python3", "-c", "import pkgutil, importlib, messages\n"+
		"for m in pkgutil.iter_modules(messages.__path__): importlib.import_module('messages.' + m.name)\n"+
		"from messages.send_step_progress import SendStepProgress\n"+
		"assert SendStepProgress({'step_number': 2, 'ref': 'move'}).step_number == 2")
}

// TestSchemathesisFindsNothing: made-up requests, twenty for each operation and those at the
// bounds of each field, are never answered by a failure of the server nor with what the
// document does not say. Not asked is whether each request is taken that the schemas allow,
// for some rules lie between fields, or between a field and what is there; nor whether each
// is refused that they do not, since null for an optional field is taken.
func TestSchemathesisFindsNothing(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "schemathesis")
	bin := w.python(schemathesis)
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute, cfg.Limits.ReadsPerMinute, cfg.Limits.UploadsPerMinute = 1<<20, 1<<20, 1<<20
	s := startServer(t, cfg)
	token := facilitator(t, s.Addr(), "").post("/admin/tokens", record{"name": "schemathesis"}).object().text("token")
	w.env = append(w.env, "ATELIER_TOKEN="+token)
	out := w.run(filepath.Join(bin, "schemathesis"), "--config-file", "schemathesis.toml", "run", "http://"+s.Addr()+"/api/openapi.json")
	tried := regexp.MustCompile(`Tested: (\d+)`).FindStringSubmatch(out)
	if tried == nil {
		t.Fatalf("it does not say what it tried:\n%s", out)
	}
	if n, err := strconv.Atoi(tried[1]); err != nil || n < len(rest.Operations())*9/10 {
		t.Errorf("it tried %d of %d operations", n, len(rest.Operations()))
	}
	facilitator(t, s.Addr(), "").get("/codelabs").want(200)
}
