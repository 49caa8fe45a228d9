package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// finding is the seed or package test that found a mutant.
type finding struct {
	seed    uint64 // 0 for a test
	oracle  string // the oracle that found it; "" for a test
	test    packageTest
	seconds float64 // duration of the runs of the seed or test; for a test, it can include the build
}

func (f finding) String() string {
	if f.seed > 0 {
		return fmt.Sprintf("seed %d in %.1f s (%s)", f.seed, f.seconds, f.oracle)
	}
	return fmt.Sprintf("test in %.1f s (%s)", f.seconds, f.test)
}

// readFound reads found.txt. It has a line for each mutant that was found, with five fields
// separated by tabs: name, "seed" or "test", the seed or package, seconds, and the oracle or
// regexp. A missing file means that no mutant was found yet.
func readFound(path string) (map[string]finding, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return map[string]finding{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]finding{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		bad := fmt.Errorf("%s line %d: %q is not a finding", path, i+1, line)
		if len(fields) != 5 {
			return nil, bad
		}
		var f finding
		if f.seconds, err = strconv.ParseFloat(fields[3], 64); err != nil {
			return nil, bad
		}
		switch fields[1] {
		case "seed":
			f.oracle = fields[4]
			if f.seed, err = strconv.ParseUint(fields[2], 10, 64); err != nil || f.seed == 0 {
				return nil, bad
			}
		case "test":
			f.test = packageTest{fields[2], fields[4]}
		default:
			return nil, bad
		}
		all[fields[0]] = f
	}
	return all, nil
}

func writeFound(path string, mutants []*mutant, found map[string]finding) error {
	b := []byte("# What found each mutant. Written by make simulate-mutants, which tries it first.\n")
	for _, m := range mutants {
		f, ok := found[m.name]
		switch {
		case !ok:
		case f.seed > 0:
			b = fmt.Appendf(b, "%s\tseed\t%d\t%.1f\t%s\n", m.name, f.seed, f.seconds, f.oracle)
		default:
			b = fmt.Appendf(b, "%s\ttest\t%s\t%.1f\t%s\n", m.name, f.test.pkg, f.seconds, f.test.run)
		}
	}
	next := path + ".next"
	if err := os.WriteFile(next, b, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}
