package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// count contains the number of tests by result. For Go, it counts only top-level tests.
type count struct{ passed, failed, skipped int }

func (c *count) add(d count) {
	c.passed, c.failed, c.skipped = c.passed+d.passed, c.failed+d.failed, c.skipped+d.skipped
}

// seen reads the output of a suite: events of "go test -json", and the closing lines of Node's test
// runner and of Vitest. It prints a line for each package, the output of failed tests, and every
// line that is not such an event.
type seen struct {
	count
	failures []*failure

	out    *lines
	reason *failure // the failed browser test whose reason is being read, or nil
	place  string   // the last line with the place of a failed browser test
	last   []string // the last maxReasons lines that are not events
	prefix string
	held   map[string][]string // output so far, by package and test
}

// failure is a failed test and its output about the reason.
type failure struct {
	name string
	why  []string // at most maxReasons lines
}

// maxReasons is the maximum number of lines of a test's output in the final table.
const maxReasons = 12

func newSeen(out *lines, prefix string) *seen {
	return &seen{out: out, prefix: prefix, held: map[string][]string{}}
}

// event is an event of "go test -json".
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
	FailedBuild                               string
}

var (
	nodeLine = regexp.MustCompile(`^(?:#|ℹ) (pass|fail|skipped|cancelled) (\d+)$`)
	// Tests  1 failed | 22 passed | 3 skipped (26)
	vitestLine = regexp.MustCompile(`^\s*Tests\s+(.*)\(\d+\)`)
	vitestPart = regexp.MustCompile(`(\d+) (failed|passed|skipped|todo)`)
	// ✖ a story (12.3ms)
	//  FAIL  src/a.test.ts > a unit
	browserFailed = regexp.MustCompile(`^\s*(?:not ok \d+ - |✖ | FAIL  )(.*?)(?: \([\d.]+ms\))?$`)
	// The first line of a stack, or the beginning of the next test.
	reasonEnds = regexp.MustCompile(`^\s*(?:at |❯ |✔|✖|ℹ|test at )`)
	colour     = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// line processes the next line.
func (s *seen) line(text string) {
	if strings.HasPrefix(text, "{") {
		var e event
		if err := json.Unmarshal([]byte(text), &e); err == nil && e.Action != "" {
			s.event(e)
			return
		}
	}
	s.out.print(s.prefix + text)
	plain := colour.ReplaceAllString(text, "")
	if s.last = append(s.last, plain); len(s.last) > maxReasons {
		s.last = s.last[1:]
	}
	if strings.HasPrefix(plain, "test at ") {
		s.place = plain
	}
	if m := nodeLine.FindStringSubmatch(plain); m != nil {
		s.addCount(m[1], m[2])
	} else if m := vitestLine.FindStringSubmatch(plain); m != nil {
		for _, part := range vitestPart.FindAllStringSubmatch(m[1], -1) {
			s.addCount(part[2], part[1])
		}
	} else if m := browserFailed.FindStringSubmatch(plain); m != nil && !strings.HasPrefix(m[1], "failing tests") {
		s.reason = s.named(m[1])
		s.reason.why = nil // Node's runner prints everything twice
		if s.place != "" {
			s.reason.why = []string{s.place}
		}
		s.place = ""
	} else if s.reason != nil {
		s.because(plain)
	}
}

// because adds a line to the reason that is being read.
func (s *seen) because(text string) {
	ends := reasonEnds.MatchString(text)
	if text = strings.TrimSpace(text); text != "" && !strings.HasPrefix(text, "✔") {
		s.reason.why = append(s.reason.why, text)
	}
	if ends || len(s.reason.why) >= maxReasons {
		s.reason = nil
	}
}

// named returns the failure with a name, and adds it if it is new.
func (s *seen) named(name string) *failure {
	for _, f := range s.failures {
		if f.name == name {
			return f
		}
	}
	f := &failure{name: name}
	s.failures = append(s.failures, f)
	return f
}

func (s *seen) addCount(how, number string) {
	n, _ := strconv.Atoi(number)
	switch how {
	case "pass", "passed":
		s.passed += n
	case "fail", "failed", "cancelled":
		s.failed += n
	case "skipped", "todo":
		s.skipped += n
	}
}

func (s *seen) event(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.held[key] = append(s.held[key], strings.TrimSuffix(e.Output, "\n"))
		return
	case "build-output":
		s.out.print(s.prefix + strings.TrimSuffix(e.Output, "\n"))
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	inner := strings.Contains(e.Test, "/")
	if e.Action == "fail" && e.Test != "" {
		top, _, _ := strings.Cut(e.Test, "/")
		s.named(e.Package + " " + top).addOutput(s.held[key])
		s.show(fmt.Sprintf("%s: %s failed", e.Package, e.Test), s.held[key])
	}
	switch {
	case e.Test == "":
		s.packageEnds(e, s.held[key])
	case inner:
	case e.Action == "pass":
		s.passed++
	case e.Action == "skip":
		s.skipped++
	default:
		s.failed++
	}
	delete(s.held, key)
}

// addOutput adds the last lines of the output of a Go test.
func (f *failure) addOutput(wrote []string) {
	wrote = wrote[max(0, len(wrote)-maxReasons):]
	f.why = append(f.why, wrote[:min(len(wrote), maxReasons-len(f.why))]...)
}

// packageEnds prints a package's line. If the package failed outside its tests, or before a test
// ended, this counts as a separate failure, and the output is shown.
func (s *seen) packageEnds(e event, wrote []string) {
	if e.Action != "fail" {
		if e.Action == "pass" {
			s.out.print(fmt.Sprintf("%sok   %-52s %6.1fs", s.prefix, e.Package, e.Elapsed))
		}
		return
	}
	s.out.print(fmt.Sprintf("%sFAIL %-52s %6.1fs", s.prefix, e.Package, e.Elapsed))
	running := s.running(e.Package)
	if s.hasFailed(e.Package) && len(running) == 0 {
		return
	}
	for _, key := range running { // including the test that panicked or timed out
		s.show(key+" had not ended", s.held[key])
		delete(s.held, key)
	}
	s.show(e.Package+" failed outside its tests", wrote)
	s.failed++
	s.named(strings.TrimSpace(e.Package + " " + e.FailedBuild)).addOutput(wrote)
}

// running returns the tests of a package that began and did not end.
func (s *seen) running(pkg string) (keys []string) {
	for key := range s.held {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s *seen) hasFailed(pkg string) bool {
	for _, f := range s.failures {
		if strings.HasPrefix(f.name, pkg+" ") {
			return true
		}
	}
	return false
}

// maxShown is the maximum number of lines printed for a failed test. The last lines are printed.
const maxShown = 400

func (s *seen) show(title string, wrote []string) {
	s.out.print(s.prefix + "--- " + title)
	for _, text := range wrote[max(0, len(wrote)-maxShown):] {
		s.out.print(s.prefix + "    " + text)
	}
}

// end is called after the suite has printed everything.
func (s *seen) end() { s.held = nil }
