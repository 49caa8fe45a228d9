package badger

import (
	"bytes"
	"fmt"
	"io"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Backup writes a consistent state of the store to w while the store keeps serving. The state is at
// least as new as the call. The format does not depend on Badger's version (package layout). The
// caller should sync w before relying on the backup.
func (s *Store) Backup(w io.Writer) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	// Verify the tables first. A damaged table would end the iteration early without an error, and
	// the incomplete backup would look complete.
	var damaged error
	s.verifyTables(func() bool { return damaged != nil }, func(name string, err error) {
		damaged = fmt.Errorf("backup: %w: %s: %w", durable.ErrCorrupt, name, err)
	})
	if damaged != nil {
		return damaged
	}
	out, err := layout.NewEntryWriter(w)
	if err == nil {
		err = s.view(func(txn *badgerdb.Txn) error { return writeEntries(out, txn) })
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
		if item.Key()[0] == familyLarge || bytes.Equal(item.Key(), tickKey) {
			continue // parts are written together with their value, and local metadata is not written
		}
		err := viewValue(txn, item, func(value []byte) error {
			return out.Put(layout.Entry{Key: item.Key(), Value: value, Expires: item.ExpiresAt()})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
