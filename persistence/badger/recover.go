package badger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atelier/persistence/ondisk"

	"atelier/persistence/layout"
)

// inspect refuses a store with tables that Badger cannot open, and one whose
// write-ahead log is damaged, before Badger cuts it; or, when told to open it nevertheless, sets the logs aside as they are
// and says what will be dropped.
func inspect(o Options) error {
	if err := checkTables(o); err != nil {
		return err
	}
	dropped, err := checkLogs(o.Dir)
	if err != nil || dropped == nil {
		return err
	}
	if !o.RecoverDamaged {
		return dropped
	}
	// From here on it is another stream, as after a restore: what was dropped
	// may have been seen by clients, and tokens may have been used in it. The
	// note survives a crash before that is recorded.
	if err := ondisk.Replace(filepath.Join(o.Dir, recoveryNote), nil); err != nil {
		return fmt.Errorf("note the recovery: %w", err)
	}
	aside := filepath.Join(filepath.Dir(o.Dir), filepath.Base(o.Dir)+"-damaged-"+time.Now().UTC().Format("20060102T150405Z"))
	if err := keepLogs(o.Dir, aside); err != nil {
		return fmt.Errorf("set the damaged logs aside: %w", err)
	}
	o.Logger.Error("opening a damaged store: acknowledged writes are dropped",
		"file", dropped.File, "offset", dropped.Offset, "last_sound_transaction", dropped.LastCommit,
		"dropped_transactions_seen", dropped.Behind, "newest_dropped", dropped.NewestCommit, "kept_in", aside)
	return nil
}

// keepLogs copies the write-ahead logs.
func keepLogs(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	wals, err := logFiles(from, walExt)
	values, err2 := logFiles(from, valueExt)
	names, err := append(wals, values[max(0, len(values)-1):]...), errors.Join(err, err2)
	for _, name := range names {
		if err == nil {
			err = copyFile(filepath.Join(from, name), filepath.Join(to, name))
		}
	}
	if err == nil {
		err = ondisk.SyncFolder(to)
	}
	return err
}

// copyFile copies what was written of a log, without the hole behind it.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	size, err := written(in)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, 0, size))
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// recoveryNote lies in the store's folder until the store has another stream.
const recoveryNote = "RECOVERED"

// renewStream gives the store another stream if it was recovered.
func (s *Store) renewStream(m meta) (meta, error) {
	note := filepath.Join(s.opts.Dir, recoveryNote)
	if _, err := os.Stat(note); errors.Is(err, fs.ErrNotExist) || s.opts.ReadOnly {
		return m, nil
	}
	m.stream = layout.NewStreamID()
	if err := s.writeMeta(m); err != nil {
		return m, err
	}
	return m, errors.Join(os.Remove(note), ondisk.SyncFolder(s.opts.Dir))
}
