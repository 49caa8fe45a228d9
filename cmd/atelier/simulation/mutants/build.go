package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// simulation is the package whose test binary is the simulator.
const simulation = "./cmd/atelier/simulation"

// tree is the unmodified module, with a folder for its builds.
type tree struct {
	root string
	dir  string          // temporary
	deps map[string]bool // folders of the simulator's packages, from the root
}

// newTree finds the module that contains the working directory. close removes the builds.
func newTree() (t *tree, err error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	t = &tree{root: strings.TrimSpace(string(out)), deps: map[string]bool{}}
	list := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", simulation)
	list.Dir = t.root
	if out, err = list.Output(); err != nil {
		return nil, fmt.Errorf("list the simulator's packages: %w", err)
	}
	for _, dir := range strings.Fields(string(out)) {
		if rel, err := filepath.Rel(t.root, dir); err == nil {
			t.deps[filepath.ToSlash(rel)] = true
		}
	}
	t.dir, err = os.MkdirTemp("", "mutants-")
	return t, err
}

func (t *tree) close() { _ = os.RemoveAll(t.dir) }

func (t *tree) read(file string) ([]byte, error) { return os.ReadFile(filepath.Join(t.root, file)) }

// simulates reports whether any of the code that a mutant changes is in the simulator.
func (t *tree) simulates(m *mutant) bool {
	return slices.ContainsFunc(m.places, func(p place) bool { return t.deps[filepath.ToSlash(filepath.Dir(p.file))] })
}

// mutated is the tree with one mutant.
type mutated struct {
	*tree
	*mutant
	overlay string // file for -overlay; "" for the unmodified tree
	binary  string // the simulator, once built
	// shared is the build that the mutant shares with others, where the mutant's number activates
	// it. shared is nil for a mutant with its own build.
	shared *sharedBuild
}

// sharedBuild is one build of many mutants. It contains the simulator, and the tests of each
// requested package.
type sharedBuild struct {
	*tree
	has    map[*mutant]bool // mutants in this build
	broken map[string]error // mutants that do not match the source or do not compile, by name
	// original is the build while no mutant is active.
	original *mutated

	mu    sync.Mutex
	tests map[string]func() (string, error) // binaries by package. Guarded by mu.
}

// share builds the simulator with all of these mutants that can share a build.
func (t *tree) share(all []*mutant) (*sharedBuild, error) {
	b := &sharedBuild{tree: t, broken: map[string]error{}, tests: map[string]func() (string, error){}}
	dir := filepath.Join(t.dir, "shared")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for _, m := range all {
		changed, _, err := m.apply(t.read)
		for _, text := range changed {
			if err == nil {
				_, err = parsed(text)
			}
		}
		if err != nil {
			b.broken[m.name] = err
		}
	}
	for {
		good := slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool { return b.broken[m.name] != nil })
		c, err := combine(good, t.read, t.root, dir)
		if err != nil {
			return nil, err
		}
		b.has = c.has
		b.original = &mutated{tree: t, mutant: &mutant{name: originalName}, overlay: c.overlay, shared: b}
		b.original.binary = filepath.Join(dir, "simulation.test")
		err = b.compile(b.original.binary, simulation)
		if others := b.others(); err == nil && len(others) > 0 {
			err = b.compile("", others...)
		}
		if err == nil {
			return b, nil
		}
		names := namedBy(err.Error())
		if len(names) == 0 {
			return nil, err
		}
		for name, text := range names {
			b.broken[name] = fmt.Errorf("%s does not compile: %s", name, strings.TrimSpace(text))
		}
	}
}

// others returns the packages that the mutants change and that are not in the simulator.
func (b *sharedBuild) others() (all []string) {
	for m := range b.has {
		for _, p := range m.places {
			if dir := path.Dir(p.file); !b.deps[dir] {
				all = append(all, "./"+dir)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compile builds the tests of a package into a file. If to is "", it only compiles packages.
func (b *sharedBuild) compile(to string, packages ...string) error {
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", to}
	if to == "" {
		args = []string{"build"}
	}
	cmd := exec.Command("go", append(append(args, "-overlay="+b.original.overlay), packages...)...) //nolint:gosec // the packages come from mutants.txt
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, bytes.TrimSpace(out))
	}
	return nil
}

// testOf returns the path of the test binary of a package. It builds the binary once.
func (b *sharedBuild) testOf(pkg string) (string, error) {
	b.mu.Lock()
	build := b.tests[pkg]
	if build == nil {
		to := filepath.Join(b.dir, "shared", fmt.Sprint(len(b.tests), ".test"))
		build = sync.OnceValues(func() (string, error) { return to, b.compile(to, pkg) })
		b.tests[pkg] = build
	}
	b.mu.Unlock()
	return build()
}

// mutate returns the tree with a mutant. It writes the mutant's overlay, unless the mutant shares a
// build.
func (b *sharedBuild) mutate(m *mutant) (*mutated, error) {
	if err := b.broken[m.name]; err != nil {
		return nil, err
	}
	if b.has[m] {
		return &mutated{tree: b.tree, mutant: m, overlay: b.original.overlay, binary: b.original.binary, shared: b}, nil
	}
	changed, _, err := m.apply(b.read)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, m.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	x := &mutated{tree: b.tree, mutant: m, overlay: filepath.Join(dir, "overlay.json")}
	return x, overlay(changed, b.root, dir, x.overlay)
}

// build builds the simulator with a mutant that has its own build.
func (x *mutated) build(flags ...string) error {
	if x.shared != nil {
		return nil
	}
	to := filepath.Join(x.dir, x.name, "simulation.test")
	args := append([]string{"test", "-c", "-ldflags=-s -w", "-o", to}, flags...)
	if x.overlay != "" {
		args = append(args, "-overlay="+x.overlay)
	}
	cmd := exec.Command("go", append(args, simulation)...) //nolint:gosec // the packages come from mutants.txt
	cmd.Dir = x.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not compile: %w\n%s", x.name, err, bytes.TrimSpace(out))
	}
	x.binary = to
	return nil
}

// clean removes this mutant's builds.
func (x *mutated) clean() {
	if x.shared == nil {
		_ = os.RemoveAll(filepath.Join(x.dir, x.name))
	}
}

// environment returns the environment for a program that was built with the mutant.
func (x *mutated) environment(more ...string) []string {
	return append(append(os.Environ(), fmt.Sprint(switchedOn, "=", x.number)), more...)
}

// originalName is the name of the mutant that changes nothing.
const originalName = "original"
