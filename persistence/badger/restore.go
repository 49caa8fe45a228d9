package badger

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/backup"
)

// Restore makes a new store in dir out of a backup. dir must be empty or not
// exist. The store is built in a folder beside it and takes dir's name only
// when the backup was whole, so a damaged one (ErrBadBackup), or one of a newer
// program (ErrNewerFormat), changes nothing. The new store has a new StreamID.
func Restore(dir string, r io.Reader) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := backup.CheckVacant(dir); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".restore-")
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	err = build(temp, r)
	if err == nil {
		err = backup.PutInPlace(temp, dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("restore into %s: %w", dir, err), os.RemoveAll(temp))
	}
	return nil
}

// build fills the store in dir, and opens it once to see that it opens.
func build(dir string, r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	if err := readBackupHeader(in); err != nil {
		return err
	}
	o := Options{Dir: dir}.withDefaults()
	db, err := badgerdb.Open(o.badgerOptions(&bridge{log: o.Logger}))
	if err != nil {
		return err
	}
	if err := errors.Join(loadEntries(db, backup.NewFrameReader(in)), db.Close()); err != nil {
		return err
	}
	s, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(s.writeMeta(meta{format: Format, stream: newStreamID()}), s.Close())
}

func readBackupHeader(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil || len(line) > maxHeader {
		return fmt.Errorf("%w: no header", ErrBadBackup)
	}
	var backup, store int
	if n, err := fmt.Sscanf(string(line), backupHeader, &backup, &store); err != nil || n != 2 {
		return fmt.Errorf("%w: no header", ErrBadBackup)
	}
	if backup > backupFormat || store > Format {
		return fmt.Errorf("%w: the backup has format %d of a store of format %d, this program knows %d and %d",
			ErrNewerFormat, backup, store, backupFormat, Format)
	}
	return nil
}

func loadEntries(db *badgerdb.DB, r io.Reader) error {
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	batch.SetMaxPendingTxns(2) // each may hold much memory
	in := bufio.NewReader(r)
	for {
		e, err := readEntry(in)
		if err == io.EOF {
			return batch.Flush()
		}
		if err != nil {
			return err
		}
		if err := batch.SetEntry(e); err != nil {
			return err
		}
	}
}

// ErrBadBackup says that a backup is cut off, damaged, or no backup.
var ErrBadBackup = backup.ErrDamaged

// readEntry gives io.EOF at the end of a whole backup.
func readEntry(in *bufio.Reader) (*badgerdb.Entry, error) {
	keySize, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err // io.EOF only before the first byte
	}
	valueSize, err1 := binary.ReadUvarint(in)
	expires, err2 := binary.ReadUvarint(in)
	if err := errors.Join(err1, err2); err != nil {
		return nil, endsEarly(err)
	}
	if keySize == 0 || keySize > maxRowKey+maxTable+2 || valueSize > valueLogFileBytes {
		return nil, fmt.Errorf("%w: entry of %d and %d bytes", ErrBadBackup, keySize, valueSize)
	}
	buf := make([]byte, keySize+valueSize)
	if _, err := io.ReadFull(in, buf); err != nil {
		return nil, endsEarly(err)
	}
	return &badgerdb.Entry{Key: buf[:keySize:keySize], Value: buf[keySize:], ExpiresAt: expires}, nil
}

// endsEarly turns the end of the input inside an entry into damage.
func endsEarly(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends inside an entry", ErrBadBackup)
	}
	return err
}
