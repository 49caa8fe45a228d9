package badger

import (
	"time"

	"atelier/persistence/internal/calls"
)

// writer commits all queued items in one transaction. It uses several only if Badger's limit
// requires it, and never splits a batch.
type writer struct {
	*calls.Writer[*actorLog, item, *item]
	store *Store
	group group
}

func newWriter(s *Store) *writer {
	return &writer{Writer: calls.NewWriter[*actorLog, item](s.queue, s.snapshots), store: s}
}

func (w *writer) process(items []item) {
	start := 0
	for i := range items {
		it := &items[i]
		if !w.group.hasRoom(w.store.costs, it.cost) {
			w.commit(items[start:i])
			start = i
		}
		if w.Admit(it); it.Err == nil { // after the commit of the full group
			w.group.add(items[start:], int32(i-start))
		}
	}
	w.commit(items[start:])
}

// commit writes the group that was built from items, and finishes all of them.
func (w *writer) commit(items []item) {
	s := w.store
	var err error
	if !w.group.empty() {
		began := time.Now()
		entries := w.group.entries(items)
		err = s.commitEntries(entries, w.group.guarded)
		took := time.Since(began)
		if err != nil {
			s.stats.Failed()
		} else {
			s.stats.Committed(w.group.batches, w.group.records, w.group.bytes, took)
		}
		if err == nil && s.opts.OnCommit != nil {
			s.opts.OnCommit(Commit{
				Batches: w.group.batches,
				Records: w.group.records,
				Bytes:   w.group.bytes,
				Took:    took,
			})
		}
	}
	w.group.reset()
	w.Finish(items, err)
}
