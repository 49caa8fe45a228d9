package badger

import "atelier/persistence/internal/calls"

// entry is the part of a queue item common to all stores.
type entry = calls.Item[*actorLog]

// item is one entry of the writer's queue.
type item struct {
	entry
	// urgent permits use of the reserved space of a disk that is nearly full.
	urgent bool
	cost   txnCost
	next   int32 // the next batch of the same span, or noItem; owned by the writer
}
