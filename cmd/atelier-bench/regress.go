//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/bench/compare"
	"atelier/bench/report"
)

// regressCommand compares the speed of a server with that of an older one.
type regressCommand struct {
	Base     string   `required:"" type:"existingfile" placeholder:"PATH" help:"Earlier server binary."`
	New      string   `required:"" type:"existingfile" placeholder:"PATH" help:"Later server binary, tested for being slower."`
	BaseName string   `placeholder:"TEXT" help:"Printed name of --base; the default is its version."`
	NewName  string   `placeholder:"TEXT" help:"Printed name of --new; the default is its version."`
	Only     []string `placeholder:"WORK,…" help:"Loads to run: read, lists, writes-32, writes-256, tokens, fanout-64, fanout-256, fanout-10000, idle."`
	Rounds   int      `placeholder:"N" help:"Rounds of each load, 2 to 20; the default is 5, and 3 with 10,000 connections."`
	Short    bool     `help:"Check in about two minutes that everything works: short runs, few connections, two rounds. Speed is not judged."`
	JSON     string   `name:"json" type:"path" placeholder:"FILE" help:"Write the table with the value of every run."`
}

// Help is called by kong.
func (regressCommand) Help() string {
	return fmt.Sprintf(`Both servers run the same loads alternately (A B, B A, A B, …), each run with a server of its
own on an empty data folder. All nine loads take about fifteen minutes on two cores.

A load fails if it is more than %.0f %% slower and the 95 %% interval of the ratio of paired
rounds is below 1, or if the new server loses or refuses something. A run that is invalid
or has no report is repeated once.

Exit codes: 0 no load failed, 1 a load failed, 2 a run stayed invalid.`, 100*compare.Slower)
}

// work is one load and the compared number.
type work struct {
	key  string // for --only
	name string
	// number is the name of a number in [compare.Run]. unit is its unit.
	number, unit string
	less         bool // a lower number is better
	rounds       int
	args         []string
}

// works returns the loads of a comparison. Each closed loop has enough requests in flight to keep
// the processors busy, so that its rate depends on the server's CPU time.
func works(short bool) []work {
	duration, warmup, rounds, few := "6s", "1s", 5, 3
	many, manyDuration, idle, idleDuration, connect := "10,000", "8s", "10,000", "15s", "2500ms"
	if short {
		duration, warmup, rounds, few = "1s", "300ms", 2, 2
		many, manyDuration, idle, idleDuration, connect = "1,000", "1s", "4,000", "1s", "1s"
	}
	plain := func(n string) string { return strings.ReplaceAll(n, ",", "") }
	rest := func(key, name, number, unit string, args ...string) work {
		args = append([]string{"rest", "--duration", duration, "--warmup", warmup}, args...)
		return work{key: key, name: name, number: number, unit: unit, rounds: rounds, args: args}
	}
	// A single publisher would send fewer messages. The generator is always busy. It shares the
	// processors with the server, so a slower server still delivers less.
	fanout := func(key, name string, rounds int, args ...string) work {
		args = append([]string{"fanout", "--warmup", warmup, "--rate", "0", "--publishers", "16", "--workers", "2", "--max-busy", "100", "--settle", "500ms"}, args...)
		return work{key: key, name: name, number: "deliveries_per_second", unit: "deliveries/s", rounds: rounds, args: args}
	}
	all := []work{
		rest("read", "read a codelab", "reads_per_second", "reads/s", "--read-connections", "64", "--read", "codelab", "--write-connections", "0"),
		rest("lists", "lists of attendees, chat, help", "reads_per_second", "reads/s", "--read-connections", "64", "--read", "attendees,chat,help", "--write-connections", "0"),
		rest("writes-32", "durable writes, 32 connections", "writes_per_second", "writes/s", "--read-connections", "0", "--write-connections", "32"),
		rest("writes-256", "durable writes, 256 connections", "writes_per_second", "writes/s", "--read-connections", "0", "--write-connections", "256"),
		{key: "tokens", name: "tokenize and detokenize", number: "pairs_per_second", unit: "pairs/s", rounds: rounds,
			args: []string{"tokens", "--duration", duration, "--warmup", warmup, "--rate", "0"}},
		fanout("fanout-64", "fan-out to 1,000, windows of 64", rounds, "--duration", duration, "--subscribers", "1000", "--window", "64", "--connect", "500ms"),
		fanout("fanout-256", "fan-out to 1,000, windows of 256", rounds, "--duration", duration, "--subscribers", "1000", "--window", "256", "--connect", "500ms"),
		fanout("fanout-10000", "fan-out to "+many, few, "--duration", manyDuration, "--subscribers", plain(many), "--window", "2", "--connect", connect),
		// Within 15 s the server releases the memory that connecting took.
		{key: "idle", name: "memory of " + idle + " idle connections", number: "bytes_per_connection", unit: "bytes each", less: true, rounds: few,
			args: []string{"idle", "--connections", plain(idle), "--connect", connect, "--settle", "3s", "--duration", idleDuration}},
	}
	for i := range all {
		if short {
			// A late generator does not matter for a check that everything works.
			all[i].args = append(all[i].args, "--allow-lag")
		}
	}
	return all
}

// Validate is called by kong.
func (c *regressCommand) Validate() error {
	problems := []error{checkFiles([]file{{"json", c.JSON}})}
	if c.Rounds != 0 && (c.Rounds < 2 || c.Rounds > compare.MaxRounds) {
		problems = append(problems, fmt.Errorf("--rounds is %d, want 2 to %d", c.Rounds, compare.MaxRounds))
	}
	for _, key := range c.Only {
		if !slices.ContainsFunc(works(c.Short), func(w work) bool { return w.key == key }) {
			problems = append(problems, fmt.Errorf("--only: there is no load %q", key))
		}
	}
	return errors.Join(problems...)
}

// chosen returns the loads of --only, or all loads, each with its number of rounds.
func (c *regressCommand) chosen() (out []work) {
	for _, w := range works(c.Short) {
		if len(c.Only) > 0 && !slices.Contains(c.Only, w.key) {
			continue
		}
		if c.Rounds > 0 {
			w.rounds = c.Rounds
		}
		out = append(out, w)
	}
	return out
}

// Run is called by kong.
func (c *regressCommand) Run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "atelier-regress-")
	if err != nil {
		return fmt.Errorf("create the folder of the servers: %w", err)
	}
	var folders [2]string
	for side := range folders {
		folders[side] = filepath.Join(folder, compare.Side(side).String())
		if err := os.Mkdir(folders[side], 0o700); err != nil {
			return fmt.Errorf("create the folder of the servers: %w", err)
		}
	}
	defer func() {
		// A failed server leaves its data and log here for analysis. Remove deletes only empty
		// folders.
		err := errors.Join(os.Remove(folders[compare.Base]), os.Remove(folders[compare.New]), os.Remove(folder))
		if err != nil {
			fmt.Fprintln(os.Stderr, "data and logs of servers that failed are kept in", folder)
		}
	}()
	return c.run(ctx, func(ctx context.Context, side compare.Side, args []string) ([]byte, error) {
		return measureIn(ctx, folders[side], args)
	})
}

// measurer runs the generator with a command line, in the folder of a side. It returns the JSON
// report.
type measurer func(ctx context.Context, side compare.Side, args []string) ([]byte, error)

// run is Run with a replaceable measurement, for tests. If it is interrupted, or a run breaks, it
// judges the rounds that are complete.
func (c *regressCommand) run(ctx context.Context, measure measurer) error {
	rows, err := c.names()
	if err != nil {
		return err
	}
	chosen, runs := c.chosen(), 0
	for _, w := range chosen {
		runs += 2 * w.rounds
	}
	fmt.Fprintf(os.Stderr, "base: %s\nnew:  %s\n%s, %d runs\n", rows.Base, rows.New, report.Count(len(chosen), "load"), runs)
	for i, w := range chosen {
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", i+1, len(chosen), w.name)
		var found *compare.Work
		if found, err = c.rounds(ctx, &w, measure); len(found.Rounds) > 0 {
			rows.Rows = append(rows.Rows, found.Judge())
		}
		if err != nil {
			rows.Incomplete = true
			break
		}
	}
	if len(rows.Rows) > 0 {
		if failed := c.write(rows); failed != nil {
			return errors.Join(err, failed)
		}
	}
	code := rows.ExitCode()
	switch {
	case ctx.Err() == nil && err != nil:
		return err
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		if code != report.ExitFailed {
			code = report.ExitInterrupted
		}
	}
	if code != report.ExitPassed {
		return exitCode(code)
	}
	return nil
}

// names returns an empty table with the names of the two servers. A name that is not given is the
// version that the server reports.
func (c *regressCommand) names() (*compare.Rows, error) {
	rows := &compare.Rows{Base: c.BaseName, New: c.NewName}
	for _, side := range []struct {
		name   *string
		binary string
	}{{&rows.Base, c.Base}, {&rows.New, c.New}} {
		if *side.name != "" {
			continue
		}
		version, err := serverVersion(side.binary)
		if err != nil {
			return nil, err
		}
		*side.name = version
	}
	return rows, nil
}

func (c *regressCommand) write(rows *compare.Rows) error {
	err := rows.Text(os.Stdout)
	if c.JSON != "" {
		text, problem := rows.JSON()
		if problem == nil {
			problem = os.WriteFile(c.JSON, text, 0o644)
		}
		err = errors.Join(err, problem)
	}
	return err
}

// rounds runs one load alternately with both servers, and returns the complete rounds. If a run has
// no report even after a repetition, rounds returns its error.
func (c *regressCommand) rounds(ctx context.Context, w *work, measure measurer) (*compare.Work, error) {
	out := &compare.Work{Name: w.name, Unit: w.unit, Less: w.less, Short: c.Short}
	for i := range w.rounds {
		// Both sides of a round have the same seed.
		load, err := seeded(w.args, strconv.Itoa(i+1))
		if err != nil {
			return out, err
		}
		var round compare.Round
		for _, side := range compare.Order(i) {
			name := fmt.Sprintf("  round %d of %d, %v", i+1, w.rounds, side)
			args := append(load[:len(load):len(load)], "--spawn", "--server", []string{c.Base, c.New}[side])
			round[side], err = w.once(ctx, name, func(ctx context.Context) ([]byte, error) { return measure(ctx, side, args) })
			if err != nil {
				return out, err
			}
		}
		out.Rounds = append(out.Rounds, round)
	}
	return out, nil
}

// runWithin is the timeout of a run, so that a server that hangs does not delay the other runs.
const runWithin = 3 * time.Minute

// once makes one run, and a second one if the first is invalid or has no report. Failures of the
// server in the first run still count.
func (w *work) once(ctx context.Context, name string, measure func(context.Context) ([]byte, error)) (m compare.Measurement, err error) {
	for range 2 {
		failures := m.Failures
		m, err = w.measurement(ctx, measure)
		m.Failures = append(failures, m.Failures...)
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		case len(m.Invalid) > 0:
			fmt.Fprintf(os.Stderr, "%s: INVALID: %s\n", name, strings.Join(m.Invalid, "; "))
		default:
			fmt.Fprintf(os.Stderr, "%s: %.0f %s\n", name, m.Value, strings.Join(append([]string{w.unit}, m.Failures...), "; "))
			return m, nil
		}
	}
	return m, err
}

func (w *work) measurement(ctx context.Context, measure func(context.Context) ([]byte, error)) (m compare.Measurement, err error) {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	text, err := measure(ctx)
	if err != nil {
		return m, err
	}
	run, err := compare.Parse(text)
	if err != nil {
		return m, err
	}
	m = compare.Measurement{Value: run.Numbers[w.number], Invalid: run.Invalid, Failures: run.Failures}
	if !(m.Value > 0) {
		m.Invalid = append(m.Invalid, "the report has no "+w.number)
	}
	return m, nil
}
