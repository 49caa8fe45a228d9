package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// real parses the real list. read reads a file, relative to the root of the module.
func real(t *testing.T) (all []*mutant, read func(string) ([]byte, error)) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "..")
	read = func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, file)) }
	list, err := read(listFile)
	if err != nil {
		t.Fatal(err)
	}
	if all, err = parse(list); err != nil {
		t.Fatal(err)
	}
	return all, read
}

// If a mutated line changes, mutants.txt must be updated. Otherwise the line's guarantee is no
// longer tested.
func TestEachMutantMatches(t *testing.T) {
	all, read := real(t)
	for _, m := range all {
		changed, _, err := m.apply(read)
		if err != nil {
			t.Error(err)
			continue
		}
		for file, text := range changed {
			if !strings.HasSuffix(file, ".go") {
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s is not Go: %v", m.name, err)
			}
		}
	}
}

func TestTheTestsOfMutantsExist(t *testing.T) {
	all, read := real(t)
	for _, m := range all {
		for _, test := range m.tests {
			run, err := regexp.Compile(strings.Split(test.run, "/")[0])
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
				continue
			}
			files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", test.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			there := false
			for _, file := range files {
				text, err := read(filepath.Join(test.pkg, filepath.Base(file)))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
					there = there || run.Match(name[1])
				}
			}
			if !there {
				t.Errorf("%s: the test %s does not exist", m.name, test)
			}
		}
	}
}

// found.txt refers only to existing mutants, and to tests in their entries.
func TestFoundListsOnlyExistingMutantsAndTests(t *testing.T) {
	all, _ := real(t)
	found, err := readFound("found.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		f, ok := found[m.name]
		delete(found, m.name)
		if named := f.seed > 0 || strings.Contains(joined(m.tests), f.test.String()+"\n"); ok && !named {
			t.Errorf("%s was found by %s, which is not in its entry", m.name, f)
		}
	}
	for name := range found {
		t.Errorf("found.txt contains %s, mutants.txt does not", name)
	}
	path := filepath.Join(t.TempDir(), "found")
	two := []*mutant{{name: "a"}, {name: "b"}, {name: "c"}}
	want := map[string]finding{"a": {seed: 17, oracle: "same view", seconds: 1.5}, "c": {test: packageTest{"./x", "^TestX$"}, seconds: 2}}
	if err := writeFound(path, two, want); err != nil {
		t.Fatal(err)
	}
	if got, err := readFound(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func joined(tests []packageTest) (out string) {
	for _, test := range tests {
		out += test.String() + "\n"
	}
	return out
}

const source = "package p\n\nfunc a() {\n\tone()\n\ttwo()\n}\n\nfunc b() {\n\tone()\n}\n"

func TestChangedLinesAreReplaced(t *testing.T) {
	for _, x := range []struct {
		name, list, want, err string
		spans                 []span
	}{
		{"a removed line with another indentation", "- \ttwo()", "", "0 times", nil},
		{"a removed line", "-\ttwo()", strings.Replace(source, "\ttwo()\n", "", 1), "", []span{{5, 5}}},
		{"an added line", " \ttwo()\n+\tthree()", strings.Replace(source, "two()\n", "two()\n\tthree()\n", 1), "", []span{{5, 5}}},
		{"a changed line", " \tone()\n-\ttwo()\n+\tthree()\n }", strings.Replace(source, "two", "three", 1), "", []span{{5, 5}}},
		{"a line that occurs twice", "-\tone()", "", "2 times", nil},
		{"two places", "-\ttwo()\n+\tthree()\n\n-func b() {\n+func c() {", strings.NewReplacer("two", "three", "b()", "c()").Replace(source), "", []span{{5, 5}, {8, 8}}},
		{"two places in two files", "-\ttwo()\n\nfile: q.go\n-func b() {\n+func c() {", strings.Replace(source, "\ttwo()\n", "", 1), "", []span{{5, 5}}},
		{"overlapping places", " \tone()\n-\ttwo()\n\n-\ttwo()\n }", "", "overlap", nil},
	} {
		all, err := parse([]byte("== x\npromise: it\nfile: p.go\n" + x.list + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		changed, spans, err := all[0].apply(func(string) ([]byte, error) { return []byte(source), nil })
		switch {
		case x.err != "":
			if err == nil || !strings.Contains(err.Error(), x.err) {
				t.Errorf("%s: %v, want %q", x.name, err, x.err)
			}
		case err != nil || string(changed["p.go"]) != x.want || !reflect.DeepEqual(spans["p.go"], x.spans):
			t.Errorf("%s: changed to %q, spans %v, %v", x.name, changed["p.go"], spans["p.go"], err)
		}
	}
}

func TestBadListsAreRefused(t *testing.T) {
	for _, bad := range []string{
		"== x\npromise: it", "== x\nfile: p.go\n-a", "-a", "== a\n-a", "== a b", "== a\n== a", "== a\nwhat: it", "== a\ntest: ./x",
	} {
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("the invalid list %q is accepted", bad)
		}
	}
}

func TestAMutantMustBeFoundUnlessItIsEquivalent(t *testing.T) {
	seed := &finding{seed: 1}
	for _, x := range []struct {
		equivalent string
		found      *finding
		unexecuted bool
		good       bool
	}{
		{"", seed, false, true},
		{"", nil, false, false},
		{"why", nil, false, true},
		{"why", seed, false, false},
		{"why", nil, true, false},
		{"", nil, true, false},
	} {
		err := verdict{mutant: &mutant{name: "x", equivalent: x.equivalent}, found: x.found}.conclude(x.unexecuted)
		if (err == nil) != x.good {
			t.Errorf("concluding %+v: %v", x, err)
		}
	}
}

func TestALineThatWasNotRunIsDetected(t *testing.T) {
	blocks := []block{{"atelier/a/b.go", 3, 5, 1}, {"atelier/a/b.go", 6, 9, 0}, {"atelier/a/c.go", 20, 30, 4}}
	for _, x := range []struct {
		file string
		at   span
		want bool
	}{
		{"a/b.go", span{5, 6}, true}, {"a/b.go", span{7, 7}, false}, {"a/b.go", span{12, 12}, true}, {"a/c.go", span{30, 31}, true},
	} {
		if got := executed(blocks, x.file, x.at); got != x.want {
			t.Errorf("%s %v: executed is %t", x.file, x.at, got)
		}
	}
}

const program = "package p\n\ntype t[K any] struct{}\n\nfunc (t[K]) one(a, _ int, more ...string) (n int, err error) {\n\treturn a, nil\n}\n\nfunc two[A, B any](x A, y B) {\n\tprintln(x, y)\n}\n\nconst three = 3\n"

// All mutants of functions share a build, in which each is active only on request. A mutant of a
// constant has its own build.
func TestFunctionsAreSwitched(t *testing.T) {
	all, err := parse([]byte("== a\npromise: it\nfile: p/p.go\n-\treturn a, nil\n+\treturn 0, nil\n" +
		"== b\npromise: it\nfile: p/p.go\n-\tprintln(x, y)\n+\tprintln(y, x)\n\n-\treturn a, nil\n+\treturn 1, nil\n" +
		"== c\npromise: it\nfile: p/p.go\n-const three = 3\n+const three = 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c, err := combine(all, func(string) ([]byte, error) { return []byte(program), nil }, "/root", dir)
	if err != nil {
		t.Fatal(err)
	}
	if !c.has[all[0]] || !c.has[all[1]] || c.has[all[2]] {
		t.Errorf("the switched functions are %v", c.has)
	}
	text, err := os.ReadFile(filepath.Join(dir, "1-p.go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, want := range []string{
		"func (unnamed1 t[K]) one(a, unnamed3 int, more ...string) (n int, err error) { if mutantOn == 1 { return unnamed1.one_1(a, unnamed3, more...) }; if mutantOn == 2 { return unnamed1.one_2(a, unnamed3, more...) };\n\treturn a, nil",
		"func two[A, B any](x A, y B) { if mutantOn == 2 { two_2[A, B](x, y); return };\n\tprintln(x, y)",
		"//line a.mutant:1\nfunc (t[K]) one_1(a, _ int, more ...string) (n int, err error) {\n\treturn 0, nil\n}",
		"//line b.mutant:1\nfunc two_2[A, B any](x A, y B) {\n\tprintln(y, x)\n}",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if named := namedBy("x.go:1:2: good\np/two-words.mutant:3:4: declared and not used: y\n"); len(named) != 1 || !strings.Contains(named["two-words"], "not used") {
		t.Errorf("the mutants in the compiler errors are %v", named)
	}
}
