package badger

import (
	"time"
)

// writer is the one goroutine that commits batches. It takes everything that
// is queued, checks each item's place in its log, writes one transaction
// (more only when Badger's limit demands it, and then between batches), and
// tells each item's owner, in the order of the queue. There is no timer:
// while one commit waits for the disk, the next group gathers by itself.
type writer struct {
	store *Store
	// current is the newest handle of each actor; the earlier ones are fenced.
	current map[string]*actorLog
	group   group
	done    chan struct{} // closed when run returns
}

func newWriter(s *Store) *writer {
	return &writer{store: s, current: make(map[string]*actorLog), done: make(chan struct{})}
}

// run works until the queue is closed and drained.
func (w *writer) run() {
	defer close(w.done)
	var spare []item
	for {
		items, ok := w.store.queue.Take(spare[:0])
		if !ok {
			return
		}
		w.process(items)
		clear(items) // let go of what the items point to
		spare = items
		if cap(spare) > maxSpareItems {
			spare = nil
		}
	}
}

// maxSpareItems is the longest drained queue whose memory is kept.
const maxSpareItems = 1 << 14

func (w *writer) process(items []item) {
	start := 0
	for i := range items {
		it := &items[i]
		if !w.group.hasRoom(w.store.costs, it.cost) {
			w.commit(items[start:i])
			start = i
		}
		// Admitting comes after the commit of the full group: whether this
		// item may follow depends on how that one ended.
		if it.err = w.admit(it); it.err == nil {
			w.group.add(items[start:], int32(i-start))
		}
	}
	w.commit(items[start:])
}

// admit checks one item against what the writer knows of its log and moves
// that knowledge on.
func (w *writer) admit(it *item) error {
	switch it.kind {
	case kindBatch:
		return it.log.Admit(it.first, it.count)
	case kindOpen:
		w.fence(it.log.Actor)
		w.current[it.log.Actor] = it.log
	case kindPurge:
		w.fence(it.actor)
	case kindRelease:
		if w.current[it.log.Actor] == it.log {
			delete(w.current, it.log.Actor)
		}
	}
	return nil
}

func (w *writer) fence(actor string) {
	if old := w.current[actor]; old != nil {
		old.Fence()
		delete(w.current, actor)
	}
}

// commit writes the group that was gathered from items and finishes them all.
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

	// Room first: whoever is told of the end may want to append again.
	var bytes int64
	for i := range items {
		bytes += int64(items[i].bytes)
	}
	s.queue.Release(len(items), bytes)
	for i := range items {
		w.finish(&items[i], err)
	}
}

// finish tells an item's owner how it ended.
func (w *writer) finish(it *item, groupErr error) {
	err := it.err
	switch it.kind {
	case kindBatch:
		if err == nil && groupErr != nil {
			err = groupErr
			it.log.Fail(groupErr)
		}
	case kindRows:
		if err == nil {
			err = groupErr
		}
	case kindSnapshot:
		// The state may contain what just failed, so the log must be sound.
		if err := it.log.AdmitSnapshot(it.job.Seq); err != nil {
			w.store.snapshots.Finish(it.job, err)
			return
		}
		w.store.snapshots.Add(it.job)
		return
	}
	if it.done != nil {
		it.done(err)
	}
}
