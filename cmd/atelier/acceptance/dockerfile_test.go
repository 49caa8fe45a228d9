package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The test runs the steps of the Dockerfile without a container engine. Each stage is a folder with
// only the files that it copies, and its commands use the programs of this machine. An earlier
// Dockerfile copied a folder that the build no longer read, and lacked a file that the build did
// read.
func TestTheImageCanBeBuilt(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "it installs the app's packages and compiles everything again")
	im := &imageBuild{t: t, stages: map[string]string{"context": buildContext(t)}, args: map[string]string{"VERSION": "1.2.3-image"}}
	text, err := os.ReadFile("../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			im.step(line)
		}
	}
	program := filepath.Join(im.root, "usr/local/bin/atelier")
	out, err := exec.Command(program, "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1.2.3-image") {
		t.Errorf("the version of the image is %s, %v", out, err)
	}
	if im.last != `ENTRYPOINT ["/usr/local/bin/atelier"] CMD ["serve"]` {
		t.Errorf("the image runs %s", im.last)
	}
	_, addr := run(t, program, t.TempDir())
	if page := public(t, addr, "GET", "/"); page.status != 200 || !strings.Contains(string(page.body), `<script`) {
		t.Errorf("the image does not contain the app: %d %.300s", page.status, page.body)
	}
}

// The app's build reads the pages of the handbook, so the stage that builds the app copies each
// page.
func TestTheDockerfileCopiesEveryPageOfTheHandbook(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../../../transport/web/app/scripts/handbook.mjs")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stage, _, _ := strings.Cut(string(file), "RUN npm run build")
	var copied []string
	for _, line := range regexp.MustCompile(`(?m)^COPY (.*) \S+$`).FindAllStringSubmatch(stage, -1) {
		copied = append(copied, strings.Fields(line[1])...)
	}
	pages := regexp.MustCompile(`'([\w/]+\.md)'\]`).FindAllStringSubmatch(string(list), -1)
	if len(pages) < 20 {
		t.Fatalf("found only %d pages", len(pages))
	}
	for _, page := range pages {
		if !slices.ContainsFunc(copied, func(source string) bool {
			match, _ := filepath.Match(source, page[1])
			return match || strings.HasPrefix(page[1], source+"/")
		}) {
			t.Errorf("the Dockerfile does not copy %s before it builds the app", page[1])
		}
	}
}

// buildContext returns the folder that an engine receives. It contains the files of the repository
// without those in .dockerignore.
func buildContext(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), "../../.."
	ignored, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("git", "ls-files", "-co", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Skipf("the files of the repository cannot be listed: %v", err)
	}
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSpace(name)
		left := false
		for pattern := range strings.FieldsSeq(string(ignored)) {
			folder, inverted := strings.CutPrefix(pattern, "!")
			if name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "*")+"/") {
				left = !inverted
			}
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if left || err != nil { // ignored, or deleted but still in the index
			continue
		}
		put(t, filepath.Join(dir, name), content)
	}
	return dir
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// imageBuild is an image that is being built.
type imageBuild struct {
	t      *testing.T
	stages map[string]string // folders by name
	args   map[string]string
	root   string // the folder of the current stage
	dir    string // the working directory, as the image names it
	last   string // the command that the image runs
}

var (
	stageName = regexp.MustCompile(`(?i)\bAS (\w+)$`)
	variable  = regexp.MustCompile(`\$\{(\w+)\}`)
)

func (im *imageBuild) step(line string) {
	im.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "FROM":
		im.root, im.dir = im.t.TempDir(), "/"
		if m := stageName.FindStringSubmatch(rest); m != nil {
			im.stages[m[1]] = im.root
		}
	case "WORKDIR":
		im.dir = rest
		if err := os.MkdirAll(filepath.Join(im.root, rest), 0o755); err != nil {
			im.t.Fatal(err)
		}
	case "COPY":
		im.copy(strings.Fields(rest))
	case "RUN":
		im.command(rest)
	case "ENTRYPOINT", "CMD":
		im.last = strings.TrimSpace(im.last + " " + line)
	case "ARG", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK":
	default:
		im.t.Fatalf("this test does not support the instruction %s", line)
	}
}

func (im *imageBuild) copy(words []string) {
	im.t.Helper()
	from := im.stages["context"]
	for strings.HasPrefix(words[0], "--") {
		if name, ok := strings.CutPrefix(words[0], "--from="); ok {
			from = im.stages[name]
		}
		words = words[1:]
	}
	to := words[len(words)-1]
	var sources []string
	for _, source := range words[:len(words)-1] {
		found, err := filepath.Glob(filepath.Join(from, source))
		if err != nil || len(found) == 0 {
			im.t.Fatalf("COPY %s: no such file, %v", source, err)
		}
		sources = append(sources, found...)
	}
	for _, path := range sources {
		at := to
		if !strings.HasPrefix(at, "/") {
			at = filepath.Join(im.dir, at)
		}
		source := filepath.Base(path)
		info, err := os.Stat(path)
		if err != nil {
			im.t.Fatal(err)
		}
		if !info.IsDir() && (strings.HasSuffix(to, "/") || to == ".") {
			at = filepath.Join(at, source)
		}
		at = filepath.Join(im.root, at)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			im.t.Fatal(err)
		}
		if info.IsDir() {
			path = fmt.Sprint(path, "/.")
			if err := os.MkdirAll(at, 0o755); err != nil {
				im.t.Fatal(err)
			}
		}
		if out, err := exec.Command("cp", "-r", path, at).CombinedOutput(); err != nil {
			im.t.Fatalf("COPY %s: %v: %s", source, err, out)
		}
	}
}

// command runs a RUN instruction in the folder of its stage. The path /empty of the image is mapped
// to the stage.
func (im *imageBuild) command(text string) {
	im.t.Helper()
	text = variable.ReplaceAllStringFunc(text, func(v string) string { return im.args[v[2:len(v)-1]] })
	text = strings.ReplaceAll(text, " /empty", " "+im.root+"/empty")
	cmd := exec.CommandContext(im.t.Context(), "sh", "-ec", text)
	cmd.Dir = filepath.Join(im.root, im.dir)
	cmd.Env = append(os.Environ(), "NEED_PROGRAMS=") // a container engine does not pass this variable on
	if out, err := cmd.CombinedOutput(); err != nil {
		im.t.Fatalf("RUN %s: %v\n%s", text, err, out)
	}
}

// The image contains only one program, so commands on pages can run only this program in a
// container. An earlier page ran cat, which the image lacks.
func TestContainersAreOnlyAskedToRunAtelier(t *testing.T) {
	t.Parallel()
	executed := regexp.MustCompile(`(?:compose|docker) exec (?:-\S+ )*(atelier|node\d) (\S+)`)
	found := 0
	for _, pattern := range []string{"../deploy/*", "../deploy/cluster/*", "../../../*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // a folder
			}
			for _, m := range executed.FindAllStringSubmatch(string(text), -1) {
				if found++; m[2] != "atelier" {
					t.Errorf("%s: %q runs a program that the image lacks", path, m[0])
				}
			}
		}
	}
	if found == 0 {
		t.Error("no command was found")
	}
}
