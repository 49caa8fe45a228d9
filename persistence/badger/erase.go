package badger

import (
	"fmt"

	"atelier/persistence/ondisk"

	"atelier/persistence/layout"
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
	if err := s.db.DropPrefix(layout.AppendRowKey(nil, table, nil)); err != nil {
		return fmt.Errorf("badger: erase %s: %w", table, err)
	}
	// What stays lies in files with new names now.
	return ondisk.SyncFolder(s.opts.Dir)
}
