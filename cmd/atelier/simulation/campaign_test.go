package simulation

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/codelab/draw"
	"atelier/actors/durable"
)

// Campaign runs many seeds in several worker processes. Each process uses one CPU, so that the Go
// scheduler makes as few choices of its own as possible.
type Campaign struct {
	// First is the first seed. Seeds is the number of seeds in a round. Run repeats rounds for at
	// least the duration For. If For is 0, it runs one round.
	First, Seeds uint64
	For          time.Duration
	Workers      int
	// Change is applied to all plans, in the syntax of Plan.Parse.
	Change string
	// Self returns the command that runs this program as a worker. Its arguments are the worker's
	// first seed, the number of seeds, the step between them, and Change. A worker writes one
	// report per line.
	Self func(first, seeds, every uint64, plan string) *exec.Cmd
	// Dir receives the history of a failed run.
	Dir string
	Out io.Writer
}

// report is a worker's result for one seed.
type report struct {
	Seed    uint64
	Plan    string
	Began   bool   `json:",omitempty"` // the seed has begun, and has no result yet
	Finding string `json:",omitempty"`
	Story   string `json:",omitempty"`
	History string `json:",omitempty"`
	Counts  counts `json:",omitempty"`
}

// hang is the time after which a seed counts as hanging. A seed hangs if a goroutine waits for a
// mutex whose holder waits for a timer, because time in a test bubble then stops.
const hang = 3 * time.Minute

// crashed is the finding of a process that crashed or hung.
const crashed = "crash: the process ended"

// errFound means that the simulation found a defect.
var errFound = errors.New("the simulation failed")

// Run runs the seeds until one fails, and reports the failing seed. If none fails, it prints how
// often each event occurred. After 1,000 unchanged plans or more, it fails if an event never
// occurred.
func (c *Campaign) Run() error {
	began, total, ran := time.Now(), counts{}, uint64(0)
	for first := c.First; ; first += c.Seeds {
		failed, n, err := c.round(first, total)
		if ran += n; err != nil {
			return err
		}
		if failed != nil {
			c.explain(failed)
			return fmt.Errorf("%w: seed %d", errFound, failed.Seed)
		}
		if time.Since(began) >= c.For {
			break
		}
		_, _ = fmt.Fprintf(c.Out, "%d seeds in %v\n", ran, time.Since(began).Round(time.Second))
	}
	_, _ = fmt.Fprintf(c.Out, "%d seeds in %v, no fault found\n\n", ran, time.Since(began).Round(time.Second))
	total.print(c.Out)
	if missing := total.missing(); ran >= enough && c.Change == "" && len(missing) > 0 {
		return fmt.Errorf("%d seeds never produced: %s", ran, strings.Join(missing, "; "))
	}
	return nil
}

// enough is the number of seeds after which every possible event must have happened.
const enough = 1000

// round distributes a range of seeds over the workers.
func (c *Campaign) round(first uint64, total counts) (failed *report, ran uint64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var running []*exec.Cmd
	for i := range uint64(c.Workers) {
		cmd := c.Self(first+i, c.Seeds-min(i, c.Seeds), uint64(c.Workers), c.Change)
		all.Go(func() {
			worker := c.start(cmd, func(r report) {
				mu.Lock()
				defer mu.Unlock()
				if failed != nil && r.Finding == crashed {
					return // stopped because another worker failed
				}
				ran++
				for kind, names := range r.Counts {
					for name, n := range names {
						total.add(kind, name, n)
					}
				}
				if r.Finding != "" && (failed == nil || r.Seed < failed.Seed) {
					failed = &r
					for _, cmd := range running {
						_ = cmd.Process.Kill()
					}
				}
			}, func(cmd *exec.Cmd) {
				mu.Lock()
				defer mu.Unlock()
				running = append(running, cmd)
			})
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				err = errors.Join(err, worker)
			}
		})
	}
	all.Wait()
	return failed, ran, err
}

// start runs a worker and receives its reports. If the worker crashes or hangs, its current seed
// has failed.
func (c *Campaign) start(cmd *exec.Cmd, ran func(report), started func(*exec.Cmd)) error {
	var text bytes.Buffer
	cmd.Stderr = &text
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	started(cmd)
	watchdog := time.AfterFunc(hang, func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	at, failed := report{}, false
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			text.Write(append(lines.Bytes(), '\n'))
			continue
		}
		watchdog.Reset(hang)
		if at = r; !r.Began {
			ran(r)
			failed = failed || r.Finding != ""
		}
	}
	if err := cmd.Wait(); err != nil && !failed {
		if !at.Began {
			return fmt.Errorf("a worker failed: %w\n%s", err, text.Bytes())
		}
		at.Began, at.Finding = false, crashed
		at.Story = fmt.Sprintf("%v\n%s", err, text.Bytes())
		ran(at)
	}
	return nil
}

// one runs a single plan in a separate process.
func (c *Campaign) one(p Plan) (r report, err error) {
	err = c.start(c.Self(p.Seed, 1, 1, p.String()), func(x report) { r = x }, func(*exec.Cmd) {})
	return r, err
}

// explain shrinks a failed run, prints the relevant steps, and writes its history.
func (c *Campaign) explain(r *report) {
	p := PlanOf(r.Seed)
	_ = errors.Join(p.Parse(c.Change), p.Parse(r.Plan)) // cannot fail, because a worker has already parsed both
	small := c.shrink(p, r)
	path := filepath.Join(c.Dir, fmt.Sprintf("simulation-%d.txt", r.Seed))
	if err := os.WriteFile(path, []byte(r.Plan+"\n"+r.Finding+"\n\n"+r.History), 0o600); err != nil {
		path = err.Error()
	}
	_, _ = fmt.Fprintf(c.Out, "\nseed %d: %s\n  %s\n  whole history: %s\n  repeat with:     make simulate SEED=%d\n\n", r.Seed, r.Finding, r.Plan, path, r.Seed)
	if small.Plan != r.Plan {
		_, _ = fmt.Fprintf(c.Out, "smaller: %s\n  repeat with:     make simulate SEED=%d PLAN='%s'\n\n", small.Finding, r.Seed, small.Plan)
	}
	_, _ = fmt.Fprintln(c.Out, small.Story)
}

// shrink looks for a smaller plan that fails in the same way. It runs each plan up to twice, because
// the scheduler makes choices of its own.
func (c *Campaign) shrink(p Plan, r *report) *report {
	which, _, _ := strings.Cut(r.Finding, ":")
	until := time.Now().Add(shrinkFor)
	best := r
	for again := true; again; {
		again = false
		for _, smaller := range p.smaller() {
			for range 2 {
				if time.Now().After(until) {
					return best
				}
				x, err := c.one(smaller)
				if got, _, _ := strings.Cut(x.Finding, ":"); err == nil && got == which {
					p, best, again = smaller, &x, true
					break
				}
			}
			if again {
				break
			}
		}
	}
	return best
}

const shrinkFor = 40 * time.Second

// print writes a table of events and their counts.
func (c counts) print(to io.Writer) {
	for _, kind := range []string{"command", "fault", "message"} {
		lost := c[kind+" lost"]
		column := fmt.Sprintf("  %-28s %9s", kind, "times")
		if lost != nil {
			column += fmt.Sprintf(" %9s", "lost")
		}
		_, _ = fmt.Fprintln(to, column)
		all := maps.Clone(lost)
		if all == nil {
			all = map[string]int{}
		}
		maps.Copy(all, c[kind])
		names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
			return cmp.Or(cmp.Compare(c[kind][b], c[kind][a]), strings.Compare(a, b))
		})
		for _, name := range names {
			line := fmt.Sprintf("  %-28s %9d", name, c[kind][name])
			if lost != nil {
				line += fmt.Sprintf(" %9d", lost[name])
			}
			_, _ = fmt.Fprintln(to, line)
		}
		_, _ = fmt.Fprintln(to)
	}
}

// missing returns the required events that never happened.
func (c counts) missing() (out []string) {
	check := func(kind string, names []string) {
		for _, name := range names {
			if c[kind][name] == 0 {
				out = append(out, kind+" "+name)
			}
		}
	}
	check("command", slices.Concat(draw.Names, otherCommands))
	var all []string
	for _, f := range slices.Concat(faults, contentFaults) {
		all = append(all, f.name)
	}
	check("fault", all)
	check("message lost", messageKinds())
	return out
}

// otherCommands lists the commands that this package draws itself, without package draw.
var otherCommands = []string{"Create", "Delete", "Broadcast", "Signal", "Tokenize", string(detokenize), string(introspect), string(revoke), string(endSession),
	"GrantAttendee", "AddKey", "Use", "End", stopHook,
	upload, importLab, copyLab, claim, claimGone, drop, openUpload, sweptReferences, sweptUploads, sweptContents}

// messageKinds returns the kinds of all messages between nodes.
func messageKinds() (all []string) {
	for _, kind := range durable.MessageKinds() {
		if kind != "tell aside" { // kindOf names these messages by their contents
			all = append(all, kind)
		}
	}
	return append(append(all, codelab.AsideKinds()...), codelab.CountSubject)
}
