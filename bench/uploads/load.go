//go:build linux

package uploads

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
)

type usage = func() (server.Usage, error)

// sender is an attendee who uploads, one file after another.
type sender struct {
	session api.Session
	path    string
	last    string // the id of the file to delete before the next
}

// load plans and performs the uploads.
type load struct {
	cfg    *Config
	client *api.Client
	free   chan *sender // idle senders
	filler []byte       // content of files; immutable

	mu sync.Mutex
	// Guarded by mu.
	count, shed int

	small, large *report.Tally
}

func newLoad(cfg *Config, client *api.Client, senders []*sender) *load {
	l := &load{
		cfg: cfg, client: client, free: make(chan *sender, len(senders)),
		filler: make([]byte, max(cfg.SmallBytes, cfg.LargeBytes)),
		small:  report.NewTally("upload " + bytesText(cfg.SmallBytes)), large: report.NewTally("upload " + bytesText(cfg.LargeBytes)),
	}
	rng := rand.NewChaCha8([32]byte{byte(cfg.Workshop.Seed)})
	_, _ = rng.Read(l.filler)
	for _, s := range senders {
		l.free <- s
	}
	return l
}

// run performs the planned uploads until ctx ends, and waits for those in progress.
func (l *load) run(ctx context.Context, began time.Time) {
	underway := make(chan struct{}, l.cfg.AtOnce)
	var streams, uploads sync.WaitGroup
	stream := func(rate float64, size int, t *report.Tally) {
		for phase := l.cfg.Phase; phase < l.cfg.Workshop.Duration; phase += parts * l.cfg.Phase {
			for plan := pacing.Uniform(rate, l.cfg.Phase); ; {
				due, ok := plan.Next()
				if !ok {
					break
				}
				at := began.Add(phase + due)
				if !pacing.SleepUntil(ctx, at) {
					return
				}
				select {
				case underway <- struct{}{}:
					uploads.Go(func() {
						defer func() { <-underway }()
						l.upload(at, size, t)
					})
				default:
					l.note(func() { l.shed++ })
				}
			}
		}
	}
	streams.Go(func() { stream(l.cfg.Small, l.cfg.SmallBytes, l.small) })
	streams.Go(func() { stream(l.cfg.Large, l.cfg.LargeBytes, l.large) })
	streams.Wait()
	uploads.Wait()
}

func (l *load) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// upload submits a unique file. If all attendees are busy, upload waits for one, and the wait
// counts as latency.
func (l *load) upload(due time.Time, size int, t *report.Tally) {
	s := <-l.free
	defer func() { l.free <- s }()
	if s.last != "" {
		if a, err := l.client.Do(&api.Request{Method: "DELETE", Path: s.path + "/" + s.last, Session: s.session}); err == nil && a.OK() {
			s.last = ""
		}
	}
	var number int
	l.note(func() { l.count++; number = l.count })
	mark := fmt.Appendf(nil, "%016d", number)
	r, err := api.Upload(s.session, s.path, "file.bin", io.MultiReader(bytes.NewReader(mark), bytes.NewReader(l.filler[:size-len(mark)])), size)
	if err != nil {
		t.Unanswered(err)
		return
	}
	a, err := l.client.Do(r)
	took := time.Since(due)
	switch {
	case err != nil:
		t.Unanswered(err)
	case !a.OK():
		t.Refused(a.Err())
	default:
		t.Done(took)
		var made struct {
			ID string `json:"id"`
		}
		if a.Decode(&made) == nil {
			s.last = made.ID
		}
	}
}

func bytesText(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
