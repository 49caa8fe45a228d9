package main

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of the source that breaks a guarantee.
type mutant struct {
	number     int // position in the list, from 1
	name       string
	promise    string
	places     []place
	tests      []packageTest
	equivalent string // the reason why no run can find the mutant; "" if it must be found
}

// place is a sequence of lines of a file, and their replacement.
type place struct {
	file     string // path from the module's root
	old, new []string
}

// packageTest is a go test of one package.
type packageTest struct{ pkg, run string }

func (t packageTest) String() string { return t.pkg + " -run " + t.run }

// parse reads a list of mutants.
func parse(list []byte) (all []*mutant, err error) {
	var m *mutant
	var file string
	var at *place
	names := map[string]bool{}
	number := 0
	lines := bufio.NewScanner(bytes.NewReader(list))
	for lines.Scan() {
		number++
		line := lines.Text()
		fail := func(format string, args ...any) error {
			return fmt.Errorf("line %d: %s", number, fmt.Sprintf(format, args...))
		}
		if name, begins := strings.CutPrefix(line, "== "); begins {
			if names[name] || strings.ContainsAny(name, " \t") || name == "" {
				return nil, fail("%q is not a new name", name)
			}
			names[name] = true
			m, file, at = &mutant{number: len(all) + 1, name: name}, "", nil
			all = append(all, m)
			continue
		}
		switch {
		case line == "":
			at = nil
			continue
		case line[0] == '#':
			continue
		case m == nil:
			return nil, fail("%q is before the first mutant", line)
		case strings.ContainsRune(" -+", rune(line[0])):
			if file == "" {
				return nil, fail("%q needs a file: line before it", line)
			}
			if at == nil {
				m.places = append(m.places, place{file: file})
				at = &m.places[len(m.places)-1]
			}
			if line[0] != '+' {
				at.old = append(at.old, line[1:])
			}
			if line[0] != '-' {
				at.new = append(at.new, line[1:])
			}
			continue
		}
		key, value, _ := strings.Cut(line, ": ")
		at = nil
		switch key {
		case "promise":
			m.promise = value
		case "file":
			file = value
		case "test":
			pkg, run, ok := strings.Cut(value, " -run ")
			if !ok {
				return nil, fail("%q is not a package -run regexp", value)
			}
			m.tests = append(m.tests, packageTest{pkg, run})
		case "equivalent":
			m.equivalent = value
		default:
			return nil, fail("%q is not a known kind of line", line)
		}
	}
	for _, m := range all {
		if m.promise == "" || len(m.places) == 0 {
			return nil, fmt.Errorf("mutant %s needs a promise and a place", m.name)
		}
	}
	return all, lines.Err()
}

// pick returns the mutants with the given numbers or names.
func pick(all []*mutant, which string) (chosen []*mutant, err error) {
	for _, one := range strings.Split(which, ",") {
		i := slices.IndexFunc(all, func(m *mutant) bool { return m.name == one || strconv.Itoa(m.number) == one })
		if i < 0 {
			return nil, fmt.Errorf("there is no mutant %q; the list has %d", one, len(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// span is an inclusive range of lines of a file, counted from 1.
type span struct{ first, last int }

// apply returns the files that a mutant changes, in their changed form, and the places of the
// changes. read returns the text of a file.
func (m *mutant) apply(read func(file string) ([]byte, error)) (changed map[string][]byte, spans map[string][]span, err error) {
	changed, spans = map[string][]byte{}, map[string][]span{}
	for _, p := range m.places {
		text := changed[p.file]
		if text == nil {
			if text, err = read(p.file); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", m.name, err)
			}
		}
		original, err := read(p.file)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
		old := []byte("\n" + strings.Join(p.old, "\n") + "\n")
		if n := bytes.Count(append([]byte("\n"), original...), old); n != 1 || len(p.old) == 0 {
			return nil, nil, fmt.Errorf("%s: its lines must be in %s once, but are there %d times: %q", m.name, p.file, n, p.old)
		}
		before, after, ok := bytes.Cut(append([]byte("\n"), text...), old)
		if !ok {
			return nil, nil, fmt.Errorf("%s: two places overlap in %s", m.name, p.file)
		}
		put := "\n" + strings.Join(p.new, "\n") + "\n"
		if len(p.new) == 0 {
			put = "\n"
		}
		changed[p.file] = append(append(bytes.Clone(before), put...), after...)[1:]
		at := bytes.Count(bytes.Split(append([]byte("\n"), original...), old)[0], []byte("\n")) + 1
		spans[p.file] = append(spans[p.file], p.changed(at))
	}
	return changed, spans, nil
}

// changed returns the differing lines of a place that begins at the given line.
func (p place) changed(at int) span {
	same := 0
	for same < min(len(p.old), len(p.new)) && p.old[same] == p.new[same] {
		same++
	}
	end := 0
	for end < min(len(p.old), len(p.new))-same && p.old[len(p.old)-1-end] == p.new[len(p.new)-1-end] {
		end++
	}
	// An added line is assigned to an adjacent source line.
	return span{at + min(same, len(p.old)-1), at + max(len(p.old)-1-end, min(same, len(p.old)-1))}
}
