package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// simulation is the package whose test is the simulator.
const simulation = "./cmd/atelier/simulation"

// tree is the module as it is, and a folder for what is built of it.
type tree struct {
	root string
	dir  string          // temporary
	deps map[string]bool // folders of the packages in the simulator, from the root
}

// newTree finds the module that the working directory is in. close removes what was
// built.
func newTree() (t *tree, err error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("look for the module: %w", err)
	}
	t = &tree{root: strings.TrimSpace(string(out)), deps: map[string]bool{}}
	list := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", simulation)
	list.Dir = t.root
	if out, err = list.Output(); err != nil {
		return nil, fmt.Errorf("look for the simulator's packages: %w", err)
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

// simulates says whether what a mutant changes is in the simulator.
func (t *tree) simulates(m *mutant) bool {
	return slices.ContainsFunc(m.places, func(p place) bool { return t.deps[filepath.ToSlash(filepath.Dir(p.file))] })
}

// mutated is a mutant beside the tree.
type mutated struct {
	*tree
	*mutant
	overlay string // file for -overlay; "" for the tree as it is
	binary  string // of the simulator, once it is built
}

// mutate lays what a mutant changes beside the tree.
func (t *tree) mutate(m *mutant) (*mutated, error) {
	changed, _, err := m.apply(t.read)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(t.dir, m.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range changed {
		path := filepath.Join(dir, fmt.Sprint(len(overlay.Replace), "-", filepath.Base(file)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[filepath.Join(t.root, file)] = path
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	x := &mutated{tree: t, mutant: m, overlay: filepath.Join(dir, "overlay.json")}
	return x, os.WriteFile(x.overlay, b, 0o600)
}

// original is the tree as it is, in the shape of a mutant.
func (t *tree) original() (*mutated, error) {
	x := &mutated{tree: t, mutant: &mutant{name: "original"}}
	return x, os.Mkdir(filepath.Join(t.dir, x.name), 0o700)
}

// build builds the simulator.
func (x *mutated) build(flags ...string) error {
	path := filepath.Join(x.dir, x.name, "simulation.test")
	args := append([]string{"test", "-c", "-ldflags=-s -w", "-o", path}, flags...)
	if x.overlay != "" {
		args = append(args, "-overlay="+x.overlay)
	}
	cmd := exec.Command("go", append(args, simulation)...) //nolint:gosec // of the list
	cmd.Dir = x.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not compile: %w\n%s", x.name, err, bytes.TrimSpace(out))
	}
	x.binary = path
	return nil
}

// clean removes what was built.
func (x *mutated) clean() { _ = os.RemoveAll(filepath.Join(x.dir, x.name)) }
