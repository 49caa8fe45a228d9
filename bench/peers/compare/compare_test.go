package compare

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheSectionReplacesTheEarlierOne(t *testing.T) {
	first, err := place("# Results\n\ntext\n", "one\n")
	if err != nil {
		t.Fatal(err)
	}
	if first != "# Results\n\ntext\n\n"+begins+"\n\none\n\n"+ends+"\n" {
		t.Errorf("a new section: %q", first)
	}
	second, err := place(first+"\n## After\n", "two")
	if err != nil || second != strings.Replace(first, "one", "two", 1)+"\n## After\n" {
		t.Errorf("a replaced section: %v, %q", err, second)
	}
	for _, broken := range []string{begins, ends, ends + begins} {
		if _, err := place(broken, "x"); err == nil {
			t.Errorf("%q is accepted", broken)
		}
	}
}

// run returns an outcome with n deliveries.
func run(name string, round int, deliveries float64) outcome {
	return outcome{contestant: name, round: round, report: &report{DeliveriesPerSecond: deliveries}}
}

func TestFiguresAreMediansAndRatiosOfTheSameRound(t *testing.T) {
	// A slow third round affects both sides alike.
	all := []outcome{
		run("floor", 0, 100), run("a", 0, 200), run("floor", 1, 110), run("a", 1, 198), run("floor", 2, 10), run("a", 2, 30),
		run("b", 0, 50), {contestant: "b", round: 1, failed: "it fell over"},
	}
	all[1].report.Lost, all[0].report.Generator.Busy = 7, 1
	s := &scenario{title: "Some", floor: "floor", columns: []column{deliveries, deliveries.of(), perMillion, lost}}
	want := `### Some

| | deliveries/s | of the floor | server CPU, s per million | lost |
|---|---:|---:|---:|---:|
| floor ¹ | 100 | 1.00 | – | 0 |
| a | 198 | 2.00 | – | 7 |
| b | 50 | 0.50 | – | 0 |

b was not measured in every round: it fell over.
`
	if got := table(s, []string{"floor", "a", "b", "absent"}, all); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
}

func TestNumbersShowThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 950: "950", 1234: "1,234", 12345: "12,300", 2867450: "2,870,000", -1234: "-1,234"} {
		if got := thousands(v); got != want {
			t.Errorf("%v is formatted as %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0.00", 0.0123: "0.012", 0.5: "0.50", 12.34: "12.3", 1234.5: "1235"} {
		if got := decimal(v); got != want {
			t.Errorf("%v is formatted as %s, want %s", v, got, want)
		}
	}
}

func TestOnlyExistingContestantsCanBeChosen(t *testing.T) {
	name := func(s string) string { return s }
	if got, err := choose([]string{"a", "b", "c"}, "c,a", name); err != nil || strings.Join(got, "") != "ac" {
		t.Errorf("choose returned %q, %v, want a and c", got, err)
	}
	if _, err := choose([]string{"a"}, "a,x", name); err == nil || !strings.Contains(err.Error(), "x") {
		t.Error(err)
	}
}

func TestPathsAreNotShown(t *testing.T) {
	c := &config{arguments: []string{"--bench", "/home/x", "-into=/y", "--rounds", "2", "--short"}}
	if got := strings.Join(c.shown(), " "); got != "--rounds 2 --short" {
		t.Errorf("the shown arguments are %q, want \"--rounds 2 --short\"", got)
	}
}

// No flag sets the message that is sent to Atelier, so this package has a copy of it.
func TestTheGeneratorSendsTheFixedTextToAtelier(t *testing.T) {
	b, err := os.ReadFile("../../fanout/atelier.go")
	if err != nil || !strings.Contains(string(b), "`"+atelierSends+"`") {
		t.Errorf("bench/fanout sends a text other than %s: %v", atelierSends, err)
	}
}

// The floors use Atelier's libraries directly, so they must use the same versions.
func TestFloorsUseTheVersionsOfAtelier(t *testing.T) {
	versions := func(path string) map[string]string {
		b, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(b), -1) {
			out[m[1]] = m[2]
		}
		return out
	}
	own, theirs := versions("../go.mod"), versions("../../../go.mod")
	for _, module := range []string{"github.com/valyala/fasthttp", "github.com/dgraph-io/badger/v4"} {
		if own[module] == "" || own[module] != theirs[module] {
			t.Errorf("%s is %q here and %q in Atelier", module, own[module], theirs[module])
		}
	}
}
