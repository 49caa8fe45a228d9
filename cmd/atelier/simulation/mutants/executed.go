package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// coverSeeds is the number of seeds that are run to determine which lines are executed.
const coverSeeds = 200

// unexecuted returns the mutants with a changed place that was never run, neither by seeds of the
// simulation nor by the tests in their entries. The caller omits mutants that were found, because
// their lines are known to matter.
func (t *tree) unexecuted(all []*mutant) (map[*mutant]bool, error) {
	out := map[*mutant]bool{}
	if len(all) == 0 {
		return out, nil
	}
	var packages []string
	for _, m := range all {
		for _, p := range m.places {
			packages = append(packages, "./"+path.Dir(p.file))
		}
	}
	slices.Sort(packages)
	cover := "-coverpkg=" + strings.Join(slices.Compact(packages), ",")
	simulated, err := t.coverSeeds(cover)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		_, spans, err := m.apply(t.read)
		if err != nil {
			return nil, err
		}
		ran := slices.Clone(simulated)
		for _, test := range m.tests {
			blocks, err := t.coverTest(cover, test)
			if err != nil {
				return nil, err
			}
			ran = append(ran, blocks...)
		}
		for file, places := range spans {
			for _, at := range places {
				out[m] = out[m] || !executed(ran, file, at)
			}
		}
	}
	return out, nil
}

// executed reports whether one of the statements in a span was run. A span without a
// statement, such as a constant, counts as run.
func executed(blocks []block, file string, at span) bool {
	statements := false
	for _, b := range blocks {
		if strings.HasSuffix(b.file, "/"+file) && b.first <= at.last && at.first <= b.last {
			if statements = true; b.count > 0 {
				return true
			}
		}
	}
	return !statements
}

// block is a part of a file, as counted in a cover profile.
type block struct {
	file        string
	first, last int
	count       int
}

func (t *tree) coverSeeds(cover string) (all []block, err error) {
	x := &mutated{tree: t, mutant: &mutant{name: "covered"}}
	if err := os.Mkdir(filepath.Join(t.dir, x.name), 0o700); err != nil {
		return nil, err
	}
	defer x.clean()
	if err := x.build("-cover", "-covermode=atomic", cover); err != nil {
		return nil, err
	}
	// The seeds run in parts, because a part that fails can leave no profile.
	profile := filepath.Join(t.dir, x.name, "profile")
	const part = 20
	for first := 1; first < coverSeeds; first += part {
		_ = os.Remove(profile)
		cmd := exec.Command(x.binary, "-test.run=^TestSimulation$", "-test.timeout=2m", "-worker", //nolint:gosec // built here
			fmt.Sprint("-first=", first), fmt.Sprint("-seeds=", part), "-test.coverprofile="+profile)
		cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "GOMAXPROCS=1")
		failed := cmd.Run()
		if _, err := os.Stat(profile); failed != nil && os.IsNotExist(err) {
			continue
		}
		blocks, err := readProfile(profile)
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

func (t *tree) coverTest(cover string, test packageTest) ([]block, error) {
	profile := filepath.Join(t.dir, "profile")
	cmd := exec.Command("go", "test", "-count=1", "-vet=off", "-covermode=atomic", cover, "-coverprofile="+profile, "-run", test.run, test.pkg) //nolint:gosec // the test comes from mutants.txt
	cmd.Dir = t.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test %s fails without a mutant: %w\n%s", test, err, out)
	}
	return readProfile(profile)
}

// readProfile reads lines of "file:line.column,line.column statements count".
func readProfile(path string) (all []block, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i == 0 { // the line with the mode
			continue
		}
		var b block
		var column int
		colon := strings.LastIndexByte(line, ':')
		if colon < 0 {
			return nil, fmt.Errorf("%s: %q is not a line of a cover profile", path, line)
		}
		b.file = line[:colon]
		var statements int
		if _, err := fmt.Sscanf(line[colon+1:], "%d.%d,%d.%d %d %d", &b.first, &column, &b.last, &column, &statements, &b.count); err != nil {
			return nil, fmt.Errorf("%s: %q is not a line of a cover profile", path, line)
		}
		all = append(all, b)
	}
	return all, nil
}
