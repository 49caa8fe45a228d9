package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
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
		"node, in colour": {[]string{"\x1b[34mℹ pass 3\x1b[39m", "\x1b[31m✖ a story (12ms)\x1b[39m", "ℹ fail 1"}, count{3, 1, 0}, []string{"a story (12ms)"}, "pass 3", "nothing"},
		"vitest":          {[]string{"      Tests  1 failed | 22 passed | 3 skipped (26)"}, count{22, 1, 3}, nil, "22 passed", "nothing"},
		"anything else":   {[]string{"{ no event", "passed 3"}, count{}, nil, "{ no event", "nothing"},
	} {
		var out bytes.Buffer
		s := newSeen(&lines{to: &out}, "")
		for _, l := range c.lines {
			s.line(l)
		}
		s.end()
		if s.count != c.want || !slices.Equal(s.names, c.names) {
			t.Errorf("%s: %+v, failed %q", name, s.count, s.names)
		}
		if !strings.Contains(out.String(), c.shown) || strings.Contains(out.String(), c.quiet) {
			t.Errorf("%s: the output is\n%s", name, &out)
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
