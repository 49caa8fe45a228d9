package badger

import (
	"errors"
	"fmt"

	"atelier/persistence/layout"
	"atelier/persistence/ondisk"
)

// Erase removes all rows of a table, also from what the disk still holds of
// them. It rewrites files and lets every write that comes meanwhile fail, so it
// is for the start, before the store is used.
func (s *Store) Erase(table string) error {
	if err := layout.CheckTable(table); err != nil {
		return err
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.dropTable(layout.AppendRowKey(nil, table, nil)); err != nil {
		return fmt.Errorf("badger: erase %s: %w", table, err)
	}
	// The remaining data is now in files with new names. An erased entry can have been the
	// newest, so another one must replace it.
	if err := ondisk.SyncFolder(s.opts.Dir); err != nil {
		return err
	}
	if _, err := s.tick(); err != nil {
		return err
	}
	return s.noteLogs()
}

// dropTable removes what has the prefix, and the parts of large values of it.
// Badger only logs it when it fails, which ends writing.
func (s *Store) dropTable(prefix []byte) error {
	return errors.Join(s.db.DropPrefix(prefix, largePrefix(prefix)), s.broken())
}
