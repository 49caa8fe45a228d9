package badger

import "atelier/actors/durable"

// kind says what a queued item is.
type kind uint8

const (
	kindBatch    kind = iota // records of a log, with rows
	kindRows                 // rows alone
	kindOpen                 // a new handle: fences the earlier one
	kindPurge                // fences the actor's handle
	kindBarrier              // nothing but its place in the queue
	kindSnapshot             // to be handed on once what stands before is committed
	kindRelease              // a handle was closed
)

// item is one entry of the writer's queue.
type item struct {
	kind  kind
	log   *actorLog // nil for rows and purges
	actor string    // of a purge
	first uint64
	rows  []durable.Row
	// guards says that rows have guards; only rows alone may.
	guards bool
	// urgent: it may use the reserve of a disk that is nearly full.
	urgent bool
	recs   durable.Records
	count  int // records
	bytes  int // what it holds in memory, and of the queue's bound
	cost   txnCost
	job    *snapshotJob
	done   func(error)

	// Owned by the writer from here on.
	err  error // why it was refused; nil while it may still be committed
	next int32 // the next batch of the same span, or noItem
}
