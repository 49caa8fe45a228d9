package badger

import (
	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/layout"
)

// readHead returns an actor's snapshot head, or ErrNotFound.
func readHead(txn *badgerdb.Txn, actor string) (layout.Head, error) {
	payload, err := getValue(txn, layout.HeadKey(actor))
	if err != nil {
		return layout.Head{}, err
	}
	return layout.DecodeHead(payload)
}

// readState assembles the state from its parts and verifies it.
func readState(txn *badgerdb.Txn, actor string, h layout.Head) ([]byte, error) {
	return h.State(actor, func(part uint32) ([]byte, error) { return getValue(txn, layout.PartKey(actor, h.ID, part)) })
}
