package badger

import (
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/layout"
)

// Scrub reads everything the store holds and calls bad for what does not match
// its checksum: a table, or an entry by its key's family.
func (s *Store) Scrub(bad func(what string)) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := s.db.VerifyChecksum(); err != nil {
		bad(fmt.Sprintf("a table of the store: %v", err))
	}
	return s.db.View(func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			err := viewValue(item, func(value []byte) error {
				_, err := layout.Unseal(item.Key(), value)
				return err
			})
			if err != nil {
				// Keys of rows may name people.
				name, _ := layout.ActorOf(item.Key())
				bad(fmt.Sprintf("an entry of the store, family %q %s", item.Key()[0], name))
			}
		}
		return nil
	})
}
