package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/actors/naming"
	"atelier/actors/registry"
	"atelier/persistence/memory"
)

func TestCommandsAndRepliesCanBeEncoded(t *testing.T) { journaltest.Vocabulary(t, Vocabulary) }

// world is a store with webhooks and a receiver, in its own bubble.
type world struct {
	t       *testing.T
	journal *memory.Store
	hooks   *Webhooks
	began   time.Time
	stop    func()

	mu     sync.Mutex
	status int32           // the status that the receiver returns
	tries  []string        // the types of the received deliveries
	times  []time.Duration // and their times, since the beginning
	seen   map[string]bool // their ids
	serve  func(*Delivery) // if set, is called before the receiver responds
	full   atomic.Bool     // the store refuses writes
	broken atomic.Bool     // reads of the store fail
	log    lines
}

// lines counts the log messages.
type lines struct {
	slog.Handler
	mu    sync.Mutex
	count map[string]int
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[r.Message]++
	return nil
}

// breakable is a store whose reads can fail.
type breakable struct {
	*memory.Store
	broken *atomic.Bool
}

func (b breakable) Scan(s durable.Scan, fn func(key, value []byte) bool) error {
	if b.broken.Load() {
		return errors.New("the store cannot be read")
	}
	return b.Store.Scan(s, fn)
}

func inWorld(t *testing.T, fn func(w *world)) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := &world{t: t, journal: memory.New(), status: 200, began: time.Now(), seen: map[string]bool{}}
		w.log.count = map[string]int{}
		w.start()
		fn(w)
		w.stop()
		if err := w.journal.Close(); err != nil {
			t.Error(err)
		}
		// A message to a stopped actor starts a goroutine of the library.
		time.Sleep(2 * deadLetters)
	})
}

// deadLetters is the maximum run time of the goroutine that the actor library starts for a message
// to a stopped actor (see durable.NewSystem).
const deadLetters = time.Millisecond

// start opens the webhooks and runs them.
func (w *world) start() {
	hooks, err := New(Config{
		System: durable.NewSystem(), Journal: breakable{w.journal, &w.broken}, Audit: audit.New(w.journal, clock.System, time.Hour),
		Durable: durable.Options{IdleAfter: -1, Gate: func() error {
			if w.full.Load() {
				return durable.ErrReadOnly
			}
			return nil
		}}, Clock: clock.System, Logger: slog.New(&w.log),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); hooks.Run(ctx, w.send) }()
	w.hooks = hooks
	w.stop = func() {
		cancel()
		<-done
		if err := hooks.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) send(ctx context.Context, _ *Hook, d *Delivery) Outcome {
	if w.serve != nil {
		w.serve(d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries, w.times = append(w.tries, d.Type), append(w.times, time.Since(w.began))
	w.seen[d.Id] = true
	return Outcome{Status: w.status, TookMS: 3}
}

func (w *world) answers(status int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = status
}

func (w *world) got() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.tries)
}

func (w *world) create(events ...string) string {
	w.t.Helper()
	id, err := w.hooks.Create(Caller{ID: "admin"}, Create{URL: "https://example.org/", Events: events, Secret: []byte("sealed")})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// emit commits the deliveries of an event and returns their number.
func (w *world) emit(kind string) int {
	w.t.Helper()
	rows := w.hooks.Rows(Occurrence{Type: kind, CodelabID: "lab", At: time.Now().UnixMilli(), Data: &Data{}})
	if len(rows) > 0 {
		if err := durable.Commit(w.journal, rows); err != nil {
			w.t.Fatal(err)
		}
	}
	return len(rows)
}

func (w *world) hook(id string) *Hook {
	w.t.Helper()
	all, err := w.hooks.All()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range all {
		if h.Id == id {
			return h
		}
	}
	w.t.Fatalf("there is no webhook %s", id)
	return nil
}

// count counts the rows of a table.
func (w *world) count(table string) int { return len(w.keys(table)) }

// keys returns the keys of a table's rows.
func (w *world) keys(table string) (all []string) {
	w.t.Helper()
	if err := w.journal.Scan(durable.Scan{Table: table}, func(key, _ []byte) bool { all = append(all, string(key)); return true }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// The latest attempts are kept, newest first, even after a restart of the node.
func TestTheLastAttemptsAreKept(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(WorkshopEnded)
		if _, err := w.hooks.Test(t.Context(), id, w.send); err != nil {
			t.Fatal(err)
		}
		w.answers(500)
		w.emit(WorkshopEnded)
		time.Sleep(6 * time.Second)
		numbers := func() (out []uint32) {
			tries, err := w.hooks.Tries(id)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range tries {
				out = append(out, x.Number)
			}
			return out
		}
		w.got()
		if got := numbers(); !slices.Equal(got, []uint32{2, 1, 1}) {
			t.Fatalf("the numbers of the attempts are %v, want 2, 1, 1", got)
		}
		tries, _ := w.hooks.Tries(id)
		if first, last := tries[2], tries[0]; first.Type != Test || first.Status != 200 || last.Type != WorkshopEnded || last.Status != 500 || last.TookMs != 3 || last.At <= first.At || last.Id != tries[1].Id {
			t.Errorf("the attempts are %v", tries)
		}
		w.answers(200)
		for range MaxTries {
			w.emit(WorkshopEnded)
		}
		time.Sleep(6 * time.Minute)
		w.got()
		want := append([]uint32{3}, slices.Repeat([]uint32{1}, MaxTries-1)...)
		if got := numbers(); !slices.Equal(got, want) {
			t.Errorf("after many deliveries, the numbers of the attempts are %v", got)
		}
		if _, err := w.hooks.Tries(naming.NewID()); !durable.IsMissing(err) {
			t.Errorf("the attempts of a missing webhook: %v, want Missing", err)
		}
	})
}

func TestAFailedDeliveryIsKeptAfterSevenAttempts(t *testing.T) {
	t.Run("refused", func(t *testing.T) { triedSevenTimes(t, 500) })
	t.Run("no response", func(t *testing.T) { triedSevenTimes(t, 0) })
}

func triedSevenTimes(t *testing.T, status int32) {
	inWorld(t, func(w *world) {
		id := w.create(WorkshopEnded)
		w.answers(status)
		w.emit(WorkshopEnded)
		time.Sleep(18 * time.Hour)
		want := []time.Duration{
			0, 5 * time.Second, 5*time.Minute + 5*time.Second, 35*time.Minute + 5*time.Second,
			2*time.Hour + 35*time.Minute + 5*time.Second, 7*time.Hour + 35*time.Minute + 5*time.Second, 17*time.Hour + 35*time.Minute + 5*time.Second,
		}
		w.got()
		late := func(at, want time.Duration) bool { return at < want || at > want+time.Duration(len(Pauses))*round }
		if !slices.EqualFunc(w.times, want, func(at, want time.Duration) bool { return !late(at, want) }) {
			t.Errorf("the attempts were made at %v", w.times)
		}
		h := w.hook(id)
		if h.Failures != 7 || h.LastStatus != status || len(h.Failed) != 1 || w.count(failedTable) != 1 || w.count(queueTable) != 0 {
			t.Errorf("the webhook is %v, with %d failed and %d waiting deliveries", h, w.count(failedTable), w.count(queueTable))
		}
		if len(w.seen) != 1 {
			t.Errorf("the attempts have %d ids, want 1", len(w.seen))
		}
		// A failed delivery is repeated, with all its attempts.
		if err := w.hooks.Resume(Caller{}, id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(18 * time.Hour)
		if got := w.got(); len(got) != 2*len(Pauses) || w.count(failedTable) != 1 || w.hook(id).Failures != uint32(len(Pauses)) {
			t.Errorf("after resuming there are %d more attempts, %d failed deliveries: %v", len(got)-len(Pauses), w.count(failedTable), w.hook(id))
		}
		w.answers(204)
		if err := w.hooks.Resume(Caller{}, id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := w.got(); len(got) != 15 || w.count(failedTable) != 0 || w.count(queueTable) != 0 || len(w.seen) != 1 {
			t.Errorf("resumed with a good receiver: sent %q, %d failed, %d waiting", got, w.count(failedTable), w.count(queueTable))
		}
		if h := w.hook(id); h.Failures != 0 || len(h.Failed) != 0 {
			t.Errorf("after resuming, the webhook is %v", h)
		}
		if got := w.hooks.Stats(); got != (Stats{Delivered: 1, Failed: 14}) {
			t.Errorf("the statistics are %v", got)
		}
	})
}

func TestTwentyConsecutiveFailuresStopAWebhook(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		fail := func(n int) {
			w.answers(404)
			for range n {
				w.emit(TokenUsed)
			}
			time.Sleep(time.Second)
		}
		fail(19)
		if h := w.hook(id); h.State() != Active || h.Failures != 19 {
			t.Fatalf("after 19 failures, the webhook is %v", h)
		}
		w.answers(200)
		w.emit(TokenUsed)
		time.Sleep(time.Second)
		if h := w.hook(id); h.Failures != 0 {
			t.Fatalf("after a success, the webhook is %v", h)
		}
		time.Sleep(10 * time.Second) // the failed deliveries are sent again
		before := len(w.got())
		fail(25)
		if h := w.hook(id); h.State() != Stopped || h.Failures != 20 || len(w.got()) != before+20 {
			t.Fatalf("after 25 deliveries, %d were sent, and the webhook is %v", len(w.got())-before, h)
		}
		if n := w.emit(TokenUsed); n != 0 {
			t.Errorf("an event for a stopped webhook makes %d rows", n)
		}
		w.answers(200)
		w.hooks.drain(context.Background(), id, w.send) // as on a node that has not read yet that the webhook is stopped
		time.Sleep(time.Hour)
		if n := len(w.got()); n != before+20 || w.count(queueTable) != 25 {
			t.Errorf("after the webhook was stopped, %d deliveries were sent, and %d wait", n-before-20, w.count(queueTable))
		}
		// After a restart it is still stopped.
		w.stop()
		w.start()
		if n := w.emit(TokenUsed); n != 0 || w.hook(id).State() != Stopped {
			t.Errorf("after a restart, an event makes %d rows, and the webhook is %v", n, w.hook(id))
		}
		if err := w.hooks.Resume(Caller{}, id); err != nil {
			t.Fatal(err)
		}
		if n := len((*w.hooks.wanted.Load())[TokenUsed]); n != 1 {
			t.Errorf("after resuming %d webhooks want the event, want 1", n)
		}
		time.Sleep(time.Second)
		if n := len(w.got()); n != before+45 || w.count(queueTable) != 0 {
			t.Errorf("after resuming %d deliveries were sent, and %d wait", n-before-20, w.count(queueTable))
		}
	})
}

// A receiver was down for some hours, so the next attempts of its deliveries are hours away.
func TestResumingSendsDeliveriesThatWaitForALaterAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		w.answers(503)
		w.emit(TokenUsed)
		w.emit(TokenUsed)
		time.Sleep(8 * time.Hour) // both have failed six times, and wait for ten hours
		before := len(w.got())
		if w.count(queueTable) != 2 {
			t.Fatalf("%d deliveries wait, want 2", w.count(queueTable))
		}
		w.answers(200)
		if err := w.hooks.Resume(Caller{}, id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n := len(w.got()) - before; n != 2 || w.count(queueTable) != 0 {
			t.Errorf("after resuming, %d deliveries were sent, and %d wait; want 2 and 0", n, w.count(queueTable))
		}
	})
}

// If the next attempt is due within the duration soon, resuming leaves the delivery in the queue
// unchanged.
func TestResumingDoesNotRepeatADeliveryThatIsAboutToBeSent(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		w.answers(503)
		w.emit(TokenUsed)
		time.Sleep(time.Second) // the second attempt is due four seconds later
		keys := w.keys(queueTable)
		if err := w.hooks.Resume(Caller{}, id); err != nil {
			t.Fatal(err)
		}
		if got := w.keys(queueTable); !slices.Equal(got, keys) {
			t.Errorf("the queue is %q, want %q", got, keys)
		}
	})
}

// A slow receiver has only one connection and delays no other webhook.
func TestASlowReceiverHasOneConnection(t *testing.T) {
	inWorld(t, func(w *world) {
		under, most := 0, 0
		w.serve = func(d *Delivery) {
			if d.Type != HelpRequested {
				return
			}
			w.mu.Lock()
			under++
			most = max(most, under)
			w.mu.Unlock()
			time.Sleep(9 * time.Second)
			w.mu.Lock()
			under--
			w.mu.Unlock()
		}
		w.create(HelpRequested)
		w.create(TokenUsed)
		for range 5 {
			w.emit(HelpRequested)
			w.emit(TokenUsed)
		}
		time.Sleep(2 * time.Second)
		if got := w.got(); slices.Contains(got, HelpRequested) || len(got) != 5 {
			t.Errorf("next to a slow receiver, %q were sent", got)
		}
		time.Sleep(time.Minute)
		if got := w.got(); len(got) != 10 || most != 1 {
			t.Errorf("%d deliveries were sent, up to %d of them concurrently to the slow receiver", len(got), most)
		}
	})
}

// Deliveries beyond the bound are dropped and counted. Other webhooks still get them.
func TestTheQueueOfAWebhookIsBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		w.serve = func(*Delivery) { time.Sleep(10 * time.Second) }
		w.create(TokenUsed)
		synctest.Wait() // so that the list is not read during the following loop
		rows := 0
		for range MaxWaiting + 50 {
			rows += w.emit(TokenUsed)
		}
		if got := w.hooks.Stats(); rows != MaxWaiting || got.Dropped != 50 {
			t.Errorf("the events made %d rows, the statistics are %v", rows, got)
		}
		w.create(TokenUsed)
		if n := w.emit(TokenUsed); n != 1 {
			t.Errorf("an event for the other webhook makes %d rows, want 1", n)
		}
		time.Sleep(time.Minute) // some deliveries are sent meanwhile
		if n := w.emit(TokenUsed); n != 2 {
			t.Errorf("with room in the queue, an event makes %d rows, want 2", n)
		}
		if got := w.hooks.Stats(); got.Waiting < MaxWaiting-20 || got.Waiting > MaxWaiting+2 {
			t.Errorf("the statistics are %v", got)
		}
	})
}

// The scan runs every second, so it must be bounded.
func TestAScanOfTheQueueIsBounded(t *testing.T) {
	store := memory.New()
	defer store.Close()
	rows := []durable.Row{listed(&Hook{Id: "h", Events: []string{TokenUsed}})}
	for i := range MaxWaiting + 100 {
		rows = append(rows, waiting("h", int64(1000+i), &Delivery{Id: fmt.Sprint("d", i), Type: TokenUsed, Data: &Data{}}))
	}
	if err := durable.Commit(store, rows); err != nil {
		t.Fatal(err)
	}
	o := newOutbox(store, clock.System, slog.New(slog.DiscardHandler))
	all, err := o.refresh()
	if err != nil || len(all) != 1 || all[0].waiting != MaxWaiting || all[0].due != 1000 {
		t.Errorf("refresh returned %v, %v", all, err)
	}
	if rows := o.Rows(Occurrence{Type: TokenUsed, Data: &Data{}}); len(rows) != 0 || o.dropped.Load() != 1 {
		t.Errorf("an event for a full queue makes %d rows, and %d are dropped", len(rows), o.dropped.Load())
	}
}

// A change of an unknown kind is an error, so that its reader stops.
func TestAChangeOfAnUnknownKindIsAnError(t *testing.T) {
	parse := func(e *Change) (*Change, error) {
		record, err := durable.AppendMessage(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		return Kind(nil).ParseEvent(record)
	}
	if _, err := parse(&Change{At: 1}); !errors.Is(err, durable.ErrUnknownEvent) {
		t.Errorf("parsing a change of an unknown kind: %v, want ErrUnknownEvent", err)
	}
	if e, err := parse(&Change{At: 1, Body: &Change_Resumed{&Resumed{}}}); err != nil || e.GetResumed() == nil {
		t.Errorf("parsing a known change: %v, %v", e, err)
	}
}

// Beyond the bound, the oldest failed deliveries are dropped.
func TestFailedDeliveriesAreBounded(t *testing.T) {
	c := &core{id: "h", hook: &Hook{Id: "h", Stopped: true}}
	actor := registry.NewCore(c, audit.New(nil, clock.System, time.Hour))
	rows := map[string]bool{}
	for i := range MaxFailed + 7 {
		d := &Delivery{Id: fmt.Sprintf("d%03d", i), Type: TokenUsed, Data: &Data{}, Tries: uint32(len(Pauses) - 1)}
		out, err := actor.Decide(Command{Body: Note{Due: 1, Delivery: d, Outcome: Outcome{Status: 500}}}, durable.Env{Now: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Rows {
			if r.Table == failedTable {
				rows[string(r.Key)] = !r.Delete
				if !r.Delete && r.TTL != 30*24*time.Hour {
					t.Errorf("a failed delivery is kept for %s, want 30 days", r.TTL)
				}
			}
		}
		c.Apply(0, out.Events[0])
	}
	kept := 0
	for _, there := range rows {
		if there {
			kept++
		}
	}
	if kept != MaxFailed || len(c.hook.Failed) != MaxFailed || c.hook.Failed[0] != "d007" || rows["h\x00d006"] {
		t.Errorf("%d failed deliveries are kept, from %s on; want %d, from d007 on", kept, c.hook.Failed[0], MaxFailed)
	}
}

func TestInvalidWebhooksAreRefused(t *testing.T) {
	good := Create{URL: "https://example.org", Events: []string{TokenUsed}}
	labs := slices.Repeat([]string{"019a3f65-6d4e-7b99-8f10-2b3c4d5e6f02"}, maxCodelabs)
	for why, c := range map[string]struct {
		create func(*Create)
		hook   *Hook
	}{
		"":                                 {create: func(b *Create) { b.Codelabs = labs }},
		"there is such a webhook already":  {create: func(*Create) {}, hook: &Hook{Id: "h"}},
		"must begin with https":            {create: func(b *Create) { b.URL = "http://example.org" }},
		"at least one event":               {create: func(b *Create) { b.Events = nil }},
		"events[1] must be":                {create: func(b *Create) { b.Events = []string{TokenUsed, Test} }},
		"names token_used twice":           {create: func(b *Create) { b.Events = []string{TokenUsed, HelpRequested, TokenUsed} }},
		"at most 100 codelabs":             {create: func(b *Create) { b.Codelabs = append(labs[:maxCodelabs:maxCodelabs], labs[0]) }},
		"codelabs[1] must be the id of a ": {create: func(b *Create) { b.Codelabs = []string{labs[0], "mine"} }},
	} {
		core := registry.NewCore(&core{id: "h", hook: c.hook}, audit.New(nil, clock.System, time.Hour))
		b := good
		c.create(&b)
		d, err := core.Decide(Command{Body: b}, durable.Env{Now: time.Unix(1, 0)})
		if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why) || len(d.Events)+len(d.Rows) != 0) {
			t.Errorf("want the error %q: Decide returned %v, %v", why, err, d)
		}
	}
}

func TestADeletedWebhookLeavesNoData(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		w.answers(0)
		for range 600 {
			w.emit(TokenUsed)
		}
		if err := durable.Commit(w.journal, []durable.Row{kept(id, &Delivery{Id: "d", Type: TokenUsed, Data: &Data{}})}); err != nil {
			t.Fatal(err)
		}
		if err := w.hooks.Delete(Caller{}, id); err != nil {
			t.Fatal(err)
		}
		if n := w.emit(TokenUsed); n != 0 {
			t.Errorf("an event right after the deletion makes %d rows", n)
		}
		time.Sleep(time.Minute)
		if n := w.count(listTable) + w.count(queueTable) + w.count(failedTable); n != 0 {
			t.Errorf("%d rows of the deleted webhook are left", n)
		}
		if n := w.emit(TokenUsed); n != 0 {
			t.Errorf("an event after the deletion makes %d rows", n)
		}
		w.hooks.drain(context.Background(), id, w.send) // as on a node that has not read the deletion yet
		log, err := w.journal.Follow("webhooks/" + id)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		check := func(b []byte) {
			if strings.Contains(string(b), "sealed") {
				t.Error("the log contains the secret of the deleted webhook")
			}
		}
		err = log.Load(1000, func(s durable.Snapshot) error { check(s.State); return nil }, func(_ uint64, b []byte) error { check(b); return nil })
		if err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"deleted again": w.hooks.Delete(Caller{}, id), "resumed": w.hooks.Resume(Caller{}, id), "unknown": w.hooks.Delete(Caller{}, "../x"),
		} {
			if !durable.IsMissing(err) {
				t.Errorf("%s: %v, want Missing", what, err)
			}
		}
	})
}

// An attempt that Stop interrupts is not a failure, and is repeated.
func TestStopDoesNotCountAgainstTheReceiver(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		w.serve = func(*Delivery) { time.Sleep(5 * time.Second) }
		w.answers(0)
		w.emit(TokenUsed)
		time.Sleep(time.Second)
		w.stop() // waits for the attempt
		w.serve = nil
		w.answers(200)
		w.start()
		time.Sleep(2 * time.Second)
		if h := w.hook(id); h.Failures != 0 || h.LastStatus != 200 || len(w.got()) != 2 {
			t.Errorf("the webhook is %v after %d attempts", h, len(w.got()))
		}
	})
}

// A test delivery neither increases nor resets the number of consecutive failures.
func TestATestDoesNotChangeTheNumberOfFailures(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		test := func(status int32) {
			t.Helper()
			w.answers(status)
			if got, err := w.hooks.Test(context.Background(), id, w.send); err != nil || got != status {
				t.Fatalf("a test returned %d, %v", got, err)
			}
		}
		w.answers(404)
		for range MaxFailures - 1 {
			w.emit(TokenUsed)
		}
		time.Sleep(time.Second)
		for _, status := range []int32{404, 200, 404} {
			test(status)
			if h := w.hook(id); h.Failures != MaxFailures-1 || h.State() != Active || h.LastStatus != status {
				t.Errorf("after a test with the status %d, the webhook is %v", status, h)
			}
		}
	})
}

func TestConcurrentTestsAreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.create(TokenUsed)
		w.serve = func(*Delivery) { time.Sleep(10 * time.Second) }
		var busy, done atomic.Int64
		for range maxTests + 3 {
			go func() {
				switch _, err := w.hooks.Test(context.Background(), id, w.send); {
				case errors.Is(err, durable.ErrBusy):
					busy.Add(1)
				case err == nil:
					done.Add(1)
				}
			}()
		}
		time.Sleep(time.Minute)
		if busy.Load() != 3 || done.Load() != maxTests {
			t.Errorf("%d tests are refused as busy, %d succeeded", busy.Load(), done.Load())
		}
	})
}

func TestOnlyWantedEventsAreQueued(t *testing.T) {
	inWorld(t, func(w *world) {
		if w.emit(TokenUsed) != 0 || (*Outbox)(nil).Rows(Occurrence{Type: TokenUsed}) != nil {
			t.Error("without webhooks, an event makes rows")
		}
		w.create(TokenUsed, HelpRequested)
		w.create(TokenUsed)
		if _, err := w.hooks.Create(Caller{}, Create{URL: "https://example.org", Events: []string{TokenUsed, HelpRequested}, Codelabs: []string{"019a3f65-6d4e-7b99-8f10-2b3c4d5e6f02"}}); err != nil {
			t.Fatal(err)
		}
		for kind, want := range map[string]int{TokenUsed: 2, HelpRequested: 1, TokenLocked: 0} {
			if got := w.emit(kind); got != want {
				t.Errorf("an event %s makes %d rows, want %d", kind, got, want)
			}
		}
		// Events without a codelab are sent to all webhooks, whichever codelabs these name.
		if rows := w.hooks.Rows(Occurrence{Type: TokenUsed, Data: &Data{}}); len(rows) != 3 {
			t.Errorf("an event without a codelab makes %d rows, want 3", len(rows))
		} else if rows[0].TTL != 7*24*time.Hour {
			t.Errorf("a row is kept for %s, want 7 days", rows[0].TTL)
		} else {
			var ids []string
			for _, row := range rows {
				d := &Delivery{}
				if err := d.Decode(row.Value); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, d.Id)
			}
			if ids[0] == "" || len(slices.Compact(ids)) != 1 {
				t.Errorf("the rows of one event have the ids %q", ids)
			}
		}
	})
}

// A delivery whose outcome cannot be recorded is repeated, but not every second.
func TestAFullDiskDoesNotRepeatDeliveries(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(TokenUsed)
		w.serve = func(*Delivery) { w.full.Store(true) } // while it is in flight
		w.emit(TokenUsed)
		time.Sleep(10 * time.Minute)
		if got := w.got(); len(got) != 1 {
			t.Errorf("with a full disk, the delivery was sent %d times, want 1", len(got))
		}
		w.serve = nil
		w.full.Store(false)
		time.Sleep(time.Minute)
		if got := w.got(); len(got) != 2 || w.count(queueTable) != 0 {
			t.Errorf("with room on the disk, the delivery was sent %d times, and %d wait", len(got), w.count(queueTable))
		}
	})
}

// A failure of the store is logged once for any number of attempts, and again after a recovery.
// Waiting deliveries are sent once the store can be read.
func TestAStoreThatFailsIsLoggedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(TokenUsed)
		for turn := 1; turn <= 2; turn++ {
			w.broken.Store(true)
			w.emit(TokenUsed)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			w.log.mu.Lock()
			logged := w.log.count["reading the list of webhooks failed; it is tried again every second"]
			w.log.mu.Unlock()
			if logged != turn {
				t.Errorf("after failure %d of the store, %d failures were logged", turn, logged)
			}
			w.broken.Store(false)
			time.Sleep(time.Minute)
			if n := len(w.got()); n != turn {
				t.Errorf("after failure %d of the store, %d deliveries were sent", turn, n)
			}
		}
	})
}

func TestInvalidAddressesAreRefused(t *testing.T) {
	for _, good := range []string{"https://example.org", "HTTPS://example.org:8443/in?a=1", "https://[2606:4700::1111]:1/", "https://bücher.example:65535", "https://example.org/" + strings.Repeat("x", maxURL-20), "https://example.org/" + strings.Repeat("ü", maxURL-20)} {
		if err := checkURL(good); err != nil {
			t.Errorf("checkURL(%.60s) = %v, want no error", good, err)
		}
	}
	for bad, why := range map[string]string{
		"http://example.org": "https", "//example.org": "https", "https:///x": "host", "https://:443/": "host",
		"https://a:b@example.org": "password", "https://@example.org": "user name", "https://example.org/#x": "fragment",
		"https://example.org:0": "port", "https://example.org:65536": "port", "https://example.org:99999999999999999999": "port",
		"https://example.org/\n": "not a URL", "https://example.org/ x": "not a URL", "https://example.org/?\x7f": "not a URL", "https://example.org/%zz": "not a URL",
		"https://example.org/" + strings.Repeat("x", maxURL-19): "longer",
	} {
		if err := checkURL(bad); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("checkURL(%.60q) = %v, want %q", bad, err, why)
		}
	}
}

// The store refuses writes just when an outcome is recorded, and works again for the next one.
func TestALostOutcomeDoesNotSpeedUpDeliveries(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(TokenUsed)
		w.serve = func(*Delivery) {
			w.full.Store(true)
			time.AfterFunc(100*time.Millisecond, func() { w.full.Store(false) })
		}
		w.emit(TokenUsed)
		time.Sleep(10 * time.Minute)
		if n := len(w.got()); n < 10 || n > 21 {
			t.Errorf("in ten minutes, the delivery was sent %d times, want 10 to 21", n)
		}
	})
}

// The node that stops a webhook queues no more deliveries for it. Deliveries queued before the next
// scan would otherwise wait for a week.
func TestAWebhookQueuesNothingOnceItIsStopped(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(TokenUsed)
		w.answers(500)
		for range MaxFailures {
			w.emit(TokenUsed)
		}
		time.Sleep(settle + settle/2) // the queue is next read after another settle
		if n := len(w.got()); n != MaxFailures {
			t.Fatalf("%d deliveries were sent, want %d", n, MaxFailures)
		}
		if n := w.emit(TokenUsed); n != 0 {
			t.Errorf("an event right after the webhook was stopped makes %d rows", n)
		}
	})
}

func TestTheNumberOfWebhooksIsBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		var full atomic.Int64
		for range MaxHooks + 5 {
			go func() {
				_, err := w.hooks.Create(Caller{}, Create{URL: "https://example.org", Events: []string{TokenUsed}})
				if r := (*durable.Rejection)(nil); errors.As(err, &r) && r.Reason == durable.Conflict {
					full.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if n := w.count(listTable); n != MaxHooks || full.Load() != 5 {
			t.Errorf("%d webhooks were created, %d refused", n, full.Load())
		}
	})
}

func TestOnlySuccessStatusesDeliver(t *testing.T) {
	for status, want := range map[int32]bool{0: false, 199: false, 200: true, 204: true, 299: true, 300: false, 307: false, 410: false, 500: false} {
		if Delivered(status) != want {
			t.Errorf("Delivered(%d) returned %v, want %v", status, !want, want)
		}
	}
}

// The audit trail contains the callers that created and deleted a webhook, with their IP addresses
// and browsers.
func TestWebhooksAreAudited(t *testing.T) {
	inWorld(t, func(w *world) {
		who := Caller{Type: "admin", ID: "boss", IP: "192.0.2.7", UserAgent: "browser"}
		id, err := w.hooks.Create(who, Create{URL: "https://example.org/", Events: []string{WorkshopEnded}, Secret: []byte("sealed")})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.hooks.Delete(who, id); err != nil {
			t.Fatal(err)
		}
		found, err := audit.New(w.journal, clock.System, time.Hour).Find(audit.Query{Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		var actions []string
		for _, r := range found {
			actions = append(actions, r.Action)
			if r.ActorType != "admin" || r.ActorId != who.ID || r.TargetId != id || r.Ip != who.IP || r.UserAgent != who.UserAgent || r.CreatedAt == 0 {
				t.Errorf("audit record %v", r)
			}
		}
		if slices.Sort(actions); !slices.Equal(actions, []string{"webhook_create", "webhook_delete"}) {
			t.Errorf("the audit records are %q", actions)
		}
	})
}
