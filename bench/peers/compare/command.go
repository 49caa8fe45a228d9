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

// config has the values of the command line.
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
	flags.StringVar(&c.bench, "bench", "bin/atelier-bench", "the load `generator`; the server of Atelier is in the same folder")
	flags.StringVar(&c.node, "node", "bench/peers/node", "`folder` of the servers for Node, installed")
	flags.StringVar(&c.into, "into", "", "put the tables into this `file`, between their marks; they are printed without")
	flags.StringVar(&c.keep, "keep", "", "keep the generator's reports in this `folder`")
	flags.IntVar(&c.rounds, "rounds", 3, "how often each server has its turn")
	flags.IntVar(&c.length, "length", 160, "`bytes` of the text that is said, without what a protocol wraps around it")
	flags.DurationVar(&c.times.duration, "duration", 8*time.Second, "measured time of a run")
	flags.DurationVar(&c.times.warmup, "warmup", 2*time.Second, "load before it")
	flags.BoolVar(&c.short, "short", false, "few subscribers: whether everything works, no figures")
	flags.BoolVar(&c.written, "written", false, "run nothing: make the tables of the reports that --keep has")
	flags.StringVar(&c.only, "only", "", "compare `these` servers only, with commas between")
	flags.StringVar(&c.scenes, "scenarios", "", "run `these` scenarios only, with commas between")
	flags.StringVar(&c.note, "note", "", "a `sentence` to put before the tables: what else went on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return c.run(ctx, out, log)
}

func (c *config) run(ctx context.Context, out, log io.Writer) error {
	var err error
	if c.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if c.bench, err = filepath.Abs(c.bench); err != nil {
		return fmt.Errorf("find the generator: %w", err)
	}
	if c.rounds < 1 || c.length < 60 {
		return errors.New("at least one round, and at least 60 bytes")
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
		return nil, fmt.Errorf("there is no %q", wanted)
	}
	return out, nil
}

// one makes one run.
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
			o.failed = "there is no report"
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
	// The generator stops its own server on SIGTERM.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	said, err := cmd.CombinedOutput()
	// A failed or invalid run has a report, too.
	if o.report, _ = readReport(path); o.report == nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return fail(fmt.Errorf("%v: %s", err, lines[len(lines)-1]))
	}
	return o
}
