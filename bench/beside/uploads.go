//go:build linux

package beside

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// Uploads is a workshop during which people submit files in another codelab. Phases of equal length
// alternate, and the first one is without uploads. The fields with a help text are flags of
// cmd/atelier-bench.
type Uploads struct {
	workshop.Config `kong:"set=attendees=500,set=duration=2m,set=join=10s,set=reads=0"`

	Phase      time.Duration `default:"10s" group:"Uploads" help:"Length of a phase: phases with and without uploads alternate. The measured time should hold an even number of them."`
	Settle     time.Duration `default:"1s" group:"Uploads" help:"Time at the start of each phase that is not measured."`
	Small      float64       `default:"4" group:"Uploads" help:"Small uploads per second."`
	Large      float64       `default:"0.5" group:"Uploads" help:"Large uploads per second."`
	SmallBytes int           `default:"1048576" group:"Uploads" help:"Size of a small upload, in bytes."`
	LargeBytes int           `default:"10485760" group:"Uploads" help:"Size of a large upload, in bytes."`
	AtOnce     int           `default:"64" group:"Uploads" help:"Maximum number of uploads in progress; further uploads are not started, which is reported."`
}

// Check refuses invalid values.
func (c *Uploads) Check() error {
	switch {
	case c.Phase <= 0 || c.Settle < 0 || c.Settle >= c.Phase:
		return errors.New("phase: want more than the settling time")
	case c.Duration < 2*c.Phase:
		return errors.New("duration: want at least two phases")
	case c.Small < 0 || c.Large < 0 || c.Small+c.Large <= 0 || c.Small+c.Large > 200:
		return errors.New("rates: want up to 200 uploads per second")
	case c.SmallBytes == c.LargeBytes:
		return errors.New("small and large uploads need different sizes")
	case c.SmallBytes < 16 || c.LargeBytes < 16 || c.SmallBytes > 10<<20 || c.LargeBytes > 10<<20:
		return errors.New("sizes: want 16 bytes to 10 MiB")
	case c.AtOnce < 1 || c.AtOnce > 512:
		return errors.New("at once: want 1 to 512")
	}
	return c.Config.Check()
}

// Names lists the values that a run measures. The names of uploads include their size.
func (c *Uploads) Names() report.Names { return names("upload_*") }

// Run runs the workshop and the uploads. An error means that there are no results.
func (c *Uploads) Run(ctx context.Context, target *server.Target) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return run(ctx, "uploads", c.Config, target, func(s *site) load {
		return &uploads{
			cfg: c, site: s, underway: make(chan struct{}, c.AtOnce), filler: make([]byte, max(c.SmallBytes, c.LargeBytes)),
			small: report.NewTally("upload " + bytesText(c.SmallBytes)), large: report.NewTally("upload " + bytesText(c.LargeBytes)),
		}
	})
}

// uploads plans and performs the uploads.
type uploads struct {
	cfg *Uploads
	*site
	free     chan *sender  // idle senders
	underway chan struct{} // has an element for each upload in progress
	filler   []byte        // content of files; immutable after prepare
	// Guarded by mu.
	count, shed  int
	small, large *report.Tally
}

// sender is an attendee who uploads, one file after another.
type sender struct {
	session api.Session
	path    string
	last    string // id of the file to delete before the next upload
}

// perSender is the number of uploads per minute of one attendee. It is below the server's limit.
const perSender = 40

// prepare creates a codelab for the uploads, with enough attendees. Each of them deletes a file
// before uploading the next one, so that a run needs little disk space.
func (l *uploads) prepare(ctx context.Context, w *workshop.Config) error {
	_, _ = rand.NewChaCha8([32]byte{byte(w.Seed)}).Read(l.filler)
	lab, err := l.Create(l.admin, "Uploads under load", [][2]string{{"Hand in", "Hand your file in."}})
	if err != nil {
		return err
	}
	people, err := api.RegisterAll(ctx, l.Client, lab.ID, max(16, int((l.cfg.Small+l.cfg.Large)*60/perSender)+1))
	if err != nil {
		return err
	}
	l.free = make(chan *sender, len(people))
	for _, p := range people {
		l.free <- &sender{session: p.Session, path: "/codelabs/" + lab.ID + "/attendees/" + p.ID + "/submissions"}
	}
	return nil
}

func (l *uploads) partOf(since time.Duration) int {
	if since < 0 || since%l.cfg.Phase < l.cfg.Settle {
		return -1
	}
	return int(since/l.cfg.Phase) % parts
}

func (l *uploads) run(ctx context.Context, live *workshop.Live) {
	var streams, underway sync.WaitGroup
	stream := func(rate float64, size int, t *report.Tally) {
		for phase := l.cfg.Phase; phase < l.cfg.Duration; phase += parts * l.cfg.Phase {
			for plan := pacing.Uniform(rate, l.cfg.Phase); ; {
				due, ok := plan.Next()
				if !ok {
					break
				}
				at := live.Began.Add(phase + due)
				if !pacing.SleepUntil(ctx, at) {
					return
				}
				select {
				case l.underway <- struct{}{}:
					underway.Go(func() {
						defer func() { <-l.underway }()
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
	underway.Wait()
}

// upload submits a unique file, planned for due. If all attendees are busy, upload waits for one.
// The wait and the deletion of the attendee's previous file count as latency.
func (l *uploads) upload(due time.Time, size int, t *report.Tally) {
	s := <-l.free
	defer func() { l.free <- s }()
	if s.last != "" {
		if a, err := l.Do(&api.Request{Method: "DELETE", Path: s.path + "/" + s.last, Session: s.session}); err == nil && a.OK() {
			s.last = ""
		}
	}
	var number int
	l.note(func() { l.count++; number = l.count })
	mark := fmt.Appendf(nil, "%016d", number)
	r, err := api.Upload(s.session, s.path, "file.bin", io.MultiReader(bytes.NewReader(mark), bytes.NewReader(l.filler[:size-len(mark)])), size)
	if err != nil {
		l.note(func() { t.GiveUp(err.Error()) })
		return
	}
	var made struct {
		ID string `json:"id"`
	}
	if a, err := l.request(t, due, r); err == nil && a.Decode(&made) == nil {
		s.last = made.ID
	}
}

func (l *uploads) conclude(out *report.Result) {
	out.Operations = append(out.Operations, l.small.Result(), l.large.Result())
	out.Generator.Shed += l.shed
}

func bytesText(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
