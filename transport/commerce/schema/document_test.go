package schema

import (
	"errors"
	"strings"
	"testing"
)

func TestInvalidDocumentsAreRefused(t *testing.T) {
	cases := map[string]struct {
		data, want string
		line       int
	}{
		"an empty text":       {"", "not JSON", 1},
		"a truncated object":  {"{\n\"a\":", "not JSON", 2},
		"two values":          {"{} {}", "not JSON", 1},
		"a trailing comma":    {"[1,]", "not JSON", 1},
		"a duplicate member":  {"{\"a\": 1,\n\"a\": 2}", "twice", 2},
		"too deep":            {strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested", 1},
		"broken UTF-8":        {"\"\xff\"", "UTF-8", 0},
		"an endless number":   {"1e999999", "number", 1},
		"a tiny number":       {"1e-999999999", "number", 1},
		"a long number":       {strings.Repeat("9", 500), "number", 1},
		"too many values":     {"[" + strings.Repeat("0,", maxValues) + "0]", "values", 1},
		"names in many paths": {`{"` + strings.Repeat("n", 1<<20) + `": [` + strings.Repeat("0,", 100) + `0]}`, "names", 1},
		"too many bytes":      {strings.Repeat(" ", maxBytes+1), "larger", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.json", []byte(tc.data))
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(syntax.Reason, tc.want) || syntax.Line != tc.line {
				t.Errorf("Parse returned %v, want %q in line %d", err, tc.want, tc.line)
			}
		})
	}
}

func TestLinesAndPointers(t *testing.T) {
	doc, err := Parse("f.json", []byte("{\n \"a/b\": [\n  1,\n  {\"~\": true}\n ]\n}"))
	if err != nil {
		t.Fatal(err)
	}
	lines := doc.Lines()
	for pointer, line := range map[string]int{"": 1, "/a~1b": 2, "/a~1b/0": 3, "/a~1b/1/~0": 4, "/a~1b/1/missing": 4, "/none": 1} {
		if got := lines.Of(pointer); got != line {
			t.Errorf("Of(%q) = %d, want %d", pointer, got, line)
		}
	}
	if v, ok := Lookup(doc.Value, Pointer("a/b", "1", "~")); !ok || v != true {
		t.Errorf("Lookup returned %v, %v", v, ok)
	}
	for _, pointer := range []string{"a", "/a~1b/2", "/a~1b/-1", "/a~1b/01", "/a~1b/0/x", "/x"} {
		if _, ok := Lookup(doc.Value, pointer); ok {
			t.Errorf("Lookup(%q) finds a value", pointer)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2,{"b":null}]}`, `{"a":1,"a":2}`, `[[[[`, `1e99`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse("f", data)
		if err != nil {
			if syntax := (*SyntaxError)(nil); !errors.As(err, &syntax) {
				t.Fatalf("Parse returned an error of type %T", err)
			}
			return
		}
		if doc.Lines().Of("") < 1 {
			t.Error("the root of the document has no line")
		}
	})
}
