package durable_test

import (
	"sync"
	"testing"

	"atelier/actors/durable"
)

// lateSnapshots is a journal whose snapshots are stored when goOn is called.
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

// Else the log of an actor that rests, or falls, more often than a snapshot is due would
// grow for ever.
func TestEventsBeforeARestartBringTheNextSnapshotNearer(t *testing.T) {
	h := start(t, store(t), kind(), durable.Options{SnapshotEvents: 10})
	for range 3 {
		hd := get(t, h, "a")
		for range 4 {
			ask(t, hd, "1")
		}
		eventually(t, "rest", func() bool { return h.Rest(t.Context(), hd, false) })
	}
	if n := h.Stats().Snapshots.Load(); n != 1 {
		t.Errorf("after twelve events in three incarnations there are %d snapshots, which are due after ten", n)
	}
}

// A snapshot is as large as the state and holds on to an earlier view. Under a flood
// five of them waited for the store, and took 400 MiB.
func TestTheNextSnapshotWaitsUntilTheLastIsStored(t *testing.T) {
	j := &lateSnapshots{Journal: store(t)}
	h := start(t, j, kind(), durable.Options{SnapshotEvents: 1})
	t.Cleanup(j.goOn) // before the host ends
	hd := get(t, h, "a")
	ask(t, hd, "1")
	eventually(t, "a snapshot", func() bool { return j.count() == 1 })
	for range 200 {
		ask(t, hd, "1")
	}
	if n := j.count(); n != 1 {
		t.Fatalf("%d snapshots wait for the store", n)
	}
	for n := 2; n < 5; n++ {
		j.goOn()
		eventually(t, "the next snapshot", func() bool {
			ask(t, hd, "1")
			return j.count() == n
		})
	}
}
