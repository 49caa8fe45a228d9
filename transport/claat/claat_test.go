package claat

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const sample = `author: Ann
Summary: What it is: a test
id: sample
tags: a,b

# The *Title*

## First step
Duration: 0:05:30

Text.

` + "```" + `
## not a step
` + "```" + `

Positive
: **Good** to know
and more

## Second ` + "`code`" + ` step
Duration: 5
Environment: web

> aside negative
> Mind
>
> the gap

Under
-----
Positive

: behind a blank line
`

func always() error { return nil }

func TestParse(t *testing.T) {
	got, err := Parse([]byte(sample), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	want := &Tutorial{
		ID: "sample", Summary: "What it is: a test", Author: "Ann", Title: "The Title", TitleFrom: TitleH1,
		Steps: []Step{
			{"First step", 6 * time.Minute, "Text.\n\n```\n## not a step\n```\n\n<aside class=\"positive\">\n\n**Good** to know\nand more\n\n</aside>\n"},
			{"Second code step", 5 * time.Minute, "<aside class=\"negative\">\n\nMind\n\nthe gap\n\n</aside>\n"},
			{"Under", 0, "<aside class=\"positive\">\n\nbehind a blank line\n\n</aside>\n"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Parse returned\n%+v\nwant\n%+v", got, want)
	}
}

// Pandoc, MkDocs, Docusaurus and others write the id of a heading after it, and links use that
// id.
func TestTheIDOfAHeadingIsAnAnchorOfItsStep(t *testing.T) {
	got, err := Parse([]byte("id: x\n# T {#top}\n## One {#first-step}\n[on](#second)\n## Two{#second}\nDuration: 5\n\nb\n## {#no-text}\n## In {#the middle} of\n"), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "T" {
		t.Errorf("the title is %q", got.Title)
	}
	want := []Step{
		{"One", 0, "<a id=\"first-step\"></a>\n\n[on](#second)\n"}, {"Two", 5 * time.Minute, "<a id=\"second\"></a>\n\nb\n"},
		{"{#no-text}", 0, ""}, {"In {#the middle} of", 0, ""},
	}
	if !reflect.DeepEqual(got.Steps, want) {
		t.Errorf("the steps are\n%q\nwant\n%q", got.Steps, want)
	}
}

func TestIncludes(t *testing.T) {
	files := map[string]string{"a.md": "from a\n<<b.md>>\n", "b.md": "from b", "loop.md": "<<loop.md>>"}
	include := func(name string) ([]byte, error) {
		s, ok := files[name]
		if !ok {
			return nil, errors.New("not in the archive")
		}
		return []byte(s), nil
	}
	head := "id: x\n# T\n## S\n"
	got, err := Parse([]byte(head+"<<a.md>>\nend"), Options{Include: include, Still: always})
	if err != nil || got.Steps[0].Markdown != "from a\nfrom b\n\nend\n" {
		t.Fatalf("with nested includes Parse returned %+v, %v", got, err)
	}
	for line, want := range map[string]string{
		"<<loop.md>>": "includes itself", "<<none.md>>": "not in the archive",
	} {
		if _, err := Parse([]byte(head+line), Options{Include: include, Still: always}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse with %s returned %v, want %q", line, err, want)
		}
	}
	if _, err := Parse([]byte(head+"<<a.md>>"), Options{Still: always}); err == nil {
		t.Error("an include without an archive was accepted")
	}
}

// An author can find a fault only if its position is one in a file that the author wrote.
func TestErrorsContainThePositionInTheFileOrFragment(t *testing.T) {
	files := map[string]string{
		"one.md": "one\n\ntwo\n", "no end.md": "text", "none.md": "",
		"bad.md": "text\n\n<<one.md>>\n  ##\n", "nested.md": "## Good\n<<bad.md>>",
	}
	include := func(name string) ([]byte, error) { return []byte(files[name]), nil }
	for text, want := range map[string]string{
		"id: x\n# T\n## S\n##":                                         "line 4, column 1: ",
		"<<none.md>>\nid: x\n# T\n## S\n<<one.md>>\n##":                "line 6, column 1: ",
		"id: x\n# T\n## S\n<<no end.md>>\n<<one.md>>\n<<none.md>>\n##": "line 7, column 1: ",
		"id: x\n# T\n## S\n<<one.md>>\n<<bad.md>>\n## S":               "bad.md, line 4, column 1: ",
		"<<one.md>>\nid: x\n# T\n<<nested.md>>\n## S":                  "bad.md, line 4, column 1: ",
		"<<one.md>>\nid: x\n# T\n<<bad.md>>\n##":                       "bad.md, line 4, column 1: ",
		"id: x\n<<no end.md>>":                                         "no end.md, line 1, column 1: ",
	} {
		if _, err := Parse([]byte(text), Options{Include: include, Still: always}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse of %q returned %v, want %q", text, err, want)
		}
	}
}

func TestInvalidFilesAreRefused(t *testing.T) {
	for name, tc := range map[string][2]string{
		"empty":       {"", "title"},
		"no id":       {"# T\n## S\n", "id"},
		"no title":    {"id: x\n## S\n", "title"},
		"no step":     {"id: x\n# T\ntext\n", "no step"},
		"not UTF-8":   {"id: x\n# T\n## \xff\n", "UTF-8"},
		"empty title": {"id: x\n#\n## S\n", "title"},
		"empty step":  {"id: x\n# T\n##\ntext\n", "step 1"},
	} {
		if _, err := Parse([]byte(tc[0]), Options{Still: always}); err == nil || !strings.Contains(err.Error(), tc[1]) {
			t.Errorf("%s: Parse returned %v, want %q", name, err, tc[1])
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]int{"5": 5, "5:00": 5, "0:30": 1, "1:00:01": 61, " 0:05:00 ": 5, "0": 0, "x": -1, "": -1, "1:2:3:4": -1, "-1": -1,
		"5 min": 5, "5m": 5, "7.5": 8, "7,5 min.": 8, "1h": 60, "1h30": 90, "1 h 30 min": 90, "1 hour and 5 minutes": 65, "1.5 hours": 90, "90s": 2, "5 Minutes": 5, "30 sec": 1, "2h 0m 1s": 121,
		"30 1h": -1, "5m5m": -1, "1m1h": -1, "5 days": -1, "about 5": -1, "1h30m5s1s": -1, "999999h": -1, "5min x": -1, ".": -1} {
		got, ok := ParseDuration(in)
		if want < 0 && ok || want >= 0 && (!ok || got != time.Duration(want)*time.Minute) {
			t.Errorf("ParseDuration(%q) = %v, %v", in, got, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("id: x\n# T\n## S\n<<a.md>>\n> aside positive\n"))
	f.Add([]byte("Title\n=====\nid:y\nS\n-\n\nPositive\n\n: x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse(b, Options{Name: "lab.md", Include: func(string) ([]byte, error) { return []byte("fragment"), nil }, Still: always, Picture: func(string) (string, error) { return "/p", nil }})
		if err != nil {
			return
		}
		if got.ID == "" || got.Title == "" || len(got.Steps) == 0 {
			t.Fatalf("a file without id, title or step was accepted: %+v", got)
		}
		for _, s := range got.Steps {
			if s.Title == "" || s.Duration < 0 || s.Duration%time.Minute != 0 {
				t.Fatalf("invalid step %+v", s)
			}
		}
	})
}

func TestDurationsAreBounded(t *testing.T) {
	for text, want := range map[string]time.Duration{"0:05:30": 6 * time.Minute, "1666:40:00": 100_000 * time.Minute, "1666:40:01": 0, "100000:00:00": 0, "1:00:100001": 0} {
		if got, ok := clockTime(strings.Split(text, ":")); got != want || ok != (want > 0) {
			t.Errorf("%s is %v, %v, want %v", text, got, ok, want)
		}
	}
}
