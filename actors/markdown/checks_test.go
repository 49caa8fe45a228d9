package markdown

import (
	"reflect"
	"strings"
	"testing"
)

func TestChecksAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Check
	}{
		"none":                        {"text of a check\n", nil},
		"one":                         {"```check build\nIt builds\n\nRun `make`.\n```\n", []Check{{"build", "It builds"}}},
		"with tildes, unclosed":       {"~~~ check unit-tests\n\n  Tests pass\nmore", []Check{{"unit-tests", "Tests pass"}}},
		"in a list and a quote":       {"- a\n\n  ```check a\n  One\n  ```\n\n> ```check b\n> Two\n> ```\n", []Check{{"a", "One"}, {"b", "Two"}}},
		"without title":               {"```check a\n```\nText\n", []Check{{"a", ""}}},
		"in another block":            {"````md\n```check a\nOne\n```\n````\n", nil},
		"in a note":                   {"```notes\n```\n\n~~~notes\n```check a\n```\n~~~\n\n```check b\nB\n```\n", []Check{{"b", "B"}}},
		"without a name":              {"```check\nOne\n```\n", nil},
		"with more after the name":    {"```check a b\nOne\n```\n", nil},
		"with an invalid name":        {"```check ../a\nOne\n```\n", nil},
		"a block of another language": {"```checks a\nOne\n```\n", nil},
	} {
		if got := Checks(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
	want := []string{"check", "check a b", "check ../a"}
	if got := MisnamedChecks("```check\n```\n```check a\n```\n```checks a\n```\n~~~ check a b \n~~~\n```check ../a\n```\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("the misnamed checks are %q, want %q", got, want)
	}
	long := strings.Repeat("```check a\nx\n```\n", 20_000)
	if got := len(Checks(long)); got != 20_000 {
		t.Errorf("found %d checks, want 20,000", got)
	}
}
