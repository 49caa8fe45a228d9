package badger

import (
	"fmt"
	"path/filepath"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"atelier/persistence/layout"
)

// Scrub reads everything the store holds and calls bad for what does not match
// its checksum: a table, or an entry by its key's family.
func (s *Store) Scrub(bad func(what string)) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.verifyTables(func() bool { return false }, func(name string, err error) {
		bad(fmt.Sprintf("a table of the store: %s: %v", name, err))
	})
	return s.view(func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			err := onFault(func() error {
				return viewValue(txn, item, func(value []byte) error {
					_, err := layout.Unseal(item.Key(), value)
					return err
				})
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

// verifyTables reads every table, with plain reads, and calls bad for those
// that are not what was written.
func (s *Store) verifyTables(stop func() bool, bad func(name string, err error)) {
	for _, id := range s.tableIDs() {
		if stop() {
			return
		}
		name := table.IDToFilename(id)
		_, err := readTable(filepath.Join(s.opts.Dir, name), nil)
		// A compaction may have removed it meanwhile.
		if err != nil && slices.Contains(s.tableIDs(), id) {
			s.counts[faultRead].Add(1)
			bad(name, err)
		}
	}
}

func (s *Store) tableIDs() (ids []uint64) {
	for _, t := range s.db.Tables() {
		ids = append(ids, t.ID)
	}
	return ids
}
