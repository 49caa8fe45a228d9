package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const rules = "Atelier."

func main() {
	vale := flag.String("vale", "bin/vale", "path of the program Vale")
	clean := flag.Bool("clean", false, "print errors in the paths of .vale/clean only, and fail if there are any")
	extend := flag.Bool("extend", false, "add the paths without errors to .vale/clean")
	flag.Parse()
	failed, err := run(*vale, *clean, *extend, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

const cleanList = ".vale/clean"

// run checks the tree in the current folder.
func run(vale string, onlyClean, extend bool, below []string, out io.Writer) (failed bool, err error) {
	b, err := os.ReadFile(cleanList)
	if err != nil {
		return false, err
	}
	promised := parsePromises(string(b))
	list, err := exec.Command("git", append([]string{"ls-files", "-co", "--exclude-standard", "-z", "--"}, below...)...).Output()
	if err != nil {
		return false, fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
	found, read, err := check(vale, files)
	switch {
	case err != nil:
		return false, err
	case extend:
		return false, os.WriteFile(cleanList, []byte(extended(string(b), read, found)), 0o644)
	case onlyClean:
		found = slices.DeleteFunc(found, func(f finding) bool {
			return !slices.ContainsFunc(promised, func(p promise) bool { return p.broken(f) })
		})
	default:
		count(out, found)
	}
	for _, f := range found {
		fmt.Fprintf(out, "%s:%d: %s: %s: %s\n", f.path, f.line, f.Severity, f.rule(), f.Message)
	}
	return onlyClean && len(found) > 0, nil
}

type finding struct {
	Check, Message, Severity string
	Line                     int // in the page
	path                     string
	line                     int // in the source
}

func (f finding) rule() string { return strings.TrimPrefix(f.Check, rules) }

// promise is a line of .vale/clean. It states that a file, or the files of a folder, have no
// finding of the given rules. The folder "." is the whole tree.
type promise struct {
	path  string
	rules []string // empty means every rule, at the level error
}

func parsePromises(text string) (out []promise) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			out = append(out, promise{fields[0], fields[1:]})
		}
	}
	return out
}

func (p promise) broken(f finding) bool {
	if p.path != "." && p.path != f.path && p.path != filepath.Dir(f.path) {
		return false
	}
	return f.Severity == "error" && len(p.rules) == 0 || slices.Contains(p.rules, f.rule())
}

// extended returns the list with every path that has no error: pages by name, and other files by
// folder. Comments and lines with rules stay.
func extended(list string, files []string, found []finding) string {
	unit := func(file string) string {
		if dir := filepath.Dir(file); dir != "." && filepath.Ext(file) != ".md" {
			return dir
		}
		return file
	}
	clean := map[string]bool{}
	for _, f := range files {
		clean[unit(f)] = true
	}
	for _, f := range found {
		if f.Severity == "error" {
			delete(clean, unit(f.path))
			delete(clean, filepath.Dir(f.path)) // a folder includes its pages
		}
	}
	var b strings.Builder
	for line := range strings.Lines(list) {
		if p := parsePromises(line); len(p) == 0 || len(p[0].rules) > 0 {
			b.WriteString(line)
		} else {
			clean[p[0].path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(clean)) {
		b.WriteString(path + "\n")
	}
	return b.String()
}

// check extracts the prose of the files into a temporary folder, and runs Vale on the folder.
func check(vale string, files []string) (found []finding, read []string, err error) {
	vale, err = filepath.Abs(vale)
	if err != nil {
		return nil, nil, err
	}
	settings, err := filepath.Abs(".vale/vale.ini")
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "prose")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	pages, named := map[string]*page{}, map[string]string{}
	for _, file := range files {
		if skipped(file) {
			continue
		}
		source, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // the file is deleted, but the deletion is not committed yet
		}
		if err != nil {
			return nil, nil, err
		}
		p, ok := extract(file, source)
		if !ok || p.text.Len() == 0 {
			continue
		}
		name := fmt.Sprintf("%d.txt", len(pages))
		if filepath.Ext(file) == ".md" {
			name = fmt.Sprintf("%d.md", len(pages))
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(p.text.String()), 0o600); err != nil {
			return nil, nil, err
		}
		pages[name], named[name] = p, file
		read = append(read, file)
	}
	cmd := exec.Command(vale, "--no-exit", "--no-global", "--output=JSON", "--config="+settings, dir)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	answer, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %s%s", vale, err, answer, complaints.String())
	}
	var byPage map[string][]finding
	if err := json.Unmarshal(answer, &byPage); err != nil {
		return nil, nil, fmt.Errorf("%s: the findings are not JSON: %w", vale, err)
	}
	for at, list := range byPage {
		name := filepath.Base(at)
		for _, f := range list {
			f.path, f.line = named[name], 1
			if lines := pages[name].lines; f.Line >= 1 && f.Line <= len(lines) {
				f.line = lines[f.Line-1]
			}
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Message, b.Message))
	})
	return found, read, nil
}

// skipped reports whether a file is excluded. Examples and test inputs are data, and Vale's rules
// quote what they forbid. config.toml and PACKAGES.md are generated from texts that are checked.
func skipped(file string) bool {
	return strings.Contains(file, "testdata/") || strings.HasPrefix(file, ".vale/") || strings.HasPrefix(file, "transport/web/e2e/first-service/") ||
		strings.HasPrefix(file, "transport/sample/") || file == "config.toml" || file == "PACKAGES.md"
}

// count prints the number of findings of each rule, then of each folder.
func count(out io.Writer, found []finding) {
	type key struct{ severity, rule string }
	byRule, byFolder := map[key]int{}, map[string]map[string]int{}
	for _, f := range found {
		byRule[key{f.Severity, f.rule()}]++
		parts := strings.Split(f.path, "/")
		folder := strings.Join(parts[:min(len(parts)-1, 2)], "/")
		if folder == "" {
			folder = f.path
		}
		if byFolder[folder] == nil {
			byFolder[folder] = map[string]int{}
		}
		byFolder[folder][f.Severity]++
	}
	for _, k := range slices.SortedFunc(maps.Keys(byRule), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), -cmp.Compare(byRule[a], byRule[b]), cmp.Compare(a.rule, b.rule))
	}) {
		fmt.Fprintf(out, "%6d  %-10s  %s\n", byRule[k], k.severity, k.rule)
	}
	fmt.Fprintf(out, "\n%8s %8s %10s\n", "error", "warning", "suggestion")
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		n := byFolder[folder]
		fmt.Fprintf(out, "%8d %8d %10d  %s\n", n["error"], n["warning"], n["suggestion"], folder)
	}
	fmt.Fprintln(out)
}
