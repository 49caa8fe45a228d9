//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"atelier/bench/compare"
	"atelier/bench/report"
)

// differenceFlags define what counts as a difference.
type differenceFlags struct {
	Tolerance float64 `default:"5" placeholder:"PERCENT" help:"Tolerated change."`
	Alpha     float64 `default:"0.05" help:"Significance level of a difference."`
}

// print compares two sets and prints the findings. Its error is the exit code if something is worse
// or a run is invalid.
func (d *differenceFlags) print(a, b *compare.Set, single bool) error {
	findings, skipped, err := compare.Compare(a, b, compare.Limits{Tolerance: d.Tolerance / 100, Alpha: d.Alpha, Single: single})
	if err != nil {
		return err
	}
	worse, err := compare.Text(os.Stdout, findings, skipped)
	switch {
	case err != nil:
		return err
	case worse > 0:
		return exitCode(report.ExitFailed)
	case compare.AnyInvalid(findings):
		return exitCode(report.ExitInvalid)
	}
	return nil
}

type compareCommand struct {
	A string `arg:"" type:"existingfile" help:"Earlier report, or a file with several: a set, a list, or concatenated reports."`
	B string `arg:"" type:"existingfile" help:"Later report, or several."`
	differenceFlags
}

// Run is called by kong.
func (c *compareCommand) Run() error {
	a, err := compare.Read(c.A)
	if err != nil {
		return err
	}
	b, err := compare.Read(c.B)
	if err != nil {
		return err
	}
	return c.print(a, b, false)
}

// pairCommand runs a scenario alternately with two binaries.
type pairCommand struct {
	A      string   `required:"" type:"existingfile" placeholder:"PATH" help:"Earlier server binary."`
	B      string   `required:"" type:"existingfile" placeholder:"PATH" help:"Later server binary."`
	Repeat int      `default:"5" help:"Number of runs per binary; fewer than 4 cannot show a difference."`
	JSONA  string   `name:"json-a" type:"path" placeholder:"FILE" help:"Write the reports of A."`
	JSONB  string   `name:"json-b" type:"path" placeholder:"FILE" help:"Write the reports of B."`
	Args   []string `arg:"" passthrough:"" help:"Scenario and its flags, without --spawn and --server."`
	differenceFlags
}

// Validate is called by kong.
func (c *pairCommand) Validate() error {
	return errors.Join(atLeast("repeat", c.Repeat, 1), checkFiles([]file{{"json-a", c.JSONA}, {"json-b", c.JSONB}}))
}

// Run is called by kong.
func (c *pairCommand) Run(ctx context.Context) error { return c.run(ctx, measure) }

// run does the same as Run, with a measurement that tests can replace. After an interruption or a
// failed run, it writes the reports so far. It compares them if each binary has at least one.
func (c *pairCommand) run(ctx context.Context, measure func(context.Context, []string) ([]byte, error)) error {
	reports, broken := c.rounds(ctx, measure)
	if ctx.Err() != nil {
		fmt.Fprintf(os.Stderr, "interrupted: %d runs of A and %d of B were done\n", len(reports[0]), len(reports[1]))
		broken = exitCode(report.ExitInterrupted)
	}
	var sets [2]*compare.Set
	for which, path := range []string{c.JSONA, c.JSONB} {
		if len(reports[which]) == 0 {
			return broken
		}
		set, err := keep(path, reports[which])
		if err != nil {
			return errors.Join(err, broken)
		}
		sets[which] = set
	}
	if err := c.print(sets[0], sets[1], false); broken == nil || errors.Is(err, exitCode(report.ExitFailed)) {
		return err
	}
	return broken
}

// rounds runs both binaries alternately, and returns the reports of A and of B. With an error, it
// also returns the reports so far.
func (c *pairCommand) rounds(ctx context.Context, measure func(context.Context, []string) ([]byte, error)) (reports [2][][]byte, err error) {
	args := c.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	for i := range c.Repeat {
		// Both get the same load.
		load, err := seeded(args, fmt.Sprint(max(rand.Uint32(), 1)))
		if err != nil {
			return reports, err
		}
		for _, which := range compare.Order(i) {
			binary := []string{c.A, c.B}[which]
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", i+1, c.Repeat, []string{"A", "B"}[which])
			text, err := measure(ctx, append(load[:len(load):len(load)], "--spawn", "--server", binary))
			if err != nil {
				return reports, err
			}
			reports[which] = append(reports[which], text)
		}
	}
	return reports, nil
}

// keep writes reports to the file at path, and reads them back as a set. If path is "", it uses a
// temporary file.
func keep(path string, reports [][]byte) (*compare.Set, error) {
	if path == "" {
		f, err := os.CreateTemp("", "atelier-bench-*.json")
		if err != nil {
			return nil, err
		}
		_ = f.Close()
		path = f.Name()
		defer os.Remove(path)
	}
	if err := compare.Write(path, reports); err != nil {
		return nil, err
	}
	return compare.Read(path)
}

// measure runs this program with a command line and returns its JSON report. Failed and
// invalid runs also have a report.
func measure(ctx context.Context, args []string) ([]byte, error) {
	return measureIn(ctx, "", args)
}

// measureIn does the same as measure, in a separate folder that also contains the server's data and
// logs. The folder has no config.toml. An older server therefore does not read this tree's file,
// which can have keys that the server rejects. If folder is "", the current folder is used.
func measureIn(ctx context.Context, folder string, args []string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp(folder, "atelier-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "report.json")
	cmd := exec.CommandContext(ctx, self, append(args, "--json", path)...)
	if folder != "" {
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "TMPDIR="+folder)
	}
	// SIGTERM lets the subprocess end its server. Without a process group of its own, it would also
	// receive Ctrl-C from the terminal, and SIGTERM would then end it at once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	text, missing := os.ReadFile(path)
	if missing != nil || ctx.Err() != nil {
		return nil, fmt.Errorf("%v: %w\n%s", commandLine(append([]string{self}, args...)), errors.Join(err, ctx.Err()), out)
	}
	return text, nil
}

// loads are the loads of the baseline. Each takes a few seconds. Together they cover the main
// functions of the server.
var loads = [][]string{
	{"fanout", "--subscribers", "1000", "--rate", "100", "--regular"},
	{"fanout", "--subscribers", "1000", "--publishers", "16", "--rate", "0", "--window", "8", "--max-busy", "100"},
	{"idle", "--connections", "2000", "--connect", "2s"},
	{"rest", "--write-connections", "0"},
	{"rest", "--read-connections", "0", "--write-connections", "256"},
	{"tokens", "--rate", "2000"},
	{"workshop", "--attendees", "300", "--join", "3s"},
}

type baselineCommand struct {
	File     string        `default:"bench/baseline.json" type:"path" help:"File of recorded numbers."`
	Record   bool          `help:"Record the numbers instead of comparing."`
	Repeat   int           `default:"3" help:"Number of runs per load."`
	Duration time.Duration `default:"6s" help:"Measured time of each load."`
	Server   string        `type:"path" placeholder:"PATH" help:"Server binary; the default is atelier in the folder of this program."`

	Tolerance float64 `default:"40" placeholder:"PERCENT" help:"Tolerated change; wide, because the recorded numbers are old."`
}

// Run is called by kong.
func (c *baselineCommand) Run(ctx context.Context) error {
	var reports [][]byte
	for i := range c.Repeat {
		for _, load := range loads {
			fmt.Fprintf(os.Stderr, "round %d of %d: %v\n", i+1, c.Repeat, load)
			args := append(load[:len(load):len(load)], "--spawn", "--duration", c.Duration.String(), "--allow-lag")
			if c.Server != "" {
				args = append(args, "--server", c.Server)
			}
			text, err := measure(ctx, args)
			if ctx.Err() != nil {
				fmt.Fprintln(os.Stderr, "interrupted: nothing was compared")
				return exitCode(report.ExitInterrupted)
			}
			if err != nil {
				return err
			}
			reports = append(reports, text)
		}
	}
	if c.Record {
		return compare.Write(c.File, reports)
	}
	before, err := compare.Read(c.File)
	if err != nil {
		return err
	}
	now, err := keep("", reports)
	if err != nil {
		return err
	}
	d := differenceFlags{Tolerance: c.Tolerance, Alpha: 1}
	return d.print(before, now, true)
}
