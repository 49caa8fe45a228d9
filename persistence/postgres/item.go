package postgres

import (
	"fmt"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
)

// entry is the part of a queue item that all stores share.
type entry = calls.Item[*actorLog]

// item is one entry of the writer's queue.
type item struct {
	entry
	lease    *lease
	conflict bool // in the current transaction, a precondition failed with Err; owned by the writer
}

// push queues a batch or rows for the writer.
func (s *Store) push(it item) error {
	if err := s.writable(); err != nil {
		return err
	}
	it.lease = s.lease.Load()
	if it.Log != nil {
		it.lease = it.Log.lease
	}
	rows := 0
	for i := range it.Rows {
		r := &it.Rows[i]
		rows += len(r.Table) + len(r.Key) + len(r.Value) + durable.RowOverhead
	}
	if len(it.Recs) > MaxRecordBytes || rows > MaxRowBytes || len(it.Rows) > MaxRows {
		return fmt.Errorf("%w: %d bytes of records, %d rows of %d bytes", durable.ErrTooLarge, len(it.Recs), len(it.Rows), rows)
	}
	it.Bytes = itemOverhead + len(it.Recs) + rows
	return s.queue.Push(it, it.Bytes)
}

// itemOverhead is the memory of a queued item in addition to its records and rows, in bytes.
const itemOverhead = 256

// wait sends an item through the writer's queue and waits until everything before it was committed
// or failed.
func (s *Store) wait(e entry) error {
	done := make(chan error, 1)
	e.Done = func(err error) { done <- err }
	if err := s.queue.Push(item{entry: e, lease: s.lease.Load()}, 0); err != nil {
		return err
	}
	return <-done
}
