package compare

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// config contains the values of the command line.
type config struct {
	bench, self, node, into, keep string
	rounds, length                int
	times                         times
	short, written                bool
	only, scenes, note            string
	arguments                     []string
}

// Command runs the comparison.
func Command(ctx context.Context, flags *flag.FlagSet, args []string, out, log io.Writer) error {
	c := &config{arguments: args}
	flags.StringVar(&c.bench, "bench", "bin/atelier-bench", "the load `generator`; the Atelier server must be in the same folder")
	flags.StringVar(&c.node, "node", "bench/peers/node", "`folder` of the Node.js servers, with their dependencies installed")
	flags.StringVar(&c.into, "into", "", "insert the tables between the marks in this `file`; by default they are printed")
	flags.StringVar(&c.keep, "keep", "", "keep the generator's reports in this `folder`")
	flags.IntVar(&c.rounds, "rounds", 3, "number of runs of each server per scenario")
	flags.IntVar(&c.length, "length", 160, "`bytes` of each published text, without the overhead of the protocol")
	flags.DurationVar(&c.times.duration, "duration", 8*time.Second, "measured time of a run")
	flags.DurationVar(&c.times.warmup, "warmup", 2*time.Second, "load before the measured time")
	flags.BoolVar(&c.short, "short", false, "use few subscribers, to test that everything works; the numbers are meaningless")
	flags.BoolVar(&c.written, "written", false, "run no server, and write the tables from the reports in the folder of --keep")
	flags.StringVar(&c.only, "only", "", "compare only `these` servers, separated by commas")
	flags.StringVar(&c.scenes, "scenarios", "", "run only `these` scenarios, separated by commas")
	flags.StringVar(&c.note, "note", "", "a `sentence` to put before the tables, for example about other load on the machine")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return c.run(ctx, out, log)
}

func (c *config) run(ctx context.Context, out, log io.Writer) error {
	var err error
	if c.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this executable: %w", err)
	}
	if c.bench, err = filepath.Abs(c.bench); err != nil {
		return fmt.Errorf("find the generator: %w", err)
	}
	if c.rounds < 1 || c.length < 60 {
		return errors.New("--rounds must be at least 1, and --length at least 60")
	}
	all, scenes := contestants(c.self, c.node, c.length), scenarios(c.short)
	if all, err = choose(all, c.only, func(p contestant) string { return p.name }); err != nil {
		return err
	}
	if scenes, err = choose(scenes, c.scenes, func(s scenario) string { return s.name }); err != nil {
		return err
	}
	if c.keep == "" {
		if c.keep, err = os.MkdirTemp("", "peers-"); err != nil {
			return fmt.Errorf("folder of the reports: %w", err)
		}
		defer os.RemoveAll(c.keep)
	} else if err := os.MkdirAll(c.keep, 0o755); err != nil {
		return fmt.Errorf("folder of the reports: %w", err)
	}
	found := map[string][]outcome{}
	for _, s := range scenes {
		fmt.Fprintf(log, "%s: %s\n", s.name, s.title)
		rounds := c.rounds
		if s.once {
			rounds = 1
		}
		for round := range rounds {
			for _, p := range all {
				if !s.has(&p) {
					continue
				}
				o := c.one(ctx, &s, &p, round)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				fmt.Fprintf(log, "  %d %-12s %s\n", round+1, p.name, o.brief())
				found[s.name] = append(found[s.name], o)
			}
		}
	}
	section := c.section(scenes, all, found)
	if c.into != "" {
		return writeInto(c.into, section)
	}
	_, err = io.WriteString(out, section)
	return err
}

// choose returns the elements with names in the list, or all if the list is empty.
func choose[T any](all []T, list string, name func(T) string) ([]T, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	var out []T
	for _, one := range all {
		if at := slices.Index(wanted, name(one)); at >= 0 {
			out = append(out, one)
			wanted = slices.Delete(wanted, at, at+1)
		}
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("unknown names: %q", wanted)
	}
	return out, nil
}

// one runs one server in one scenario, or reads the report of an earlier run.
func (c *config) one(ctx context.Context, s *scenario, p *contestant, round int) outcome {
	o := outcome{contestant: p.name, round: round}
	fail := func(err error) outcome {
		o.failed = err.Error()
		return o
	}
	path := filepath.Join(c.keep, fmt.Sprintf("%s-%d-%s.json", s.name, round+1, p.name))
	if c.written {
		var err error
		if o.report, err = readReport(path); err != nil {
			o.failed = "no report"
		}
		return o
	}
	ctx, cancel := context.WithTimeout(ctx, s.within(c.times))
	defer cancel()
	address, pid := "", 0
	if p.args != nil {
		server, err := start(ctx, p.args)
		if err != nil {
			return fail(err)
		}
		defer server.stop()
		address, pid = server.address, server.cmd.Process.Pid
	}
	args := append(s.flags(p, c.times, c.length, round), p.flags(address, pid, s.command == "fanout")...)
	cmd := exec.CommandContext(ctx, c.bench, append(args, "--json", path)...)
	// When it is interrupted, the generator stops the server that it spawned.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	said, err := cmd.CombinedOutput()
	// Failed and invalid runs also have a report.
	if o.report, _ = readReport(path); o.report == nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return fail(fmt.Errorf("%v: %s", err, lines[len(lines)-1]))
	}
	return o
}
