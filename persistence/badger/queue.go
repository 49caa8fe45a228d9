package badger

import "atelier/persistence/internal/calls"

// entry is what an item of the queue has in any store.
type entry = calls.Item[*actorLog]

// item is one entry of the writer's queue.
type item struct {
	entry
	// urgent means that it may use the reserve of a disk that is nearly full.
	urgent bool
	cost   txnCost
	next   int32 // the next batch of the same span, or noItem; the writer's
}
