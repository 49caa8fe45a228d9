package badger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	badgerpb "github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"golang.org/x/sys/unix"

	"atelier/persistence/layout"
	"atelier/persistence/ondisk"
)

// inspect checks the folder of a store before Badger opens it. It refuses a store whose files are
// damaged, missing or replaced by older copies. With RecoverDamaged it repairs the folder, keeps
// the original of every file that it changes, and reports the losses. The returned mark is locked.
func inspect(o Options) (*mark, error) {
	m, known, err := openMark(o.Dir, o.ReadOnly)
	markErr := err
	if err != nil && !errors.Is(err, errMark) {
		return nil, err
	}
	unlock, err := lockFolder(o.Dir, o.ReadOnly)
	if err == nil {
		err = inspectLocked(o, m, known, markErr)
		unlock()
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func inspectLocked(o Options, m *mark, known bool, markErr error) error {
	s, err := examine(o.Dir)
	if err != nil {
		return err
	}
	switch {
	case markErr != nil:
		s.find(markName(o.Dir), markErr)
	case known:
		s.compare(m)
	case m.emptied && s.manifest != nil:
		s.find(markName(o.Dir), fmt.Errorf("%w: it is empty", errMark))
	case s.manifest != nil:
		o.Logger.Warn("the store has no high-water mark yet: this start cannot detect whether its folder was replaced by an older copy", "file", markName(o.Dir))
	}
	dropped := s.logs.verdict()
	if len(s.findings) > 0 || dropped != nil {
		if !o.RecoverDamaged {
			return s.refusal(dropped)
		}
		if err := s.repair(o, dropped); err != nil {
			return fmt.Errorf("recover: %w", err)
		}
	}
	if o.ReadOnly {
		if !s.manifestIntact {
			return errors.New("the store was not closed properly; open it for writing once")
		}
		return nil
	}
	if !known || len(s.findings) > 0 || dropped != nil {
		if err := m.restart(); err != nil {
			return err
		}
	}
	m.forget(s.logs.logs)
	return s.tidy(o.Logger)
}

// lockWait is the maximum wait for a lock that a process being started still shares.
const lockWait = 3 * time.Second

// lockFolder takes the lock that Badger will take on a folder, for the duration of the inspection.
// The caller has locked the mark, so that no other server uses the folder. The folder can still be
// locked by a store that this process has just closed: between fork and exec, a new process shares
// the descriptors of this one. lockFolder waits at most lockWait for this lock.
func lockFolder(dir string, readOnly bool) (unlock func(), err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if readOnly {
		how = unix.LOCK_SH
	}
	for end := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return func() { _ = ondisk.Unlock(f) }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(end) {
			return nil, errors.Join(lockError(dir, err), f.Close())
		}
	}
}

// lockError returns ErrLocked if another process has the lock. A file system can also be unable to
// lock files.
func lockError(dir string, err error) error {
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("%w: %s", ErrLocked, dir)
	}
	return fmt.Errorf("badger: lock %s: %w", dir, err)
}

func (s *survey) refusal(dropped *Dropped) error {
	var errs []error
	if dropped != nil {
		errs = append(errs, dropped)
	}
	if len(s.findings) > 0 {
		errs = append(errs, damaged(s.findings))
	}
	return errors.Join(errs...)
}

// tidy changes the folder so that Badger can open it. It takes only actions that lose no data,
// according to the survey.
func (s *survey) tidy(log *slog.Logger) error {
	if !s.manifestIntact {
		if err := s.writeManifest(); err != nil {
			return err
		}
	}
	if err := s.moveStrange(log); err != nil {
		return err
	}
	changed := false
	for name := range s.files {
		if empty, err := s.holdsNothing(name); err != nil {
			return err
		} else if !empty {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return ondisk.SyncFolder(s.dir)
}

// moveStrange moves the files of s.strange out of the folder.
func (s *survey) moveStrange(log *slog.Logger) error {
	if len(s.strange) == 0 {
		return nil
	}
	aside := asideName(s.dir)
	if err := os.Mkdir(aside, 0o700); err != nil {
		return err
	}
	for _, name := range s.strange {
		log.Warn("a file in the store's folder has bytes that the store did not write; it was moved away", "file", name, "kept_in", aside)
		if err := os.Rename(filepath.Join(s.dir, name), filepath.Join(aside, name)); err != nil {
			return err
		}
		delete(s.files, name)
	}
	return errors.Join(ondisk.SyncFolder(aside), ondisk.SyncFolder(s.dir))
}

// asideName returns the path of a folder next to the store's, for files that no longer belong to
// the store.
func asideName(dir string) string {
	return filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-damaged-"+time.Now().UTC().Format("20060102T150405.000000Z"))
}

// holdsNothing reports whether a file contains no data of the store. This applies to logs that a
// crash left without content, and to files of the value log, in which checkUnused found no value.
// It also applies to Badger's statistics about the value log and to its key registry, because this
// store uses neither. Badger refuses to start, or crashes, if some of these files are empty or
// damaged.
func (s *survey) holdsNothing(name string) (bool, error) {
	switch {
	case name == "DISCARD", name == "KEYREGISTRY", strings.HasSuffix(name, valueExt):
		return true, nil
	case strings.HasSuffix(name, walExt):
		info, err := os.Stat(filepath.Join(s.dir, name))
		return err == nil && info.Size() <= walHeader, err
	}
	return false, nil
}

// writeManifest writes the MANIFEST that the survey has determined.
func (s *survey) writeManifest() error {
	var leftovers []uint64
	for _, id := range s.unnamed() {
		if s.manifest.removed[id] {
			leftovers = append(leftovers, id)
		}
	}
	s.manifestIntact = true
	return s.manifest.write(s.dir, leftovers)
}

// repair changes the folder so that Badger can open its valid part. It copies the MANIFEST and the
// logs to a folder next to the store's, and moves damaged tables there.
func (s *survey) repair(o Options, dropped *Dropped) error {
	if o.ReadOnly {
		return errors.New("a store cannot be recovered read-only")
	}
	// The recovered store gets a new stream id, as after a restore. Clients may have seen the
	// dropped data, and its transactions may have used tokens. The note makes the next start renew
	// the id, even if a crash interrupts this start.
	if err := ondisk.Replace(filepath.Join(o.Dir, recoveryNote), nil); err != nil {
		return fmt.Errorf("record the recovery: %w", err)
	}
	aside := asideName(o.Dir)
	if err := s.keep(aside); err != nil {
		return fmt.Errorf("move the damaged files away: %w", err)
	}
	if len(s.findings) > 0 {
		if err := s.rebuild(aside); err != nil {
			return err
		}
	}
	for _, d := range s.findings {
		o.Logger.Error("opening a damaged store: acknowledged writes may be lost", "file", d.file, "error", d.what, "kept_in", aside)
	}
	if dropped != nil {
		o.Logger.Error("opening a damaged store: acknowledged writes are dropped",
			"file", dropped.File, "offset", dropped.Offset, "last_sound_transaction", dropped.LastCommit,
			"dropped_transactions_seen", dropped.Behind, "newest_dropped", dropped.NewestCommit, "kept_in", aside)
	}
	return nil
}

// rebuild replaces damaged tables with their undamaged part, and adds unexplained tables to the
// MANIFEST. It keeps the valid entries of the MANIFEST. Without a MANIFEST, all tables are on level
// 0.
func (s *survey) rebuild(aside string) error {
	if s.manifest == nil {
		s.manifest = &manifest{named: map[uint64]*badgerpb.ManifestChange{}, removed: map[uint64]bool{}}
	}
	for _, id := range s.unexplained {
		s.manifest.named[id] = tableChange(id)
	}
	for id := range s.manifest.named {
		if _, ok := s.tables[id]; ok {
			continue
		}
		left, err := s.replaceTable(id, aside)
		if err != nil {
			return fmt.Errorf("%s: %w", table.IDToFilename(id), err)
		}
		if !left {
			delete(s.manifest.named, id)
		}
	}
	return s.writeManifest()
}

// replaceTable moves a damaged table to aside and replaces it with its valid part. left is false if
// no part is valid, or if the table is missing.
func (s *survey) replaceTable(id uint64, aside string) (left bool, err error) {
	name := table.IDToFilename(id)
	if !s.files[name] {
		return false, nil
	}
	content, err := salvageTable(filepath.Join(s.dir, name))
	if err != nil {
		return false, err
	}
	if err := os.Rename(filepath.Join(s.dir, name), filepath.Join(aside, name)); err != nil {
		return false, err
	}
	if err := errors.Join(ondisk.SyncFolder(aside), ondisk.SyncFolder(s.dir)); err != nil || content == nil {
		return false, err
	}
	return true, ondisk.Replace(filepath.Join(s.dir, name), content)
}

// keep copies the MANIFEST, which rebuild replaces, and the logs, which Badger truncates and then
// removes.
func (s *survey) keep(aside string) error {
	if err := os.Mkdir(aside, 0o700); err != nil {
		return err
	}
	for name := range s.files {
		if name != badgerdb.ManifestFilename && !strings.HasSuffix(name, walExt) {
			continue
		}
		if err := copyFile(filepath.Join(s.dir, name), filepath.Join(aside, name)); err != nil {
			return err
		}
	}
	return ondisk.SyncFolder(aside)
}

// copyFile copies the written part of a file, without the hole at its end.
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

// recoveryNote is the name of a file that exists until the recovered store has a new stream id.
const recoveryNote = "RECOVERED"

// renewStream gives a recovered store a new stream id.
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
