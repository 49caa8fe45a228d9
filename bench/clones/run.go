//go:build linux

package clones

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// within is the timeout of a clone, and of any other request.
const within = 60 * time.Second

// Run runs the workshop with clones. An error means that there are no results.
func Run(ctx context.Context, cfg *Config, target *server.Target) (*report.Result, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	client, err := api.New(target.URL, target.Via, within)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	admin, err := client.Login(target.AdminID, target.AdminPW, "Code")
	if err != nil {
		return nil, err
	}
	load := &load{cfg: cfg, client: client, admin: admin, done: report.NewTally("clone"), rng: rand.New(rand.NewPCG(cfg.Workshop.Seed, 0))}
	if err := load.prepare(ctx); err != nil {
		return nil, fmt.Errorf("prepare the code: %w", err)
	}
	if load.cloner, err = startCloner(ctx, cfg.Cloner, crowd{load.people, cfg.Line}); err != nil {
		return nil, err
	}
	defer load.cloner.stop()
	inner := cfg.Workshop
	inner.CodelabID = load.lab
	inner.Parts, inner.PartOf, inner.Beside = parts, load.partOf, load.run
	result, err := workshop.Run(ctx, &inner, target)
	if err != nil {
		return nil, err
	}
	result.Scenario = "clones"
	result.Parts[resting].Name, result.Parts[cloning].Name = "nobody clones", "they clone"
	result.Operations = append(result.Operations, load.done.Operation())
	return result, nil
}

// load makes the clones.
type load struct {
	cfg    *Config
	client *api.Client
	admin  api.Session
	lab    string
	people []access
	cloner *cloner
	rng    *rand.Rand // for preparing and changing the code
	done   *report.Tally

	mu sync.Mutex
	// times are those of the clones, since the beginning of the measured time. The last one is in
	// progress while it has no end. Guarded by mu.
	times []span
}

type span struct{ from, to time.Duration }

// partOf returns the part of the measured time at a moment; -1 during settling.
func (l *load) partOf(since time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.times {
		switch {
		case since < s.from:
		case s.to == 0 || since < s.to:
			return cloning
		case since < s.to+l.cfg.Settle:
			return -1
		}
	}
	if since < 0 {
		return -1
	}
	return resting
}

// run makes the clones at each scheduled time, until ctx ends.
func (l *load) run(ctx context.Context) {
	began := time.Now()
	for at := l.cfg.Every / 2; at < l.cfg.Workshop.Duration; at += l.cfg.Every {
		if err := l.change(); err != nil {
			l.done.Unanswered(err)
		}
		due := began.Add(at)
		if !pacing.SleepUntil(ctx, due) {
			return
		}
		l.mu.Lock()
		l.times = append(l.times, span{from: at})
		l.mu.Unlock()
		if err := l.cloner.clone(due, l.done); err != nil && ctx.Err() == nil {
			l.done.Unanswered(err)
			return
		}
		l.mu.Lock()
		l.times[len(l.times)-1].to = time.Since(began)
		l.mu.Unlock()
	}
}

// prepare makes a codelab with the code of its steps, all of it shared, and registers the attendees
// who will clone.
func (l *load) prepare(ctx context.Context) error {
	steps := make([][2]string, l.cfg.Steps)
	for i := range steps {
		steps[i] = [2]string{"Step " + strconv.Itoa(i+1), "Go on from the code of this step."}
	}
	lab, err := l.client.Create(l.admin, "Code under load", steps)
	if err != nil {
		return err
	}
	l.lab = lab.ID
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
	people, err := api.RegisterAll(ctx, l.client, l.lab, l.cfg.People)
	if err != nil {
		return err
	}
	l.people = make([]access, len(people))
	for i, p := range people {
		a, err := l.client.Do(&api.Request{Method: "POST", Path: "/codelabs/" + l.lab + "/git-access", Session: p.Session})
		if err == nil {
			err = a.Decode(&l.people[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change makes existing packs obsolete.
func (l *load) change() error {
	return l.write("step-1-start", []file{{"changed.txt", strconv.FormatUint(l.rng.Uint64(), 36)}})
}

type file struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// files returns new files of text that compresses like code.
func (l *load) files() []file {
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

func (l *load) write(branch string, files []file) error {
	return l.send("POST", "/codeserver/"+l.lab+"/branches/"+branch+"/files", map[string]any{"files": files, "commit_message": "Change " + branch})
}

func (l *load) send(method, path string, body any) error {
	return l.client.Send(l.admin, method, path, body)
}
