package badger

import (
	"fmt"
	"io"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Backup writes everything the store holds to w while it goes on serving: one
// consistent state, the one at the moment of the call. It does not depend on
// Badger's version (package layout). w should be synced by the caller before it
// is relied on.
func (s *Store) Backup(w io.Writer) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	// A damaged table would end the iteration early without an error, and the
	// backup would be whole in form only.
	if err := s.db.VerifyChecksum(); err != nil {
		return fmt.Errorf("backup: %w: %w", durable.ErrCorrupt, err)
	}
	out, err := layout.NewEntryWriter(w)
	if err == nil {
		err = s.db.View(func(txn *badgerdb.Txn) error { return writeEntries(out, txn) })
	}
	if err == nil {
		err = out.Finish()
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func writeEntries(out *layout.EntryWriter, txn *badgerdb.Txn) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		err := viewValue(item, func(value []byte) error {
			return out.Put(layout.Entry{Key: item.Key(), Value: value, Expires: item.ExpiresAt()})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
