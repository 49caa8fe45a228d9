//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"atelier/bench/compare"
	"atelier/bench/report"
)

// fake is a machine that becomes slower with every run. speed is the speed of the new server
// divided by the speed of the base.
type fake struct {
	speed float64
	lost  int // lost messages in each run of the new server
	// late and broken report which runs, counted from 0, have a late generator or no report.
	// after is the number of runs before interrupt is called.
	late, broken func(run int) bool
	after        int
	interrupt    func()

	order []string
	loads [][]string
}

func (f *fake) measure(ctx context.Context, side compare.Side, args []string) ([]byte, error) {
	n := len(f.order)
	f.order, f.loads = append(f.order, side.String()), append(f.loads, args)
	if f.interrupt != nil && n == f.after {
		f.interrupt()
		return nil, ctx.Err()
	}
	if f.broken != nil && f.broken(n) {
		return nil, errors.New("exit status 4")
	}
	value, lost := 1000*(1-float64(n)/1000), 0
	if side == compare.New {
		value, lost = value*f.speed, f.lost
	}
	invalid := []string{}
	if f.late != nil && f.late(n) {
		invalid = append(invalid, "the generator was late")
	}
	failures := []string{}
	if lost > 0 {
		failures = append(failures, fmt.Sprintf("%d lost", lost))
	}
	figures := map[string]any{}
	for _, number := range []string{"reads_per_second", "writes_per_second", "pairs_per_second"} {
		figures[number] = map[string]any{"value": value}
	}
	figures["bytes_per_connection"] = map[string]any{"value": 4e6 / value}
	return json.Marshal(map[string]any{
		"format": report.Format, "scenario": args[0], "valid": len(invalid) == 0, "invalid": invalid, "failures": failures, "lost": lost,
		"deliveries_per_second": value, "figures": figures,
	})
}

func regressing() *regressCommand {
	return &regressCommand{Base: "a", New: "b", BaseName: "abc", NewName: "def"}
}

// code returns the exit code of a comparison with these runs.
func code(t *testing.T, c *regressCommand, f *fake) (code int, output string) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	if f.after > 0 {
		f.interrupt = interrupt
	}
	var err error
	output = outputOf(t, func() { err = c.run(ctx, f.measure) })
	var exit exitCode
	switch {
	case errors.As(err, &exit):
		return int(exit), output
	case err != nil:
		return exitBroken, output + err.Error()
	}
	return 0, output
}

// outputOf returns the log of do, followed by its output.
func outputOf(t *testing.T, do func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	old := os.Stdout
	os.Stdout = f
	defer func() { os.Stdout = old }()
	log := stderrOf(t, do)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return log + string(b)
}

func TestTheExitCodeShowsASlowerServer(t *testing.T) {
	only := func(runs ...int) func(int) bool { return func(n int) bool { return slices.Contains(runs, n) } }
	always := func(int) bool { return true }
	for name, c := range map[string]struct {
		fake  fake
		short bool
		code  int
		texts []string
		runs  int
	}{
		"alike":                    {fake{speed: 1}, false, 0, []string{"base: abc", "new:  def", "2 loads, 16 runs", "round 5 of 5, new", "PASS"}, 16},
		"a fifth slower":           {fake{speed: 0.8}, false, 1, []string{"FAIL: read a codelab; memory of 10,000 idle connections\n"}, 16},
		"faster":                   {fake{speed: 1.3}, false, 0, []string{"better", "PASS"}, 16},
		"a fifth slower, short":    {fake{speed: 0.8}, true, 0, []string{"2 loads, 8 runs", "not judged", "everything works"}, 8},
		"losing, short":            {fake{speed: 1, lost: 3}, true, 1, []string{"round 1, new: 3 lost", "FAIL"}, 8},
		"late once":                {fake{speed: 1, late: only(3)}, false, 0, []string{"INVALID: the generator was late", "PASS"}, 17},
		"late again":               {fake{speed: 1, late: only(3, 4)}, false, 2, []string{"read a codelab, round 2, base: the generator was late", "INVALID: read a codelab\n"}, 17},
		"slower, and late again":   {fake{speed: 0.8, late: only(3, 4)}, false, 1, []string{"FAIL: read a codelab;", "round 2, base: the generator was late"}, 17},
		"without a report once":    {fake{speed: 1, broken: only(5)}, false, 0, []string{"exit status 4", "PASS"}, 17},
		"without a report again":   {fake{speed: 1, broken: only(12, 13)}, false, exitBroken, []string{"exit status 4", "read a codelab", "1.0", "\nINCOMPLETE: later"}, 14},
		"without any report":       {fake{speed: 1, broken: always}, false, exitBroken, []string{"exit status 4"}, 2},
		"interrupted":              {fake{speed: 1, after: 13}, false, 130, []string{"interrupted", "read a codelab", "\nINCOMPLETE: later"}, 14},
		"interrupted, and slower":  {fake{speed: 0.8, after: 13}, false, 1, []string{"interrupted", "FAIL: read a codelab\n"}, 14},
		"interrupted in the first": {fake{speed: 1, after: 1}, false, 130, []string{"interrupted"}, 2},
		"a loss before a repeat":   {fake{speed: 1, lost: 3, late: only(1)}, true, 1, []string{"FAIL"}, 9},
		"interrupted in a repeat":  {fake{speed: 1, late: always, after: 1}, false, 130, []string{"interrupted"}, 2},
	} {
		command := regressing()
		command.Short, command.Only = c.short, []string{"read", "idle"}
		got, output := code(t, command, &c.fake)
		if got != c.code || len(c.fake.order) != c.runs {
			t.Errorf("%s: ended with %d after %d runs:\n%s", name, got, len(c.fake.order), output)
		}
		for _, text := range c.texts {
			if !strings.Contains(output, text) {
				t.Errorf("%s: the output lacks %q:\n%s", name, text, output)
			}
		}
	}
}

// Each side uses its own binary. Both run the same load with the same seed.
func TestBothServersRunTheSameLoadsAlternately(t *testing.T) {
	f := &fake{speed: 1}
	command := regressing()
	command.Only, command.Rounds = []string{"writes-256"}, 4
	if got, output := code(t, command, f); got != 0 {
		t.Fatalf("exit code %d: %s", got, output)
	}
	if want := "base new new base base new new base"; strings.Join(f.order, " ") != want {
		t.Errorf("the order is %v, want %s", f.order, want)
	}
	for i, args := range f.loads {
		binary := map[string]string{"base": "a", "new": "b"}[f.order[i]]
		if !slices.Equal(args[len(args)-3:], []string{"--spawn", "--server", binary}) || !slices.Contains(args, "256") {
			t.Errorf("the arguments are %v", args)
		}
		if other := f.loads[i^1]; !slices.Equal(args[:len(args)-1], other[:len(other)-1]) || slices.Equal(args, f.loads[(i+2)%8]) {
			t.Errorf("the loads or seeds differ: %v and %v", args, other)
		}
	}
}

func TestTheMeasurementsAreWritten(t *testing.T) {
	command := regressing()
	command.Only, command.JSON = []string{"idle"}, filepath.Join(t.TempDir(), "out.json")
	if got, output := code(t, command, &fake{speed: 0.5}); got != 1 {
		t.Fatalf("exit code %d: %s", got, output)
	}
	b, err := os.ReadFile(command.JSON)
	if err != nil || !json.Valid(b) || !strings.Contains(string(b), compare.FormatOfRows) {
		t.Errorf("the file of measurements: %v\n%s", err, b)
	}
}

// Every work is a valid command line, and its report contains its number. Otherwise an error
// would appear only when the work runs.
func TestWorksAreValidCommands(t *testing.T) {
	for _, short := range []bool{false, true} {
		keys := map[string]bool{}
		for _, w := range works(short) {
			keys[w.key] = true
			if got := run(slices.Concat(w.args, []string{"--spawn", "--server", "/nonexistent", "--threshold", w.number + ">1"})); got != exitBroken {
				t.Errorf("%s ended with %d, want %d", w.key, got, exitBroken)
			}
			if w.rounds < 2 || slices.Contains(w.args, "--allow-lag") != short {
				t.Errorf("%s has %d rounds and the arguments %v", w.key, w.rounds, w.args)
			}
		}
		if len(keys) != 9 {
			t.Errorf("there are %d works, want 9: %v", len(keys), keys)
		}
	}
	var all commands
	parser, err := kong.New(&all)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Children {
		if n.Name != "regress" {
			continue
		}
		for _, f := range n.Flags {
			for _, w := range works(false) {
				if f.Name == "only" && !strings.Contains(f.Help, w.key) {
					t.Errorf("the help does not list %s: %s", w.key, f.Help)
				}
			}
		}
	}
}

// An older server does not start with settings that it does not support.
func TestSettingsUnknownToAServerAreOmitted(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "server")
	script := "#!/bin/sh\necho 'atelier: environment: unknown key ATELIER_A_B' >&2\necho 'environment: unknown key ATELIER_E' >&2\nexit 1\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"ATELIER_A=1", "ATELIER_A_B=2", "ATELIER_C=3", "ATELIER_E=unknown key ATELIER_C"}
	if got := understood(t.Context(), binary, env); !slices.Equal(got, []string{"ATELIER_A=1", "ATELIER_C=3"}) {
		t.Errorf("the understood settings are %q", got)
	}
	if got := understood(t.Context(), "/nonexistent", env); !slices.Equal(got, env) {
		t.Errorf("for a missing server, the settings are %q", got)
	}
}
