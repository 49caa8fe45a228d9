package calls

import (
	"errors"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Kind is the kind of a queued item.
type Kind uint8

// Kinds of items.
const (
	KindBatch    Kind = iota // records of a log, possibly with rows
	KindRows                 // rows only
	KindOpen                 // a new handle: fences the earlier one
	KindPurge                // fences the actor's handle
	KindSnapshot             // stored once all earlier items are committed
	KindRelease              // a handle is no longer needed
)

// Log is a handle of an actor's log, which embeds its Cursor.
type Log interface {
	comparable
	at() *Cursor
}

// Item is the part of a queue item common to all stores.
type Item[L Log] struct {
	Kind          Kind
	Log           L      // nil for rows and purges
	Actor         string // the actor of a purge
	First         uint64
	Rows          []durable.Row
	Preconditions bool // rows have preconditions; only for KindRows
	Recs          durable.Records
	Count         int // records
	Bytes         int // memory, counted against the queue's bound
	Job           *Snapshot[L]
	Done          func(error)

	// Err is the reason why the item was refused. It is nil while the item can still be committed.
	// Owned by the writer.
	Err error
}

// BatchItem returns the item for a log's batch, or an error if the batch is invalid.
func BatchItem[L Log](l L, b durable.Batch) (it Item[L], err error) {
	it = Item[L]{Kind: KindBatch, Log: l, First: b.First, Rows: b.Rows, Recs: b.Records, Done: b.Done}
	if it.Count, err = layout.CountRecords(b.Records); err != nil {
		return it, err
	}
	if err := layout.CheckRows(b.Rows); err != nil {
		return it, err
	}
	if durable.Guarded(b.Rows) {
		return it, errors.New("rows of a log's batch cannot have preconditions")
	}
	return it, nil
}

// Commits reports whether the item is written to the store.
func (it *Item[L]) Commits() bool { return it.Kind == KindBatch || it.Kind == KindRows }

func (it *Item[L]) common() *Item[L] { return it }

// holder is a store's item, which embeds Item.
type holder[L Log, I any] interface {
	*I
	common() *Item[L]
}

// Writer is the only goroutine that commits batches and rows. It takes all queued items, lets the
// store commit them in groups, and notifies each item's owner, in the order of the queue. Groups
// need no timer: while one commit waits for the disk, the next group accumulates.
type Writer[L Log, I any, P holder[L, I]] struct {
	queue     *Queue[I]
	snapshots *Snapshots[L]
	// current is the newest handle of each actor; the earlier ones are fenced.
	current map[string]L
	done    chan struct{} // closed when Run returns
}

// NewWriter returns a writer for the queue, which passes snapshots on.
func NewWriter[L Log, I any, P holder[L, I]](queue *Queue[I], snapshots *Snapshots[L]) *Writer[L, I, P] {
	return &Writer[L, I, P]{queue: queue, snapshots: snapshots, current: map[string]L{}, done: make(chan struct{})}
}

// maxSpareItems bounds the capacity of a drained queue whose memory is kept for reuse.
const maxSpareItems = 1 << 14

// Run passes items to process until the queue is closed and drained. process calls Admit for each
// item, commits, and calls Finish.
func (w *Writer[L, I, P]) Run(process func([]I)) {
	defer close(w.done)
	var spare []I
	for {
		items, ok := w.queue.Take(spare[:0])
		if !ok {
			return
		}
		process(items)
		clear(items) // release the items' data
		spare = items
		if cap(spare) > maxSpareItems {
			spare = nil
		}
	}
}

// Wait waits until Run has returned.
func (w *Writer[L, I, P]) Wait() { <-w.done }

// Admit checks one item against the writer's state of its log, and updates that state. It runs
// after the commit of the previous group, because the next item depends on its result.
func (w *Writer[L, I, P]) Admit(item P) {
	switch it := item.common(); it.Kind {
	case KindBatch:
		it.Err = it.Log.at().Admit(it.First, it.Count)
	case KindOpen:
		w.fence(it.Log.at().Actor)
		w.current[it.Log.at().Actor] = it.Log
	case KindPurge:
		w.fence(it.Actor)
	case KindRelease:
		if actor := it.Log.at().Actor; w.current[actor] == it.Log {
			delete(w.current, actor)
		}
	}
}

func (w *Writer[L, I, P]) fence(actor string) {
	if old, ok := w.current[actor]; ok {
		old.at().Fence()
		delete(w.current, actor)
	}
}

// Finish frees the items' space in the queue, passes snapshots on, and reports the results of other
// items to their owners. The result is Item.Err or else, for batches and rows, the group's result.
func (w *Writer[L, I, P]) Finish(items []I, group error) {
	// Free the space first, because the caller can append again as soon as it is notified.
	var bytes int64
	for i := range items {
		bytes += int64(P(&items[i]).common().Bytes)
	}
	w.queue.Release(len(items), bytes)
	for i := range items {
		w.finish(P(&items[i]).common(), group)
	}
}

func (w *Writer[L, I, P]) finish(it *Item[L], group error) {
	err := it.Err
	switch it.Kind {
	case KindBatch:
		if err == nil && group != nil {
			err = group
			it.Log.at().Fail(group)
		}
	case KindRows:
		if err == nil {
			err = group
		}
	case KindSnapshot:
		// A state can include a batch that has just failed, so the snapshot is stored only if the
		// log is valid.
		if err := it.Log.at().AdmitSnapshot(it.Job.Seq); err != nil {
			w.snapshots.Finish(it.Job, err)
			return
		}
		w.snapshots.Add(it.Job)
		return
	}
	if it.Done != nil {
		it.Done(err)
	}
}
