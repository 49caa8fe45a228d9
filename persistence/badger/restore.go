package badger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/backup"
	"atelier/persistence/layout"
	"atelier/persistence/ondisk"
)

// Restore creates a store in dir from a backup. dir must be empty or missing. The store is built in
// a folder next to dir, and renamed to dir only if the backup was complete. A damaged backup
// (ErrBadBackup), or a backup of a newer program (ErrNewerFormat), therefore changes nothing. The
// new store has a new StreamID.
func Restore(dir string, r io.Reader) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := backup.CheckVacant(dir); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := ondisk.MakeFolder(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".restore-")
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	err = build(temp, r)
	if err == nil {
		// The mark of the replaced store does not apply to this one.
		err = errors.Join(removeMark(temp), removeMark(dir), backup.PutInPlace(temp, dir))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("restore into %s: %w", dir, err), os.RemoveAll(temp), removeMark(temp))
	}
	return nil
}

// build fills the store in dir, and opens it once as a check.
func build(dir string, r io.Reader) error {
	in, err := layout.NewEntryReader(r)
	if err != nil {
		return err
	}
	o := Options{Dir: dir}.withDefaults()
	// Badger opens the folder directly, without our checks, because the store is valid only once it
	// is complete.
	db, err := badgerdb.Open(o.badgerOptions(newBridge(o)))
	if err != nil {
		return err
	}
	if err := errors.Join(loadEntries(db, in), db.Close()); err != nil {
		return err
	}
	s, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(s.writeMeta(meta{format: Format, stream: layout.NewStreamID()}), s.Close())
}

func loadEntries(db *badgerdb.DB, in *layout.EntryReader) error {
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	batch.SetMaxPendingTxns(2) // few, because each pending transaction can need much memory
	for {
		e, err := in.Next()
		if err == io.EOF {
			return batch.Flush()
		}
		if err != nil {
			return err
		}
		entry := &badgerdb.Entry{Key: e.Key, Value: e.Value, ExpiresAt: e.Expires}
		if threshold := db.Opts().ValueThreshold; int64(len(e.Value)) >= threshold {
			if err := splitLarge(entry, threshold, batch.Set); err != nil {
				return err
			}
		}
		if err := batch.SetEntry(entry); err != nil {
			return err
		}
	}
}

// ErrBadBackup means that a backup is truncated, damaged, or not a backup.
var ErrBadBackup = layout.ErrBadBackup
