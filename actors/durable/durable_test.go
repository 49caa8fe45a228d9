package durable_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/persistence/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tally is a minimal core that adds numbers and refuses some commands.
type tally struct{ sum int }

type sumView struct{ sum int }

func (t *tally) Decide(cmd string, env durable.Env) (durable.Decision[string], error) {
	switch {
	case cmd == "get":
		return durable.Decision[string]{Reply: t.sum}, nil
	case cmd == "bad":
		return durable.Decision[string]{}, durable.Reject(durable.Invalid, "bad")
	case cmd == "panic":
		panic("deciding")
	case strings.HasPrefix(cmd, "row "):
		return durable.Decision[string]{Rows: []durable.Row{{Table: "t", Key: []byte(cmd[4:]), Value: []byte("v")}}}, nil
	}
	return durable.Decision[string]{Events: []string{cmd}, Reply: cmd}, nil
}

func (t *tally) Apply(_ uint64, e string) {
	if e == "poison" {
		panic("applying")
	}
	n, _ := strconv.Atoi(e)
	t.sum += n
}

func (t *tally) Capture() *sumView { return &sumView{t.sum} }

func (t *tally) Restore(_ uint64, state []byte) (err error) {
	t.sum, err = strconv.Atoi(string(state))
	return err
}

type (
	host   = durable.Host[string, string, sumView]
	handle = durable.Handle[string, string, sumView]
)

func kind() durable.Kind[string, string, sumView] {
	return durable.Kind[string, string, sumView]{
		Name:        "tally",
		New:         func(string) durable.Core[string, string, sumView] { return &tally{} },
		AppendEvent: func(dst []byte, e string) ([]byte, error) { return append(dst, e...), nil },
		ParseEvent:  func(b []byte) (string, error) { return string(b), nil },
		EncodeState: func(v *sumView) ([]byte, error) { return strconv.AppendInt(nil, int64(v.sum), 10), nil },
	}
}

func start(t *testing.T, j durable.Journal, k durable.Kind[string, string, sumView], o durable.Options) *host {
	t.Helper()
	if o.BackoffMin == 0 {
		o.BackoffMin = time.Millisecond
	}
	h, err := durable.NewHost(durable.NewSystem(), j, k, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = h.Close(ctx)
	})
	return h
}

func get(t *testing.T, h *host, id string) *handle {
	t.Helper()
	hd, err := h.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return hd
}

func ask(t *testing.T, hd *handle, cmd string) any {
	t.Helper()
	v, _, err := hd.Ask(cmd)
	if err != nil {
		t.Fatalf("the command %s returned %v", cmd, err)
	}
	return v
}

func store(t *testing.T) *memory.Store {
	j := memory.New()
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// eventually waits for a condition that another goroutine causes.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// answers receives the replies to submitted commands.
type answers chan durable.Reply

func (a answers) Reply(r durable.Reply) { a <- r }

func TestNothingIsVisibleBeforeTheCommit(t *testing.T) {
	j := store(t)
	hd := get(t, start(t, j, kind(), durable.Options{}), "a")
	release := j.Hold()
	got := make(answers, 2)
	if err := hd.Submit("5", got); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the append", func() bool { return j.Queued() > 0 })
	// A command that only reads gets the speculative state, so its reply must also wait for the
	// commit.
	if err := hd.Submit("get", got); err != nil {
		t.Fatal(err)
	}
	if _, _, err := hd.Ask("bad"); err == nil {
		t.Fatal("a command to be rejected succeeded")
	}
	if len(got) != 0 || hd.View().sum != 0 {
		t.Fatalf("%d replies and sum %d before the commit", len(got), hd.View().sum)
	}
	release()
	if r := <-got; r.Err != nil || r.Seq != 1 {
		t.Fatalf("the reply is %+v, want seq 1", r)
	}
	if hd.View().sum != 5 {
		t.Fatalf("after the reply, the view shows %d, want 5", hd.View().sum)
	}
	if r := <-got; r.Value != 5 {
		t.Fatalf("a read returned %v, want 5", r.Value)
	}
}

func TestAFailedCommitNeverReturnsSuccess(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	j.FailCommits(1, errors.New("disk on fire"))
	if _, _, err := hd.Ask("10"); !errors.Is(err, durable.ErrUnavailable) {
		t.Fatalf("a failed commit returned %v, want ErrUnavailable", err)
	}
	eventually(t, "the restart", func() bool { return hd.Condition() == durable.Running })
	ask(t, hd, "2")
	if got := ask(t, hd, "get"); got != 3 {
		t.Fatalf("the sum is %v, want 3 without the failed event", got)
	}
	if h.Stats().Failures.Load() != 1 {
		t.Fatalf("%d failures are counted, want 1", h.Stats().Failures.Load())
	}
}

// A command that writes only rows is answered like a command with events: after its commit, and
// with an error if the commit fails.
func TestFailedRowsNeverReturnSuccess(t *testing.T) {
	j := store(t)
	hd := get(t, start(t, j, kind(), durable.Options{}), "a")
	ask(t, hd, "1")
	j.FailCommits(1, errors.New("disk on fire"))
	if _, _, err := hd.Ask("row x"); !errors.Is(err, durable.ErrUnavailable) {
		t.Fatalf("a failed commit of rows returned %v, want ErrUnavailable", err)
	}
	if _, err := j.Get("t", []byte("x")); !errors.Is(err, durable.ErrNotFound) {
		t.Fatalf("reading the row returned %v, want ErrNotFound", err)
	}
}

// An actor with an unanswered command does not rest.
func TestAnActorWithOpenCommandsDoesNotRest(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{IdleAfter: -1})
	hd := get(t, h, "a")
	release := j.Hold()
	defer release()
	got := make(answers, 1)
	if err := hd.Submit("1", got); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the append", func() bool { return j.Queued() == 1 })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if h.Rest(ctx, hd, false); hd.Condition() != durable.Running {
		t.Fatal("an actor with a command in flight went to rest")
	}
	release()
	if r := <-got; r.Err != nil {
		t.Fatalf("the command returned %v", r.Err)
	}
}

func TestManyFailuresQuarantineAnActor(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{MaxFailures: 2})
	hd, other := get(t, h, "a"), get(t, h, "b")
	// An event whose application panics is never stored, because events are applied before they are
	// appended.
	for range 3 {
		eventually(t, "the running actor", func() bool { return hd.Condition() == durable.Running })
		if _, _, err := hd.Ask("poison"); err == nil {
			t.Fatal("an event whose application panics was accepted")
		}
	}
	eventually(t, "the quarantine", func() bool { return hd.Condition() == durable.Quarantined })
	if _, _, err := hd.Ask("1"); !errors.Is(err, durable.ErrQuarantined) {
		t.Fatalf("a command returned %v, want ErrQuarantined", err)
	}
	if _, err := h.Get("a"); !errors.Is(err, durable.ErrQuarantined) {
		t.Fatalf("Get returned %v, want ErrQuarantined", err)
	}
	if q := h.QuarantinedIDs(); len(q) != 1 || q[0] != "a" {
		t.Fatalf("quarantined actors are %v, want a", q)
	}
	ask(t, other, "1") // other actors still work
}

func TestADamagedRecordQuarantinesItsActor(t *testing.T) {
	j := store(t)
	k := kind()
	k.ParseEvent = func(b []byte) (string, error) {
		if string(b) == "7" {
			return "", errors.New("no event")
		}
		return string(b), nil
	}
	ask(t, get(t, start(t, j, kind(), durable.Options{}), "a"), "7")
	h := start(t, j, k, durable.Options{MaxFailures: 1})
	if _, err := h.Get("a"); !errors.Is(err, durable.ErrQuarantined) {
		t.Fatalf("Get returned %v", err)
	}
}

func TestAPanicInDecideFailsOnlyItsCommand(t *testing.T) {
	h := start(t, store(t), kind(), durable.Options{})
	hd := get(t, h, "a")
	ask(t, hd, "3")
	if _, _, err := hd.Ask("panic"); !errors.Is(err, durable.ErrInternal) {
		t.Fatalf("a panicking command returned %v, want ErrInternal", err)
	}
	if got := ask(t, hd, "get"); got != 3 || h.Stats().Failures.Load() != 0 {
		t.Fatalf("the sum is %v after %d failures, want 3 after none", got, h.Stats().Failures.Load())
	}
}

func TestStateSurvivesRestSnapshotAndCrash(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{SnapshotEvents: 10, SnapshotBytes: 1 << 20})
	hd := get(t, h, "a")
	for range 25 {
		ask(t, hd, "1")
	}
	eventually(t, "a snapshot", func() bool { return h.Stats().Snapshots.Load() > 0 })
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, true) })
	if _, _, err := hd.Ask("1"); !errors.Is(err, durable.ErrUnavailable) {
		t.Fatalf("a command to a resting handle returned %v, want ErrUnavailable", err)
	}
	hd = get(t, h, "a")
	if got := ask(t, hd, "get"); got != 25 {
		t.Fatalf("after a rest, the sum is %v, want 25", got)
	}
	ask(t, hd, "1")

	crashed := j.Crash()
	t.Cleanup(func() { _ = crashed.Close() })
	if got := ask(t, get(t, start(t, crashed, kind(), durable.Options{}), "a"), "get"); got != 26 {
		t.Fatalf("after a crash, the sum is %v, want 26", got)
	}
}

func TestIdleActorsRest(t *testing.T) {
	h := start(t, store(t), kind(), durable.Options{IdleAfter: time.Millisecond})
	awake := func(cmd string) any { // the actor can rest again before a command reaches it
		for {
			v, _, err := get(t, h, "a").Ask(cmd)
			if errors.Is(err, durable.ErrRested) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	awake("4")
	eventually(t, "rest", func() bool { return h.Peek("a") == nil })
	if got := awake("get"); got != 4 {
		t.Fatalf("the sum is %v, want 4", got)
	}
}

func TestAFullQueueReturnsErrBusy(t *testing.T) {
	j := store(t)
	hd := get(t, start(t, j, kind(), durable.Options{MaxPending: 3}), "a")
	got := make(answers, 3)
	for round := range 3 { // in each round, because a refused command must free its place in the queue
		release := j.Hold()
		for range 3 {
			if err := hd.Submit("1", got); err != nil {
				release()
				t.Fatalf("in round %d, Submit returned %v", round, err)
			}
		}
		err := hd.Submit("1", got)
		release()
		if !errors.Is(err, durable.ErrBusy) {
			t.Fatalf("one command too many returned %v, want ErrBusy", err)
		}
		for range 3 {
			if r := <-got; r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
}

// On a nearly full disk, commands that free space succeed, because neither the gate nor the store
// refuses them.
func TestUrgentCommandsUseTheReserve(t *testing.T) {
	j, k := memory.New(), kind()
	t.Cleanup(func() { _ = j.Close() })
	k.Urgent = func(cmd string) bool { return cmd == "5" }
	hd := get(t, start(t, j, k, durable.Options{Gate: func() error {
		if j.ReadOnly() {
			return durable.ErrReadOnly
		}
		return nil
	}}), "a")
	ask(t, hd, "1")
	j.SetReadOnly(true)
	if _, _, err := hd.Ask("1"); !errors.Is(err, durable.ErrReadOnly) {
		t.Errorf("a command that takes space returned %v, want ErrReadOnly", err)
	}
	ask(t, hd, "5")
	if got := hd.View().sum; got != 6 {
		t.Errorf("the sum is %d, want 6", got)
	}
	if hd.Condition() != durable.Running {
		t.Error("the actor is not running")
	}
	// A command that passed the gate just before is refused by the store.
	hd = get(t, start(t, j, k, durable.Options{}), "b")
	if _, _, err := hd.Ask("1"); !errors.Is(err, durable.ErrReadOnly) {
		t.Errorf("a command that the gate accepted returned %v, want ErrReadOnly", err)
	}
}

func TestTheGateRefusesCommands(t *testing.T) {
	shut := durable.ErrReadOnly
	hd := get(t, start(t, store(t), kind(), durable.Options{Gate: func() error { return shut }}), "a")
	if _, _, err := hd.Ask("1"); !errors.Is(err, durable.ErrReadOnly) {
		t.Fatalf("the command returned %v, want ErrReadOnly", err)
	}
}

// recorder is an observer that records its calls.
type recorder struct {
	mu        sync.Mutex
	recovered []string
	committed []string
	live      int
}

func (r *recorder) Recovered(seq uint64, e string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recovered = append(r.recovered, fmt.Sprint(seq, ":", e))
}
func (r *recorder) Live(*sumView, uint64) { r.mu.Lock(); r.live++; r.mu.Unlock() }
func (r *recorder) Commit(_ *sumView, _ uint64, events []durable.Committed[string]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range events {
		r.committed = append(r.committed, fmt.Sprint(c.Seq, ":", c.Event))
	}
}

func TestTheObserverReceivesKeptRecordsAndCommits(t *testing.T) {
	j, rec := store(t), &recorder{}
	k := kind()
	k.Keep = 4
	k.Observe = func(string, *handle) durable.Observer[string, sumView] { return rec }
	h := start(t, j, k, durable.Options{})
	hd := get(t, h, "a")
	for i := range 10 {
		ask(t, hd, strconv.Itoa(i))
	}
	if len(rec.committed) != 10 || rec.committed[9] != "10:9" {
		t.Fatalf("the observer received the commits %v", rec.committed)
	}
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, true) })
	if got := ask(t, get(t, h, "a"), "get"); got != 45 {
		t.Fatalf("the sum is %v, want 45", got)
	}
	if got := strings.Join(rec.recovered, " "); got != "7:6 8:7 9:8 10:9" || rec.live != 2 {
		t.Fatalf("the observer recovered %q and was live %d times", got, rec.live)
	}
}

func TestErasedRecordsLeaveTheLog(t *testing.T) {
	j := store(t)
	k := kind()
	k.Erases = func(e string) bool { return e == "0" }
	k.Erase = func(*sumView) func(string) (string, bool) {
		return func(e string) (string, bool) { return "0000", e == "secret" }
	}
	k.Keep = 100
	h := start(t, j, k, durable.Options{})
	hd := get(t, h, "a")
	ask(t, hd, "secret")
	ask(t, hd, "0")
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, false) })
	log, err := j.Open("tally/a")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var records []string
	if err := log.Load(1<<20, func(durable.Snapshot) error { return nil }, func(_ uint64, r []byte) error {
		records = append(records, string(r))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(records, " "); got != "0000 0" {
		t.Fatalf("the log contains %q, want the erased record and 0", got)
	}
}

func TestRowsCommitWithTheEvents(t *testing.T) {
	j := store(t)
	hd := get(t, start(t, j, kind(), durable.Options{}), "a")
	ask(t, hd, "row x")
	if v, err := j.Get("t", []byte("x")); err != nil || string(v) != "v" {
		t.Fatalf("the row is %q, %v", v, err)
	}
}

func TestConcurrentCallersLoseNoCommand(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{SnapshotEvents: 50})
	var wg sync.WaitGroup
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				hd, err := h.Get("a")
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := hd.Ask("1"); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	if got := ask(t, get(t, h, "a"), "get"); got != 1600 {
		t.Fatalf("the sum is %v, want 1600", got)
	}
}

// A batch uses the reserve of a nearly full disk only if every command in it frees space, in any
// order. A command that takes space would use up the reserve.
func TestABatchIsUrgentIfAllItsCommandsAre(t *testing.T) {
	for _, tc := range []struct {
		cmds   []string
		urgent bool
	}{
		{[]string{"5"}, true},
		{[]string{"5", "5"}, true},
		{[]string{"1"}, false},
		{[]string{"1", "5"}, false},
		{[]string{"5", "1"}, false},
		{[]string{"5", "row other", "5"}, false},
		{[]string{"row urgent", "5"}, true},
		{[]string{"row urgent"}, true},
		{[]string{"row urgent", "row urgent"}, true},
		{[]string{"row other", "row urgent"}, false},
		{[]string{"row urgent", "row other"}, false},
	} {
		t.Run(strings.Join(tc.cmds, ","), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				j, k := store(t), kind()
				k.Urgent = func(cmd string) bool { return cmd == "5" || cmd == "row urgent" }
				hd := get(t, start(t, j, k, durable.Options{}), "a")
				submit := func(cmd string, to answers) {
					if err := hd.Submit(cmd, to); err != nil {
						t.Fatal(err)
					}
				}
				// While two batches are in flight, later commands are collected into one batch.
				release := j.Hold()
				for range 2 {
					submit("1", make(answers, 1))
					synctest.Wait()
				}
				got := make(answers, len(tc.cmds))
				for _, cmd := range tc.cmds {
					submit(cmd, got)
				}
				synctest.Wait()
				j.SetReadOnly(true)
				release()
				synctest.Wait()
				for range tc.cmds {
					if r := <-got; tc.urgent && r.Err != nil || !tc.urgent && !errors.Is(r.Err, durable.ErrReadOnly) {
						t.Errorf("the command returned %v", r.Err)
					}
				}
			})
		})
	}
}
