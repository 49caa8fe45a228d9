package durable_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"atelier/actors/durable"
)

// lateSnapshots is a journal that stores its snapshots when goOn is called.
type lateSnapshots struct {
	durable.Journal
	mu    sync.Mutex
	begun int
	waits []func()
}

type slowLog struct {
	durable.Log
	j *lateSnapshots
}

func (j *lateSnapshots) Open(actor string) (durable.Log, error) {
	log, err := j.Journal.Open(actor)
	return slowLog{log, j}, err
}

func (l slowLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	l.j.begun++
	l.j.waits = append(l.j.waits, func() {
		if err := l.Log.Snapshot(seq, state, keep, done); err != nil {
			done(err)
		}
	})
	return nil
}

func (j *lateSnapshots) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begun
}

func (j *lateSnapshots) goOn() {
	j.mu.Lock()
	waits := j.waits
	j.waits = nil
	j.mu.Unlock()
	for _, store := range waits {
		store()
	}
}

// Events before a restart count towards the next snapshot. Otherwise the log of an actor that often
// rests or fails would grow for ever.
func TestEventsBeforeARestartCountTowardsASnapshot(t *testing.T) {
	h := start(t, store(t), kind(), durable.Options{SnapshotEvents: 10})
	for range 3 {
		hd := get(t, h, "a")
		for range 4 {
			ask(t, hd, "1")
		}
		eventually(t, "rest", func() bool { return h.Rest(t.Context(), hd, false) })
	}
	if n := h.Stats().Snapshots.Load(); n != 1 {
		t.Errorf("after twelve events in three incarnations there are %d snapshots, want one after ten", n)
	}
}

// A snapshot is as large as the state and keeps an earlier view in memory. For this reason the next
// snapshot waits until the last one is stored. In an earlier version, under a flood of commands,
// five snapshots waited for the store and took 400 MiB.
func TestTheNextSnapshotWaitsUntilTheLastIsStored(t *testing.T) {
	j := &lateSnapshots{Journal: store(t)}
	h := start(t, j, kind(), durable.Options{SnapshotEvents: 1})
	t.Cleanup(j.goOn) // runs before the host ends, because cleanups run in reverse order
	hd := get(t, h, "a")
	ask(t, hd, "1")
	eventually(t, "a snapshot", func() bool { return j.count() == 1 })
	for range 200 {
		ask(t, hd, "1")
	}
	if n := j.count(); n != 1 {
		t.Fatalf("%d snapshots wait for the store, want 1", n)
	}
	for n := 2; n < 5; n++ {
		j.goOn()
		eventually(t, "the next snapshot", func() bool {
			ask(t, hd, "1")
			return j.count() == n
		})
	}
}

// refusingJournal is a journal that stores no snapshot while fail is set. Snapshot returns the
// failure or, if late is set, passes it to done.
type refusingJournal struct {
	durable.Journal
	fail, late atomic.Bool
	failed     atomic.Int64
}

type refusingLog struct {
	durable.Log
	j *refusingJournal
}

func (j *refusingJournal) Open(actor string) (durable.Log, error) {
	log, err := j.Journal.Open(actor)
	return refusingLog{log, j}, err
}

func (l refusingLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if !l.j.fail.Load() {
		return l.Log.Snapshot(seq, state, keep, done)
	}
	l.j.failed.Add(1)
	err := errors.New("simulated: the snapshot is too large")
	if l.j.late.Load() {
		done(err)
		return nil
	}
	return err
}

// A failed snapshot only makes the next start slower, and the next snapshot is made as usual.
// Without the next snapshot, each start would read an ever longer log.
func TestAFailedSnapshotDoesNotPreventTheNext(t *testing.T) {
	for name, late := range map[string]bool{"at once": false, "later": true} {
		t.Run(name, func(t *testing.T) {
			j := &refusingJournal{Journal: store(t)}
			j.fail.Store(true)
			j.late.Store(late)
			h := start(t, j, kind(), durable.Options{SnapshotEvents: 1})
			hd := get(t, h, "a")
			for n := int64(1); n <= 2; n++ {
				eventually(t, "a snapshot that fails", func() bool {
					ask(t, hd, "1")
					return j.failed.Load() >= n
				})
			}
			if n := h.Stats().Snapshots.Load(); n != 0 {
				t.Errorf("%d failed snapshots are counted as stored", n)
			}
			j.fail.Store(false)
			eventually(t, "a snapshot", func() bool {
				ask(t, hd, "1")
				return h.Stats().Snapshots.Load() > 0
			})
		})
	}
}

// A snapshot leaves the newest records in the log, so clients that reconnect after a restart get
// the events they missed.
func TestASnapshotLeavesTheNewestRecords(t *testing.T) {
	rec, k := &recorder{}, kind()
	k.Keep = 4
	k.Observe = func(string, *handle) durable.Observer[string, sumView] { return rec }
	h := start(t, store(t), k, durable.Options{SnapshotEvents: 10})
	hd := get(t, h, "a")
	for range 10 {
		ask(t, hd, "1")
	}
	eventually(t, "a snapshot", func() bool { return h.Stats().Snapshots.Load() == 1 })
	eventually(t, "rest", func() bool { return h.Rest(context.Background(), hd, true) })
	if got := ask(t, get(t, h, "a"), "get"); got != 10 {
		t.Errorf("the sum is %v, want 10", got)
	}
	if got := strings.Join(rec.recovered, " "); got != "7:1 8:1 9:1 10:1" {
		t.Errorf("the records after the snapshot are %q", got)
	}
}
