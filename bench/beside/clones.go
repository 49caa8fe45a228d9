//go:build linux

package beside

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"atelier/bench/api"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// Clones is a workshop in which many attendees clone the code of the steps at the same moment,
// repeatedly. The fields with a help text are flags of cmd/atelier-bench.
type Clones struct {
	workshop.Config `kong:"set=attendees=500,set=duration=2m,set=join=10s,set=reads=0"`

	People    int           `default:"300" group:"Clones" help:"Number of simultaneous clones."`
	Line      float64       `default:"125" group:"Clones" help:"Bandwidth that all clones share, in MB/s, as in one room; 0 is unlimited."`
	Every     time.Duration `default:"10s" group:"Clones" help:"Time between two rounds of clones; the first round is after half of this time."`
	Settle    time.Duration `default:"1s" group:"Clones" help:"Time after a round of clones that is not measured."`
	Steps     int           `default:"10" group:"Clones" help:"Number of steps, each with a branch for its start and its end."`
	Files     int           `default:"10" group:"Clones" help:"Number of files per branch."`
	FileBytes int           `default:"4096" group:"Clones" help:"Size of a file, in bytes."`

	// Cloner is the command that calls ServeClones.
	Cloner []string `kong:"-"`
}

// perPerson is the maximum number of clones of a person per minute. It is less than the server's
// limit.
const perPerson = 20

// Check refuses invalid values.
func (c *Clones) Check() error {
	switch {
	case c.People < 1 || c.People > 1000:
		return errors.New("people: want 1..1000")
	case c.Line < 0:
		return errors.New("line: want 0 or more")
	case c.Every < time.Minute/perPerson || c.Settle < 0 || c.Settle >= c.Every/2:
		return errors.New("every: want 3s or more, and more than twice the settling time")
	case c.Duration < c.Every:
		return errors.New("duration: want at least the time between two rounds")
	case c.Steps < 1 || c.Steps > 50 || c.Files < 1 || c.Files > 100 || c.FileBytes < 1 || c.FileBytes > 1<<20:
		return errors.New("code: want 1..50 steps, 1..100 files of at most 1 MiB")
	case c.Codelab != "" || c.CodelabID != "":
		return errors.New("codelab: the clones need their own codelab")
	}
	return c.Config.Check()
}

// Names lists the values that a run measures.
func (c *Clones) Names() report.Names { return names("clone") }

// Run runs the workshop with clones. An error means that there are no results.
func (c *Clones) Run(ctx context.Context, target *server.Target) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return run(ctx, "clones", c.Config, target, func(s *site) load { return &clones{cfg: c, site: s, done: report.NewTally("clone")} })
}

// clones is the additional load of a run of Clones.
type clones struct {
	cfg *Clones
	*site
	lab    string
	people []access
	rng    *rand.Rand // for preparing and changing the code
	done   *report.Tally

	// times contains the period of each round of clones, since the beginning of the measured time.
	// A period without an end is in progress. Guarded by mu.
	times []span
}

type span struct{ from, to time.Duration }

// partOf returns the part to which a moment belongs. It returns -1 before the measured time, and
// while the server settles after a round of clones.
func (l *clones) partOf(since time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.times {
		switch {
		case since < s.from:
		case s.to == 0 || since < s.to:
			return with
		case since < s.to+l.cfg.Settle:
			return -1
		}
	}
	if since < 0 {
		return -1
	}
	return without
}

func (l *clones) run(ctx context.Context, live *workshop.Live) {
	cloner, err := startCloner(context.WithoutCancel(ctx), l.cfg.Cloner, crowd{l.people, l.cfg.Line * 1e6})
	if err != nil {
		l.done.GiveUp(err.Error())
		return
	}
	defer cloner.stop()
	for at := l.cfg.Every / 2; at < l.cfg.Duration; at += l.cfg.Every {
		if err := l.change(); err != nil {
			l.done.GiveUp(err.Error())
		}
		due := live.Began.Add(at)
		if !pacing.SleepUntil(ctx, due) {
			return
		}
		l.note(func() { l.times = append(l.times, span{from: at}) })
		if err := cloner.clone(due, l.done); err != nil && ctx.Err() == nil {
			l.done.GiveUp(err.Error())
			return
		}
		l.note(func() { l.times[len(l.times)-1].to = time.Since(live.Began) })
	}
}

// prepare creates the codelab of the workshop, with the code of its steps. It shares all of the
// code, and registers the attendees who will clone.
func (l *clones) prepare(ctx context.Context, w *workshop.Config) error {
	l.rng = rand.New(rand.NewPCG(w.Seed, 0))
	steps := make([][2]string, l.cfg.Steps)
	for i := range steps {
		steps[i] = [2]string{"Step " + strconv.Itoa(i+1), "Go on from the code of this step."}
	}
	lab, err := l.Create(l.admin, "Code under load", steps)
	if err != nil {
		return err
	}
	l.lab, w.CodelabID = lab.ID, lab.ID
	if err := l.send("PUT", "/codelabs/"+l.lab, map[string]any{"share_code": "all"}); err != nil {
		return err
	}
	if err := l.send("POST", "/codeserver", map[string]any{"codelab_id": l.lab, "structure_type": "branch", "workspace_files": l.files()}); err != nil {
		return err
	}
	for step := 1; step <= l.cfg.Steps; step++ {
		for _, which := range []string{"start", "end"} {
			if err := l.send("POST", "/codeserver/"+l.lab+"/branch", map[string]any{"step_number": step, "branch_type": which}); err != nil {
				return err
			}
			if err := l.write(fmt.Sprintf("step-%d-%s", step, which), l.files()); err != nil {
				return err
			}
		}
	}
	people, err := api.RegisterAll(ctx, l.Client, l.lab, l.cfg.People)
	if err != nil {
		return err
	}
	l.people = make([]access, len(people))
	for i, p := range people {
		a, err := l.Do(&api.Request{Method: "POST", Path: "/codelabs/" + l.lab + "/git-access", Session: p.Session})
		if err == nil {
			err = a.Decode(&l.people[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change commits a change, so that the server cannot reuse a pack of an earlier round.
func (l *clones) change() error {
	return l.write("step-1-start", []file{{"changed.txt", strconv.FormatUint(l.rng.Uint64(), 36)}})
}

type file struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// files returns new files of text that compresses like code.
func (l *clones) files() []file {
	out := make([]file, l.cfg.Files)
	for i := range out {
		var text strings.Builder
		for text.Len() < l.cfg.FileBytes {
			fmt.Fprintf(&text, "func f%d() int { return %d }\n", l.rng.Uint32(), l.rng.Uint32())
		}
		out[i] = file{fmt.Sprintf("pkg/file%d.go", i), text.String()[:l.cfg.FileBytes]}
	}
	return out
}

func (l *clones) write(branch string, files []file) error {
	return l.send("POST", "/codeserver/"+l.lab+"/branches/"+branch+"/files", map[string]any{"files": files, "commit_message": "Change " + branch})
}

func (l *clones) send(method, path string, body any) error {
	return l.Send(l.admin, method, path, body)
}

func (l *clones) conclude(out *report.Result) {
	out.Operations = append(out.Operations, l.done.Result())
}
