package postgres

import (
	"fmt"

	"atelier/actors/durable"
)

// kind says what a queued item is.
type kind uint8

const (
	kindBatch    kind = iota // records of a log, with rows
	kindRows                 // rows alone
	kindOpen                 // a new handle: fences the earlier one
	kindPurge                // fences the actor's handle
	kindSnapshot             // to be handed on once what stands before is committed
	kindRelease              // nobody needs a handle any more
)

// item is one entry of the writer's queue.
type item struct {
	kind   kind
	lease  *lease
	log    *actorLog // nil for rows and purges
	actor  string    // of a purge
	first  uint64
	rows   []durable.Row
	guards bool // rows have guards; only rows alone may
	recs   durable.Records
	count  int // records
	bytes  int // what it holds in memory, and of the queue's bound
	job    *snapshotJob
	done   func(error)

	// Owned by the writer from here on.
	err      error // why it was refused; nil while it may still be committed
	conflict bool  // err is what the present transaction saw
}

// commits says whether the item is something to be written.
func (it *item) commits() bool { return it.kind == kindBatch || it.kind == kindRows }

// push queues a batch or rows for the writer.
func (s *Store) push(it item) error {
	if err := s.writable(); err != nil {
		return err
	}
	it.lease = s.lease.Load()
	if it.log != nil {
		it.lease = it.log.lease
	}
	rows := 0
	for i := range it.rows {
		r := &it.rows[i]
		rows += len(r.Table) + len(r.Key) + len(r.Value) + durable.RowOverhead
	}
	if len(it.recs) > MaxRecordBytes || rows > MaxRowBytes || len(it.rows) > MaxRows {
		return fmt.Errorf("%w: %d bytes of records, %d rows of %d bytes", durable.ErrTooLarge, len(it.recs), len(it.rows), rows)
	}
	it.bytes = itemOverhead + len(it.recs) + rows
	return s.queue.Push(it, it.bytes)
}

// itemOverhead is what a queued item takes beside its bytes.
const itemOverhead = 256

// wait sends an item through the writer's queue and waits until everything
// before it is committed.
func (s *Store) wait(it item) error {
	done := make(chan error, 1)
	it.lease = s.lease.Load()
	it.done = func(err error) { done <- err }
	if err := s.queue.Push(it, 0); err != nil {
		return err
	}
	return <-done
}
