package badger

import (
	"fmt"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"
	badgerpb "github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"

	"atelier/persistence/layout"
)

// Scrub reads everything in the store. It calls bad for each table or entry that does not match its
// checksum, and for a MANIFEST that cannot be read. An entry is identified by its key's family, and
// its actor or table.
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
				bad("an entry of the store, " + layout.Describe(item.Key()))
			}
		}
		return nil
	})
}

// verifyTables reads every table, with plain reads. It calls bad for each damaged table, and for a
// MANIFEST that cannot be read.
func (s *Store) verifyTables(stop func() bool, bad func(name string, err error)) {
	tables, err := s.namedTables()
	for id := range tables {
		if stop() {
			return
		}
		name := table.IDToFilename(id)
		if _, err := readTable(filepath.Join(s.opts.Dir, name), nil); err == nil {
			continue
		} else if now, again := s.namedTables(); again == nil && now[id] == nil {
			continue // a compaction has removed it meanwhile
		} else {
			s.counts[faultRead].Add(1)
			bad(name, err)
		}
	}
	if err != nil {
		s.counts[faultRead].Add(1)
		bad(badgerdb.ManifestFilename, err)
	}
}

// namedTables reads from the MANIFEST which tables are valid. Badger could also list them, but it
// would hold a lock while it reads mapped memory.
func (s *Store) namedTables() (map[uint64]*badgerpb.ManifestChange, error) {
	m, err := readManifest(s.opts.Dir)
	if err != nil {
		return nil, err
	}
	return m.named, nil
}
