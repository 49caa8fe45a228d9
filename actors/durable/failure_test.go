package durable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
)

// The next batch is appended before callers of the committed one get their replies. In an earlier
// version, if the journal refused the next batch, these callers got no reply, and the actor never
// went to rest.
func TestACommittedBatchIsAnsweredWhenTheNextCannotBeAppended(t *testing.T) {
	for _, refuse := range []string{"read-only", "closed"} {
		t.Run(refuse, func(t *testing.T) {
			j := store(t)
			rec := &recorder{}
			k := kind()
			k.Observe = func(string, *handle) durable.Observer[string, sumView] { return rec }
			h := start(t, j, k, durable.Options{BackoffMin: time.Minute})
			hd := get(t, h, "a")
			release := j.Hold()
			first, second := make(answers, 1), make(answers, 4)
			if err := hd.Submit("5", first); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the append", func() bool { return j.Queued() == 1 })
			// Three events wait, too few to be appended together with the first.
			if err := hd.Submit("row x", second); err != nil {
				t.Fatal(err)
			}
			if _, _, err := hd.Ask("bad"); err == nil { // queued after the row in the mailbox
				t.Fatal("a command to be rejected succeeded")
			}
			if refuse == "closed" {
				go func() { _ = j.Close() }()
				eventually(t, "the close", func() bool { _, err := j.Get("t", nil); return errors.Is(err, durable.ErrClosed) })
			} else {
				j.SetReadOnly(true)
			}
			release()
			if r := <-first; r.Err != nil || r.Seq != 1 {
				t.Errorf("the committed command got the reply %+v", r)
			}
			if hd.View().sum != 5 || len(rec.committed) != 1 {
				t.Errorf("the view shows %d, the observer received %v", hd.View().sum, rec.committed)
			}
			if r := <-second; refuse == "read-only" && !errors.Is(r.Err, durable.ErrReadOnly) || r.Err == nil {
				t.Errorf("the refused command got the reply %+v", r)
			}
			eventually(t, "the failure", func() bool { return h.Stats().Failures.Load() == 1 })
		})
	}
}

// A disk that becomes full refuses a batch while an earlier one is in flight and commits. Callers
// of the earlier batch must not get ErrReadOnly, which means that nothing was written. In an
// earlier version, they got it, so the contents of a submission were removed although the
// submission had been stored.
func TestARefusedBatchDoesNotFailOneInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		j := store(t)
		hd := get(t, start(t, j, kind(), durable.Options{BackoffMin: time.Minute}), "a")
		release := j.Hold()
		first, second := make(answers, 1), make(answers, 1)
		if err := hd.Submit("1", first); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		j.SetReadOnly(true)
		if err := hd.Submit("1", second); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		release()
		if r := <-first; r.Err != nil || r.Seq != 1 {
			t.Errorf("the committed command got the reply %+v", r)
		}
		if r := <-second; !errors.Is(r.Err, durable.ErrReadOnly) {
			t.Errorf("the refused command got the reply %+v", r)
		}
	})
}

// The outcome of a commit that failed on the disk is unknown, even if the store accepts no more
// writes afterwards. Only a command that was never sent is refused.
func TestAFailedCommitIsNotRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		j := store(t)
		hd := get(t, start(t, j, kind(), durable.Options{BackoffMin: time.Minute}), "a")
		release := j.Hold()
		sent, unsent := make(answers, 2), make(answers, 1)
		for range 2 {
			if err := hd.Submit("1", sent); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := hd.Submit("1", unsent); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		j.FailCommits(1, fmt.Errorf("%w: the disk failed", durable.ErrReadOnly))
		release()
		for range 2 {
			if r := <-sent; !errors.Is(r.Err, durable.ErrUnavailable) {
				t.Errorf("a command of the failed commit got the reply %+v", r)
			}
		}
		if r := <-unsent; !errors.Is(r.Err, durable.ErrReadOnly) {
			t.Errorf("a command that was not sent got the reply %+v", r)
		}
	})
}

// A disk that becomes full repeatedly causes no quarantine.
func TestAReadOnlyDiskIsNotAFailure(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{MaxFailures: 2})
	hd := get(t, h, "a")
	for range 10 {
		j.SetReadOnly(true)
		if _, _, err := hd.Ask("1"); !errors.Is(err, durable.ErrReadOnly) {
			t.Fatalf("the command returned %v, want ErrReadOnly", err)
		}
		j.SetReadOnly(false)
		eventually(t, "the running actor", func() bool { return hd.Condition() == durable.Running })
	}
	if got := ask(t, hd, "get"); got != 0 {
		t.Fatalf("the sum is %v, want 0", got)
	}
}

// Commands in the mailbox of an actor that is quarantined get a reply, because the mailbox is
// dropped with the actor.
func TestAQuarantineAnswersCommandsInTheMailbox(t *testing.T) {
	j := store(t)
	k := kind()
	applying, goOn := make(chan struct{}), make(chan struct{})
	k.New = func(string) durable.Core[string, string, sumView] { return &stuck{applying: applying, goOn: goOn} }
	h := start(t, j, k, durable.Options{MaxFailures: -1})
	hd := get(t, h, "a")
	got := make(answers, 21)
	if err := hd.Submit("poison", got); err != nil {
		t.Fatal(err)
	}
	<-applying
	for range 20 {
		if err := hd.Submit("1", got); err != nil {
			t.Fatal(err)
		}
	}
	close(goOn)
	quarantined := 0
	for range 21 {
		if r := <-got; errors.Is(r.Err, durable.ErrQuarantined) {
			quarantined++
		} else if r.Err == nil {
			t.Errorf("a command during the failure got the reply %+v", r)
		}
	}
	if quarantined != 20 {
		t.Errorf("%d of 20 commands got ErrQuarantined", quarantined)
	}
	eventually(t, "the quarantine", func() bool { return hd.Condition() == durable.Quarantined })
}

// stuck is a core that blocks before it fails.
type stuck struct {
	tally
	applying, goOn chan struct{}
}

func (s *stuck) Apply(seq uint64, e string) {
	if e == "poison" {
		close(s.applying)
		<-s.goOn
	}
	s.tally.Apply(seq, e)
}

// An event that is too large for an append is refused to its caller. If the event were applied, the
// whole batch would fail.
func TestTooLargeEventsAndRowsAreRefused(t *testing.T) {
	j := store(t)
	j.SetLimits(durable.Limits{RecordBytes: 100, Rows: 3, RowBytes: 1000})
	h := start(t, j, kind(), durable.Options{})
	hd := get(t, h, "a")
	var r *durable.Rejection
	if _, _, err := hd.Ask(strings.Repeat("1", 101)); !errors.As(err, &r) || r.Reason != durable.TooLarge {
		t.Errorf("a command with an event that is too large returned %v", err)
	}
	if _, _, err := hd.Ask("row " + strings.Repeat("k", 1000)); !errors.As(err, &r) || r.Reason != durable.TooLarge {
		t.Errorf("a row that is too large returned %v", err)
	}
	// These rows do not all fit into one append, so the last commands get ErrBusy.
	release := j.Hold()
	defer release()
	got, busy := make(answers, 10), 0
	if err := hd.Submit("row first", got); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the append", func() bool { return j.Queued() == 1 })
	for i := range 9 {
		if err := hd.Submit(fmt.Sprint("row ", i), got); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := hd.Ask("bad"); err == nil {
		t.Fatal("a command to be rejected succeeded")
	}
	release()
	for range 10 {
		if r := <-got; errors.Is(r.Err, durable.ErrBusy) {
			busy++
		} else if r.Err != nil {
			t.Errorf("a command got the error %v", r.Err)
		}
	}
	if busy == 0 || h.Stats().Failures.Load() != 0 {
		t.Errorf("%d commands got ErrBusy, %d failures", busy, h.Stats().Failures.Load())
	}
}

// If an incarnation fails while it is stopping, its successor stops.
func TestAnActorThatFailsWhileStoppingStillStops(t *testing.T) {
	j := &failingSnapshots{Journal: store(t)}
	h := start(t, j, kind(), durable.Options{})
	hd := get(t, h, "a")
	for i := range 64 { // enough events for a snapshot at shutdown
		ask(t, hd, fmt.Sprint(i))
	}
	j.fail.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !h.Rest(ctx, hd, true) || h.Stats().Failures.Load() != 1 {
		t.Fatalf("the condition is %v after %d failures", hd.Condition(), h.Stats().Failures.Load())
	}
}

// failingSnapshots is a journal whose next snapshot panics while fail is set.
type failingSnapshots struct {
	durable.Journal
	fail atomic.Bool
}

type failingLog struct {
	durable.Log
	j *failingSnapshots
}

func (j *failingSnapshots) Open(actor string) (durable.Log, error) {
	l, err := j.Journal.Open(actor)
	return failingLog{l, j}, err
}

func (l failingLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if l.j.fail.CompareAndSwap(true, false) {
		panic("snapshot")
	}
	return l.Log.Snapshot(seq, state, keep, done)
}

// Shutdown answers all waiting callers, here those in the mailbox of an actor that waits for its
// restart.
func TestShutdownAnswersWaitingCallers(t *testing.T) {
	k := kind()
	applying, goOn := make(chan struct{}), make(chan struct{})
	k.New = func(string) durable.Core[string, string, sumView] { return &stuck{applying: applying, goOn: goOn} }
	asked := make(chan struct{}, 10)
	h := start(t, store(t), k, durable.Options{
		BackoffMin: time.Hour, BackoffMax: time.Hour, AskTimeout: time.Hour,
		Gate: func() error { asked <- struct{}{}; return nil },
	})
	hd := get(t, h, "a")
	if err := hd.Submit("poison", nil); err != nil {
		t.Fatal(err)
	}
	<-asked
	<-applying
	waits := make(chan error, 1)
	go func() { _, _, err := hd.Ask("1"); waits <- err }()
	<-asked
	close(goOn)
	eventually(t, "the failure", func() bool { return h.Stats().Failures.Load() == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = h.Close(ctx)
	if err := <-waits; !errors.Is(err, durable.ErrUnavailable) {
		t.Fatalf("the waiting command returned %v, want ErrUnavailable", err)
	}
}

// looker is a replier that reads the view as soon as it gets a reply.
type looker struct {
	hd   *handle
	rec  *recorder
	seen chan [2]int
}

func (l looker) Reply(durable.Reply) {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	l.seen <- [2]int{l.hd.View().sum, len(l.rec.committed)}
}

// A read after a reply shows the result of the command, and an ack never overtakes its frame.
func TestAReplyComesAfterTheViewAndTheObserver(t *testing.T) {
	rec := &recorder{}
	k := kind()
	k.Observe = func(string, *handle) durable.Observer[string, sumView] { return rec }
	hd := get(t, start(t, store(t), k, durable.Options{}), "a")
	l := looker{hd, rec, make(chan [2]int, 1)}
	for i := 1; i <= 20; i++ {
		if err := hd.Submit("1", l); err != nil {
			t.Fatal(err)
		}
		if got := <-l.seen; got != [2]int{i, i} {
			t.Fatalf("at reply %d, the view showed %d and the observer had received %d events", i, got[0], got[1])
		}
	}
}

// panicker is a replier that panics.
type panicker struct{ called chan struct{} }

func (p panicker) Reply(durable.Reply) {
	p.called <- struct{}{}
	panic("replying")
}

// If a replier panics, every caller gets exactly one reply.
func TestAfterAPanicInAReplyNobodyIsAnsweredTwice(t *testing.T) {
	j := store(t)
	h := start(t, j, kind(), durable.Options{})
	hd := get(t, h, "a")
	release := j.Hold()
	before, after, failing := make(answers, 10), make(answers, 10), panicker{make(chan struct{}, 10)}
	if err := hd.Submit("1", nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the append", func() bool { return j.Queued() == 1 })
	for _, to := range []durable.Replier{before, failing, after} {
		if err := hd.Submit("1", to); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := hd.Ask("bad"); err == nil {
		t.Fatal("a command to be rejected succeeded")
	}
	release()
	if r := <-before; r.Err != nil {
		t.Errorf("the command before the panic got %v", r.Err)
	}
	if r := <-after; !errors.Is(r.Err, durable.ErrUnavailable) {
		t.Errorf("the command after the panic got %+v", r)
	}
	eventually(t, "the running actor", func() bool { return hd.Condition() == durable.Running })
	// The actor rests only if no caller counts as waiting, so the counter must be correct.
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, false) })
	if len(before)+len(after) != 0 || len(failing.called) != 1 {
		t.Errorf("second replies: %d to the first, %d calls of the panicking one, %d to the last", len(before), len(failing.called), len(after))
	}
}
