package durable_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// eraser is a kind in which the event "0" requests that every "1" be erased.
func eraser(erasing func()) durable.Kind[string, string, sumView] {
	k := kind()
	k.Keep = 1000
	k.Erases = func(e string) bool { return e == "0" }
	k.Erase = func(*sumView) func(string) (string, bool) {
		if erasing != nil {
			erasing()
		}
		return func(e string) (string, bool) { return "gone", e == "1" }
	}
	return k
}

// held returns the records in an actor's log.
func held(t *testing.T, j durable.Journal, actor string) string {
	t.Helper()
	log, err := j.Open(actor)
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
	return strings.Join(records, " ")
}

func finishErasing(t *testing.T, h *host) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.FinishErasing(ctx); err != nil {
		t.Fatal(err)
	}
}

// The view of an erasure does not include records that are appended during the rewrite, so erasing
// must not change these records. In an earlier version, a rewrite without a limit lost acknowledged
// messages.
func TestErasingKeepsLaterRecords(t *testing.T) {
	j := store(t)
	began, goOn := make(chan struct{}, 8), make(chan struct{})
	h := start(t, j, eraser(func() { began <- struct{}{}; <-goOn }), durable.Options{})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	ask(t, hd, "0")
	<-began
	ask(t, hd, "1") // the same event as the erased ones, but later
	ask(t, hd, "5")
	close(goOn)
	finishErasing(t, h)
	if got := held(t, j, "tally/a"); got != "gone 0 1 5" {
		t.Fatalf("the log contains %q", got)
	}
}

// The row of an erasure is committed with the event. If the node crashes before erasing, the next
// start erases, even if nobody opens the actor.
func TestErasingSurvivesACrash(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, j *memory.Store) *memory.Store{
		"before the snapshot": func(t *testing.T, j *memory.Store) *memory.Store {
			k := eraser(nil)
			k.EncodeState = func(*sumView) ([]byte, error) { return nil, errors.New("no snapshot") }
			hd := get(t, start(t, j, k, durable.Options{}), "a")
			ask(t, hd, "1")
			ask(t, hd, "0")
			return j.Crash()
		},
		"after the snapshot": func(t *testing.T, j *memory.Store) *memory.Store {
			began, never := make(chan struct{}), make(chan struct{})
			hd := get(t, start(t, j, eraser(func() { close(began); <-never }), durable.Options{}), "a")
			t.Cleanup(func() { close(never) }) // before the host closes, which waits for the erasure
			ask(t, hd, "1")
			ask(t, hd, "0")
			<-began
			return j.Crash()
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := prepare(t, memory.New())
			t.Cleanup(func() { _ = j.Close() })
			var rounds atomic.Int32
			h := start(t, j, eraser(func() { rounds.Add(1) }), durable.Options{})
			eventually(t, "the erasure", func() bool { return rounds.Load() > 0 })
			finishErasing(t, h)
			if got := held(t, j, "tally/a"); got != "gone 0" {
				t.Fatalf("the log contains %q", got)
			}
		})
	}
}

// A crash can leave the row of an erasure whose log is purged. A start must remove this row.
// Otherwise a caller that waits for due erasures would wait for ever.
func TestAPurgedActorHasNothingToErase(t *testing.T) {
	before := memory.New()
	k := eraser(nil)
	k.EncodeState = func(*sumView) ([]byte, error) { return nil, errors.New("no snapshot") }
	h := start(t, before, k, durable.Options{})
	for _, id := range []string{"purged", "stays"} {
		hd := get(t, h, id)
		ask(t, hd, "1")
		ask(t, hd, "0")
	}
	j := before.Crash()
	t.Cleanup(func() { _ = j.Close() })
	if err := j.Purge("tally/purged"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Get("erasure", []byte("tally/purged")); err != nil {
		t.Fatalf("the crash left no row: %v", err)
	}
	h = start(t, j, eraser(nil), durable.Options{})
	finishErasing(t, h)
	for id, want := range map[string]string{"purged": "", "stays": "gone 0"} {
		if _, err := j.Get("erasure", []byte("tally/"+id)); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("reading the row of %s returned %v", id, err)
		}
		if got := held(t, j, "tally/"+id); got != want {
			t.Errorf("the log of %s contains %q", id, got)
		}
	}
}

// A start does not erase again for events whose erasure is done, although those events are still in
// the log.
func TestErasureIsNotRepeated(t *testing.T) {
	j := store(t)
	var rounds atomic.Int32
	h := start(t, j, eraser(func() { rounds.Add(1) }), durable.Options{})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	ask(t, hd, "0")
	finishErasing(t, h)
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, true) })
	before := rounds.Load()
	hd = get(t, h, "a")
	ask(t, hd, "2")
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, true) })
	// The event "0" is still in the log, so the start calls Erase once for it.
	if n := rounds.Load() - before; n > 1 {
		t.Fatalf("%d decisions about erasing after the erasure, want at most 1", n)
	}
}

// A log of a release that stored no rows of erasures is erased if one of its events requires
// erasing.
func TestALogWithoutAMarkIsErased(t *testing.T) {
	j := store(t)
	ask(t, get(t, start(t, j, kind(), durable.Options{}), "a"), "1")
	ask(t, get(t, start(t, j, kind(), durable.Options{}), "a"), "0")
	k := eraser(nil)
	k.Erase = func(*sumView) func(string) (string, bool) {
		return func(e string) (string, bool) { return "gone", e != "gone" }
	}
	h := start(t, j, k, durable.Options{})
	hd := get(t, h, "a")
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, false) })
	if got := held(t, j, "tally/a"); got != "gone gone" {
		t.Fatalf("the log contains %q", got)
	}
}

// restsUnerased stops the actor a whose erasure has just failed, because the disk was read-only.
func restsUnerased(t *testing.T) (*memory.Store, *host) {
	t.Helper()
	j := store(t)
	began, goOn := make(chan struct{}, 8), make(chan struct{})
	h := start(t, j, eraser(func() { began <- struct{}{}; <-goOn }), durable.Options{ErasePause: time.Hour})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	ask(t, hd, "0")
	<-began
	j.SetReadOnly(true)
	close(goOn)
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, false) })
	j.SetReadOnly(false)
	return j, h
}

// After a failed round the row stays, and the next round erases. In between, stopping the actor
// does not wait for the erasure.
func TestErasingIsRetriedAfterTheDiskWasReadOnly(t *testing.T) {
	j, h := restsUnerased(t)
	finishErasing(t, h)
	if got := held(t, j, "tally/a"); got != "gone 0" {
		t.Fatalf("the log contains %q, want the erased record and 0", got)
	}
}

// Nobody uses the actor again, and the process does not restart.
func TestAnErasureThatFailedWhileItsActorStoppedIsResumed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		j, _ := restsUnerased(t)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := held(t, j, "tally/a"); got != "gone 0" {
			t.Errorf("the log contains %q, want the erased record and 0", got)
		}
	})
}

// All requests during a round are served by one further round. It starts immediately if a caller
// waits for it.
func TestOneRoundServesManyRequests(t *testing.T) {
	j := store(t)
	var rounds atomic.Int32
	began, goOn := make(chan struct{}, 8), make(chan struct{})
	h := start(t, j, eraser(func() { rounds.Add(1); began <- struct{}{}; <-goOn }), durable.Options{ErasePause: time.Hour})
	hd := get(t, h, "a")
	ask(t, hd, "0")
	<-began
	for range 20 {
		ask(t, hd, "1")
		ask(t, hd, "0")
	}
	close(goOn)
	finishErasing(t, h)
	if n := rounds.Load(); n != 2 {
		t.Fatalf("%d rounds, want 2", n)
	}
	if got := held(t, j, "tally/a"); strings.Contains(got, "1") {
		t.Fatalf("the log contains %q", got)
	}
}

// A request that arrives during a round is carried out in the next round, which begins after the
// pause.
func TestTheNextRoundStartsAfterThePause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		j := store(t)
		var rounds atomic.Int32
		began, goOn := make(chan struct{}, 8), make(chan struct{})
		h := start(t, j, eraser(func() { rounds.Add(1); began <- struct{}{}; <-goOn }), durable.Options{ErasePause: time.Second})
		hd := get(t, h, "a")
		ask(t, hd, "0")
		<-began
		ask(t, hd, "1")
		ask(t, hd, "0")
		close(goOn)
		synctest.Wait()
		if n := rounds.Load(); n != 1 {
			t.Errorf("%d rounds before the end of the pause, want 1", n)
		}
		eventually(t, "the end of the erasure", func() bool {
			_, err := j.Get("erasure", []byte("tally/a"))
			return errors.Is(err, durable.ErrNotFound)
		})
		if n := rounds.Load(); n != 2 {
			t.Errorf("%d rounds, want 2", n)
		}
		if got := held(t, j, "tally/a"); strings.Contains(got, "1") {
			t.Errorf("the log contains %q", got)
		}
	})
}

// An erasure that is requested while an older state is being encoded gets its own snapshot, without
// another command.
func TestErasureFollowsTheSnapshotInProgress(t *testing.T) {
	j := store(t)
	began, goOn := make(chan struct{}, 1), make(chan struct{})
	k := eraser(nil)
	encode := k.EncodeState
	k.EncodeState = func(v *sumView) ([]byte, error) {
		select {
		case began <- struct{}{}:
			<-goOn
		default:
		}
		return encode(v)
	}
	h := start(t, j, k, durable.Options{SnapshotEvents: 1})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	<-began
	ask(t, hd, "0")
	close(goOn)
	finishErasing(t, h)
	if got := held(t, j, "tally/a"); got != "gone 0" {
		t.Fatalf("the log contains %q", got)
	}
}

// A backup waits for due erasures, but not for the erasure of a damaged actor.
func TestWaitingForAnErasureEndsWithAQuarantine(t *testing.T) {
	j := store(t)
	k := eraser(nil)
	k.EncodeState = func(*sumView) ([]byte, error) { return nil, errors.New("no snapshot") }
	ask(t, get(t, start(t, j, k, durable.Options{}), "a"), "0")
	broken := eraser(nil)
	broken.ParseEvent = func([]byte) (string, error) { return "", errors.New("damaged") }
	h := start(t, j, broken, durable.Options{MaxFailures: -1})
	if err := h.FinishErasing(context.Background()); !errors.Is(err, durable.ErrQuarantined) {
		t.Fatalf("FinishErasing returned %v", err)
	}
}

// overtaken is a store in which another node requests an erasure just before this node removes the
// row of its own completed erasure.
type overtaken struct {
	*memory.Store
	did     atomic.Bool
	outcome chan error // of the removal
}

func (o *overtaken) Append(rows []durable.Row, done func(error)) error {
	if rows[0].Table == "erasure" && rows[0].Delete && !o.did.Swap(true) {
		newer := durable.Row{Table: "erasure", Key: rows[0].Key, Value: []byte{0, 0, 0, 0, 0, 0, 0, 99}}
		if err := durable.Commit(o.Store, []durable.Row{newer}); err != nil {
			return err
		}
		return o.Store.Append(rows, func(err error) {
			o.outcome <- err
			done(err)
		})
	}
	return o.Store.Append(rows, done)
}

// A finished erasure removes only its own row. In an earlier version, a late removal deleted the
// row of a newer owner, whose erasure then waited until the actor was opened.
func TestAFinishedErasureRemovesOnlyItsOwnRow(t *testing.T) {
	j := &overtaken{Store: memory.New(), outcome: make(chan error, 1)}
	t.Cleanup(func() { _ = j.Close() })
	h := start(t, j, eraser(nil), durable.Options{ErasePause: time.Hour})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	ask(t, hd, "0")
	if err := <-j.outcome; !errors.Is(err, durable.ErrConflict) {
		t.Errorf("removing the newer row returned %v, want ErrConflict", err)
	}
}

// forgetful is a store in which the next removals of rows of erasures fail; left is the number of
// failures.
type forgetful struct {
	*memory.Store
	left  atomic.Int32
	tries atomic.Int32
}

func (f *forgetful) Append(rows []durable.Row, done func(error)) error {
	if rows[0].Table == "erasure" && rows[0].Delete {
		f.tries.Add(1)
		if f.left.Add(-1) >= 0 {
			go done(errors.New("disk on fire"))
			return nil
		}
	}
	return f.Store.Append(rows, done)
}

// If removing the row of a finished erasure fails, it is retried. In an earlier version, the row
// stayed until the next start.
func TestRemovingTheRowOfAFinishedErasureIsRetried(t *testing.T) {
	j := &forgetful{Store: memory.New()}
	t.Cleanup(func() { _ = j.Close() })
	j.left.Store(2)
	var rounds atomic.Int32
	h := start(t, j, eraser(func() { rounds.Add(1) }), durable.Options{ErasePause: time.Millisecond})
	hd := get(t, h, "a")
	ask(t, hd, "1")
	ask(t, hd, "0")
	eventually(t, "the end of the row", func() bool {
		_, err := j.Get("erasure", []byte("tally/a"))
		return errors.Is(err, durable.ErrNotFound)
	})
	if tries, rounds := j.tries.Load(), rounds.Load(); tries != 3 || rounds != 1 {
		t.Errorf("%d tries and %d rounds, want 3 and 1", tries, rounds)
	}
	// A request that arrives during the round is also carried out, not only recorded.
	j.left.Store(1)
	ask(t, hd, "1")
	ask(t, hd, "0")
	eventually(t, "the failure", func() bool { return j.left.Load() < 1 })
	ask(t, hd, "1")
	ask(t, hd, "0")
	finishErasing(t, h)
	if log := held(t, j, "tally/a"); strings.Contains(log, "1") {
		t.Errorf("the log contains %s", log)
	}
}

// An actor that cannot be recovered must not keep the others from erasing after a start.
func TestOneBrokenActorDoesNotKeepOthersFromErasing(t *testing.T) {
	j := memory.New()
	k := eraser(nil)
	k.EncodeState = func(*sumView) ([]byte, error) { return nil, errors.New("no snapshot") }
	h := start(t, j, k, durable.Options{})
	for _, id := range []string{"a", "b", "c"} {
		hd := get(t, h, id)
		if ask(t, hd, "1"); id == "a" {
			ask(t, hd, "9")
		}
		ask(t, hd, "0")
	}
	crashed := j.Crash()
	t.Cleanup(func() { _ = crashed.Close() })
	var erased atomic.Int32
	broken := eraser(func() { erased.Add(1) })
	parse := broken.ParseEvent
	broken.ParseEvent = func(b []byte) (string, error) {
		if string(b) == "9" {
			return "", errors.New("damaged")
		}
		return parse(b)
	}
	start(t, crashed, broken, durable.Options{MaxFailures: -1})
	eventually(t, "the erasure of both other actors", func() bool { return erased.Load() >= 2 })
}
