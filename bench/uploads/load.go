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
	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
)

type usage = func() (server.Usage, error)

// sender is an attendee who uploads, one file at a time.
type sender struct {
	session api.Session
	path    string
	last    string // the id of the file to delete before the next
}

// tally is what became of one size of upload.
type tally struct {
	latency                   *latency.Histogram
	done, refused, unanswered int
	complaint                 string
}

// load plans and makes the uploads.
type load struct {
	cfg    *Config
	client *api.Client
	free   chan *sender // those who send nothing at the moment
	filler []byte       // what files are filled with; immutable

	mu sync.Mutex
	// Guarded by mu.
	count        int
	small, large *tally
	shed         int
}

func newLoad(cfg *Config, client *api.Client, senders []*sender) *load {
	l := &load{
		cfg: cfg, client: client, free: make(chan *sender, len(senders)),
		filler: make([]byte, max(cfg.SmallBytes, cfg.LargeBytes)), small: newTally(), large: newTally(),
	}
	rng := rand.NewChaCha8([32]byte{byte(cfg.Workshop.Seed)})
	_, _ = rng.Read(l.filler)
	for _, s := range senders {
		l.free <- s
	}
	return l
}

// run makes what is planned until ctx ends, and waits for it.
func (l *load) run(ctx context.Context, began time.Time) {
	underway := make(chan struct{}, l.cfg.AtOnce)
	var streams, uploads sync.WaitGroup
	stream := func(rate float64, size int, t *tally) {
		for phase := l.cfg.Phase; phase < l.cfg.Workshop.Duration; phase += parts * l.cfg.Phase {
			for plan := pacing.Uniform(rate, l.cfg.Phase); ; {
				due, ok := plan.Next()
				if !ok {
					break
				}
				at := began.Add(phase + due)
				if !sleepUntil(ctx, at) {
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

func sleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (l *load) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// upload hands one file in that no other is like. When all attendees are busy
// it waits, and the waiting counts.
func (l *load) upload(due time.Time, size int, t *tally) {
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
		l.note(func() { t.unanswered++; t.complaint = err.Error() })
		return
	}
	a, err := l.client.Do(r)
	took := time.Since(due)
	l.note(func() {
		switch {
		case err != nil:
			t.unanswered++
			t.complaint = err.Error()
		case !a.OK():
			t.refused++
			t.complaint = a.Err().Error()
		default:
			t.done++
			t.latency.Record(took)
			var made struct {
				ID string `json:"id"`
			}
			if a.Decode(&made) == nil {
				s.last = made.ID
			}
		}
	})
}

// operations are the uploads as a report shows them.
func (l *load) operations() []report.Operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return []report.Operation{
		summary(fmt.Sprintf("upload %s", bytesText(l.cfg.SmallBytes)), l.small),
		summary(fmt.Sprintf("upload %s", bytesText(l.cfg.LargeBytes)), l.large),
	}
}

func bytesText(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
