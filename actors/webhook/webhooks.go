package webhook

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/naming"
)

// Send makes one delivery attempt. It returns within a bounded time, or when ctx ends.
type Send func(ctx context.Context, h *Hook, d *Delivery) Outcome

const (
	// round is the maximum time between two checks for due deliveries.
	round = time.Second
	// settle is the pause between the announcement of new deliveries and reading them. In this time
	// their commit ends, and deliveries that are added are read together with them.
	settle = 50 * time.Millisecond
	// rest is the pause after a result could not be recorded. The delivery is then sent again.
	// Without this pause, the receiver would get it every second while a disk is full.
	rest = 30 * time.Second
	// maxTests bounds the concurrent tests. Each test blocks the goroutine of its request until the
	// receiver responds.
	maxTests = 4
)

// Config configures Webhooks. All fields are required.
type Config struct {
	System  *actor.ActorSystem
	Journal durable.Journal
	Audit   *audit.Trail
	Durable durable.Options
	Clock   clock.Clock
	Logger  *slog.Logger
}

// Webhooks manages all webhooks. Safe for concurrent use.
type Webhooks struct {
	*Outbox
	host  *Host
	gate  func() error // returns an error while nothing can be recorded; nil means always possible
	clock clock.Clock
	log   *slog.Logger
	tests chan struct{} // semaphore for tests

	creating sync.Mutex // held while the number of webhooks is checked and one is created

	delivered, failedTries atomic.Int64
	waiting, stopped       atomic.Int64
	busy                   sync.Map // ids of webhooks for which this node is sending
}

// New opens the webhooks. Nothing is sent before Run.
func New(cfg Config) (*Webhooks, error) {
	host, err := durable.NewHost(cfg.System, cfg.Journal, Kind(cfg.Audit), cfg.Durable)
	if err != nil {
		return nil, err
	}
	w := &Webhooks{
		Outbox: newOutbox(cfg.Journal, cfg.Clock, cfg.Logger), host: host, gate: cfg.Durable.Gate, clock: cfg.Clock,
		log: cfg.Logger.With("component", "webhooks"), tests: make(chan struct{}, maxTests),
	}
	_, err = w.refresh()
	if err != nil {
		return nil, errors.Join(err, host.Close(context.Background()))
	}
	return w, nil
}

// Close stops the actors.
func (w *Webhooks) Close(ctx context.Context) error { return w.host.Close(ctx) }

// Host returns the host of the webhooks' actors.
func (w *Webhooks) Host() *Host { return w.host }

// Stats contains counters since startup, and two current numbers: Waiting counts waiting
// deliveries, and Stopped counts stopped webhooks.
type Stats struct{ Delivered, Failed, Dropped, Waiting, Stopped int64 }

// Stats returns the statistics.
func (w *Webhooks) Stats() Stats {
	return Stats{w.delivered.Load(), w.failedTries.Load(), w.dropped.Load(), w.waiting.Load(), w.stopped.Load()}
}

// system is the server itself as a caller.
var system = Caller{Type: "system"}

func (w *Webhooks) ask(id string, caller Caller, body Body) error {
	h, err := w.host.Get(id)
	if err == nil {
		_, _, err = h.Ask(Command{Caller: caller, Body: body})
	}
	return err
}

// listens returns an error unless a webhook is listed. Actors are looked up only for listed
// webhooks, because a look-up loads the actor.
func (w *Webhooks) listens(id string) error {
	if !naming.ValidID(id) {
		return errMissing
	}
	_, err := w.journal.Get(listTable, []byte(id))
	if errors.Is(err, durable.ErrNotFound) {
		return errMissing
	}
	return err
}

// Create creates a webhook and returns its id.
func (w *Webhooks) Create(caller Caller, b Create) (string, error) {
	w.creating.Lock()
	defer w.creating.Unlock()
	hooks, err := w.hooks()
	if err != nil {
		return "", err
	}
	if len(hooks) >= MaxHooks {
		return "", durable.Reject(durable.Conflict, "there are %d webhooks already; delete one first", MaxHooks)
	}
	id := w.ids.New()
	if err := w.ask(id, caller, b); err != nil {
		return "", err
	}
	w.reload()
	return id, nil
}

// All returns the webhooks, oldest first.
func (w *Webhooks) All() (all []*Hook, err error) {
	hooks, err := w.hooks()
	if err != nil {
		return nil, err
	}
	for _, listed := range hooks {
		h, err := w.host.Get(listed.Id)
		if err != nil {
			return nil, err
		}
		if x := h.View().Hook; x != nil { // nil if it was deleted meanwhile
			all = append(all, x)
		}
	}
	return all, nil
}

// Tries returns the last attempts of a webhook, newest first.
func (w *Webhooks) Tries(id string) ([]*Try, error) {
	if err := w.listens(id); err != nil {
		return nil, err
	}
	h, err := w.host.Get(id)
	if err != nil {
		return nil, err
	}
	hook := h.View().Hook
	if hook == nil { // deleted meanwhile
		return nil, errMissing
	}
	tries := slices.Clone(hook.Tries)
	slices.Reverse(tries)
	return tries, nil
}

// Delete removes a webhook with its waiting and failed deliveries.
func (w *Webhooks) Delete(caller Caller, id string) error {
	if err := w.listens(id); err != nil {
		return err
	}
	if err := w.ask(id, caller, Delete{}); err != nil {
		return err
	}
	w.reload()
	return w.forget(id)
}

// Resume resumes a webhook, and makes its failed deliveries due now. It does the same for delayed
// deliveries, except those that are due within soon anyway.
func (w *Webhooks) Resume(caller Caller, id string) error {
	if err := w.listens(id); err != nil {
		return err
	}
	failed, err := w.failed(id)
	if err != nil {
		return err
	}
	delayed, err := w.delayed(id, w.clock.Now())
	if err != nil {
		return err
	}
	if err := w.ask(id, caller, Resume{failed, delayed}); err != nil {
		return err
	}
	w.reload()
	w.hint()
	return nil
}

// Test sends a test event immediately, without retries. It returns the status of the response, or 0
// without a response. If maxTests tests are already in progress, it returns durable.ErrBusy.
func (w *Webhooks) Test(ctx context.Context, id string, send Send) (int32, error) {
	if err := w.listens(id); err != nil {
		return 0, err
	}
	select {
	case w.tests <- struct{}{}:
		defer func() { <-w.tests }()
	default:
		return 0, durable.ErrBusy
	}
	h, err := w.host.Get(id)
	if err != nil {
		return 0, err
	}
	hook := h.View().Hook
	if hook == nil {
		return 0, errMissing
	}
	d := &Delivery{Id: w.ids.New(), Type: Test, At: w.clock.Now().UnixMilli(), Data: &Data{}}
	outcome := send(ctx, hook, d)
	if err := w.ask(id, system, NoteTest{ID: d.Id, Outcome: outcome}); err != nil && !durable.IsMissing(err) {
		w.log.Warn("recording the result of a webhook test failed", "webhook", id, "error", err)
	}
	return outcome.Status, nil
}

// reload reads the list again after this node has changed it.
func (w *Webhooks) reload() {
	if _, err := w.refresh(); err != nil {
		w.log.Warn("reading the list of webhooks failed", "error", err)
	}
}

// Run sends due deliveries until ctx ends, and waits for those in flight.
func (w *Webhooks) Run(ctx context.Context, send Send) {
	var sending sync.WaitGroup
	defer sending.Wait()
	tick := w.clock.NewTicker(round)
	defer tick.Stop()
	var reported int64 // number of dropped deliveries already reported
	for failed := false; ; {
		hooks, err := w.refresh()
		if err != nil && !failed {
			w.log.Warn("reading the list of webhooks failed; it is tried again every second", "error", err)
		}
		failed = err != nil
		now, waiting, stopped := w.clock.Now().UnixMilli(), 0, int64(0)
		for _, q := range hooks {
			waiting += q.waiting
			if q.Stopped {
				stopped++
			}
			if q.waiting == 0 || q.due > now || q.Stopped {
				continue
			}
			// Each webhook sends one delivery at a time, so a slow receiver uses one connection.
			if _, under := w.busy.LoadOrStore(q.Id, true); !under {
				sending.Go(func() {
					defer w.busy.Delete(q.Id)
					w.drain(ctx, q.Id, send)
				})
			}
		}
		w.waiting.Store(int64(waiting))
		w.stopped.Store(stopped)
		if n := w.dropped.Load(); n > reported {
			w.log.Warn("webhook deliveries were dropped because too many were waiting; check whether the receivers are slow or down", "dropped", n-reported, "maximum", MaxWaiting)
			reported = n
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		case <-w.news:
			w.pause(ctx, settle)
		}
	}
}

// pause waits for d or the end of ctx.
func (w *Webhooks) pause(ctx context.Context, d time.Duration) {
	t := w.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C():
	}
}

// drain sends the due deliveries of a webhook, one after another, if this node owns it.
func (w *Webhooks) drain(ctx context.Context, id string, send Send) {
	for ctx.Err() == nil {
		if w.gate != nil && w.gate() != nil {
			return // the result of a delivery could not be recorded
		}
		h, err := w.host.Get(id)
		if err != nil {
			if !errors.Is(err, durable.ErrUnavailable) {
				w.log.Warn("loading a webhook failed; its deliveries are sent later", "webhook", id, "error", err)
			}
			return
		}
		hook := h.View().Hook
		if !h.Owns() || hook == nil || hook.Stopped {
			return
		}
		d, due, err := w.first(id, w.clock.Now())
		if err != nil {
			w.log.Warn("reading the queue of a webhook failed; its deliveries are sent later", "webhook", id, "error", err)
			return
		}
		if d == nil {
			return
		}
		outcome := send(ctx, hook, d)
		if ctx.Err() != nil {
			return // this node canceled the attempt, so it is not a failure of the receiver
		}
		if Delivered(outcome.Status) {
			w.delivered.Add(1)
		} else {
			w.failedTries.Add(1)
		}
		if err := w.ask(id, system, Note{Due: due, Delivery: d, Outcome: outcome}); err != nil {
			if !durable.IsMissing(err) {
				w.log.Warn("recording the result of a webhook delivery failed; the delivery will be sent again", "webhook", id, "error", err)
				w.pause(ctx, rest)
			}
			return
		}
		if now := h.View().Hook; now.GetStopped() {
			w.log.Warn("a webhook was stopped because its receiver failed too often; repair the receiver, then resume the webhook", "webhook", id, "failures", MaxFailures)
			w.reload()
			return
		}
	}
}
