package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutputOfSuitesIsCounted(t *testing.T) {
	go1 := func(action, test string) string {
		return fmt.Sprintf(`{"Action":%q,"Package":"a/b","Test":%q,"Output":"said by %s\n"}`, action, test, test)
	}
	for name, c := range map[string]struct {
		lines        []string
		want         count
		names        []string
		shown, quiet string
	}{
		"go passes": {[]string{go1("run", "TestA"), go1("output", "TestA"), go1("pass", "TestA/inner"), go1("pass", "TestA"), go1("skip", "TestB"), go1("pass", "")},
			count{passed: 1, skipped: 1}, nil, "ok   a/b", "said by TestA"},
		"go fails": {[]string{go1("output", "TestA/inner"), go1("fail", "TestA/inner"), go1("output", "TestA"), go1("fail", "TestA"), go1("fail", "")},
			count{failed: 1}, []string{"a/b TestA"}, "said by TestA/inner", "outside its tests"},
		"a panic ends the running test": {[]string{go1("output", "TestA"), go1("fail", "")}, count{failed: 1}, []string{"a/b"}, "said by TestA", "nothing"},
		"a package fails outside its tests": {[]string{go1("pass", "TestA"), go1("output", ""), go1("fail", "")},
			count{passed: 1, failed: 1}, []string{"a/b"}, "a/b failed outside its tests", "nothing"},
		"a package does not compile": {[]string{`{"ImportPath":"a/b","Action":"build-output","Output":"x.go:1: bad\n"}`, `{"Action":"fail","Package":"a/b","FailedBuild":"a/b"}`},
			count{failed: 1}, []string{"a/b a/b"}, "x.go:1: bad", "nothing"},
		"node":            {[]string{"# pass 3", "# fail 1", "# skipped 2", "not ok 4 - a story"}, count{3, 1, 2}, []string{"a story"}, "# pass 3", "nothing"},
		"node, in colour": {[]string{"\x1b[34mℹ pass 3\x1b[39m", "\x1b[31m✖ a story (12ms)\x1b[39m", "ℹ fail 1"}, count{3, 1, 0}, []string{"a story"}, "pass 3", "nothing"},
		"vitest":          {[]string{"      Tests  1 failed | 22 passed | 3 skipped (26)"}, count{22, 1, 3}, nil, "22 passed", "nothing"},
		"anything else":   {[]string{"{ no event", "passed 3"}, count{}, nil, "{ no event", "nothing"},
	} {
		var out bytes.Buffer
		s := newSeen(&lines{to: &out}, "")
		for _, l := range c.lines {
			s.line(l)
		}
		s.end()
		var names []string
		for _, f := range s.failures {
			names = append(names, f.name)
		}
		if s.count != c.want || !slices.Equal(names, c.names) {
			t.Errorf("%s: %+v, failed %q", name, s.count, names)
		}
		if !strings.Contains(out.String(), c.shown) || strings.Contains(out.String(), c.quiet) {
			t.Errorf("%s: the output is\n%s", name, &out)
		}
	}
}

// The final table shows the reason of each failure, because only the end of a long output can be
// visible.
func TestReasonsOfFailuresAreRead(t *testing.T) {
	for name, c := range map[string]struct{ lines, why []string }{
		"go": {[]string{`{"Action":"output","Package":"a","Test":"TestA","Output":"a_test.go:1: not 3\n"}`, `{"Action":"fail","Package":"a","Test":"TestA"}`},
			[]string{"a_test.go:1: not 3"}},
		"go, an inner test": {[]string{`{"Action":"output","Package":"a","Test":"TestA/b","Output":"a_test.go:1: not 3\n"}`, `{"Action":"fail","Package":"a","Test":"TestA/b"}`,
			`{"Action":"output","Package":"a","Test":"TestA","Output":"--- FAIL: TestA\n"}`, `{"Action":"fail","Package":"a","Test":"TestA"}`},
			[]string{"a_test.go:1: not 3", "--- FAIL: TestA"}},
		"node, which prints everything twice": {[]string{"✖ a story (36.4ms)", "  Error: bad", "  at f (a.mjs:1)", "  at g (a.mjs:2)", "", "ℹ fail 1",
			"✖ failing tests:", "", "✖ a story (36.4ms)", "  Error: bad", "  + actual", "", "  at f (a.mjs:1)", "  at g (a.mjs:2)"},
			[]string{"Error: bad", "+ actual", "at f (a.mjs:1)"}},
		"node, with the place of the story": {[]string{"test at e2e/live.test.mjs:3:1", "✖ a story (36.4ms)", "  Error: bad", "  at f (helper.mjs:1)"},
			[]string{"test at e2e/live.test.mjs:3:1", "Error: bad", "at f (helper.mjs:1)"}},
		"vitest": {[]string{"\x1b[41m\x1b[1m FAIL \x1b[22m\x1b[49m src/a.test.ts > a unit", "AssertionError: no", "", " ❯ src/a.test.ts:2:41", "    1| x"},
			[]string{"AssertionError: no", "❯ src/a.test.ts:2:41"}},
		"a test without output": {[]string{"✖ a story (1ms)", "✔ another (1ms)"}, nil},
		"a long text":           {append([]string{"✖ a story"}, strings.Split(strings.Repeat("x ", 40), " ")...), slices.Repeat([]string{"x"}, maxReasons)},
	} {
		s := newSeen(&lines{to: io.Discard}, "")
		for _, l := range c.lines {
			s.line(l)
		}
		if len(s.failures) != 1 || !slices.Equal(s.failures[0].why, c.why) {
			t.Errorf("%s: the failures are %+v", name, s.failures)
			continue
		}
		var out bytes.Buffer
		printTable(&out, []*result{{name: "x", seen: s}}, 0)
		for _, line := range c.why {
			if !strings.Contains(out.String(), "    "+line+"\n") {
				t.Errorf("%s: the table does not contain %q:\n%s", name, line, &out)
			}
		}
	}
}

// The table reports a failure if any suite fails, even a suite without tests. Its last line can be
// understood without the other lines.
func TestTheTableShowsEachFailure(t *testing.T) {
	fine := &result{name: "fine", seen: &seen{count: count{passed: 2}}}
	for name, c := range map[string]struct {
		other *result
		ok    bool
		last  string
	}{
		"all pass":       {&result{name: "x", seen: &seen{count: count{passed: 1, skipped: 1}}}, true, "3 passed, 0 failed, 1 skipped"},
		"a test fails":   {&result{name: "x", seen: &seen{count: count{failed: 1}}}, false, "2 passed, 1 failed, 0 skipped"},
		"a target fails": {&result{name: "x", seen: &seen{}, failed: errors.New("exit status 2")}, false, "2 passed, 1 failed, 0 skipped"},
		"a failed target with a failed test counts as one failure": {&result{name: "x", seen: &seen{count: count{failed: 1}}, failed: errors.New("exit status 2")}, false, "2 passed, 1 failed, 0 skipped"},
	} {
		var out bytes.Buffer
		ok := printTable(&out, []*result{fine, c.other}, 0)
		rows := strings.Split(strings.TrimSpace(out.String()), "\n")
		if ok != c.ok || rows[len(rows)-1] != c.last {
			t.Errorf("%s: ok is %v, the table\n%s", name, ok, &out)
		}
	}
}

// A target without tests, such as the simulator, prints how to repeat its failure at its end.
func TestTheTableShowsTheEndOfAFailedTarget(t *testing.T) {
	s := newSeen(&lines{to: io.Discard}, "")
	for i := range 2 * maxReasons {
		s.line(fmt.Sprint("line ", i))
	}
	s.line("repeat with: make simulate SEED=7")
	var out bytes.Buffer
	printTable(&out, []*result{{target: "simulate", name: "simulate", seen: s, failed: errors.New("exit status 2")}}, 0)
	if text := out.String(); !strings.Contains(text, "failed: simulate: simulate\n") || !strings.Contains(text, "    repeat with: make simulate SEED=7\n") || strings.Contains(text, "line 0\n") {
		t.Errorf("the table is\n%s", &out)
	}
}

func TestConcurrentSourcesAreRecognized(t *testing.T) {
	for source, want := range map[string]bool{
		`import "sync"`:                                   true,
		`import "sync/atomic"`:                            true,
		`func f() { go f() }`:                             true,
		`type t struct{ c chan int }`:                     true,
		`func f(c func()) { select {} }`:                  true,
		`import "strings"; var x = strings.ToUpper("go")`: false,
		`// go f()`:                                       false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x;"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := isConcurrent(f); got != want {
			t.Errorf("%s: concurrent is %v", source, got)
		}
	}
}

// Suites of a group start in order, and two run in parallel. A third suite waits for one of them.
func TestTwoSuitesRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var starts []string
		began := time.Now()
		twoAtATime([]*result{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}, func(r *result) {
			mu.Lock()
			starts = append(starts, fmt.Sprint(r.name, time.Since(began)))
			mu.Unlock()
			time.Sleep(map[string]time.Duration{"a": 3, "b": 1, "c": 1, "d": 1}[r.name] * time.Second)
		})
		slices.Sort(starts)
		if want := []string{"a0s", "b0s", "c1s", "d2s"}; !slices.Equal(starts, want) || time.Since(began) != 3*time.Second {
			t.Errorf("the starts are %v, the end is after %v", starts, time.Since(began))
		}
	})
}
