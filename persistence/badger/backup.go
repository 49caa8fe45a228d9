package badger

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/backup"
)

// backupFormat is the version of the backup's own form; it stands in the first
// line together with the version of the store's layout.
const (
	backupFormat = 1
	backupHeader = "atelier-backup %d store-format %d\n"
	maxHeader    = 64
)

// Backup writes everything the store holds to w while it goes on serving: one
// consistent state, the one at the moment of the call. It does not depend on
// Badger's version: a line that names the formats, then checked frames of
// keys and values. w should be synced by the caller before it is relied on.
func (s *Store) Backup(w io.Writer) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	// A damaged table would end the iteration early without an error, and the
	// backup would be whole in form only.
	if err := s.db.VerifyChecksum(); err != nil {
		return fmt.Errorf("backup: %w: %w", durable.ErrCorrupt, err)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if _, err := fmt.Fprintf(out, backupHeader, backupFormat, Format); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	frames := backup.NewFrameWriter(out)
	if err := s.db.View(func(txn *badgerdb.Txn) error { return writeEntries(frames, txn) }); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := frames.Finish(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// writeEntries writes every entry: the lengths of key and value and the time
// of expiry (uvarints), the key, the value with its seal.
func writeEntries(w io.Writer, txn *badgerdb.Txn) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{})
	defer it.Close()
	var head []byte
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		err := viewValue(item, func(value []byte) error {
			head = binary.AppendUvarint(head[:0], uint64(len(item.Key())))
			head = binary.AppendUvarint(head, uint64(len(value)))
			head = binary.AppendUvarint(head, item.ExpiresAt())
			head = append(head, item.Key()...)
			if _, err := w.Write(head); err != nil {
				return err
			}
			_, err := w.Write(value)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
