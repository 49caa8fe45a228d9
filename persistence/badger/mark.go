package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	badgerdb "github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"atelier/persistence/layout"
	"atelier/persistence/ondisk"
)

// The high-water mark is a file next to the store's folder with the newest position of the store.
// If a folder's newest transaction is older than its mark, the folder has lost transactions. Either
// a file system snapshot was restored, an older copy has replaced the folder, or a file with the
// newest transactions is missing. Tokens whose use was recorded in the lost transactions could
// return their credentials again.
//
// The mark is written after each commit, so that it survives the end of the process. It is synced
// once per Options.SpaceInterval and on closing, so after a power failure it can lag by one
// interval. The mark is never ahead of the disk.

// markName returns the path of the mark of the store in dir.
func markName(dir string) string { return dir + ".mark" }

// Marked reports whether the mark of the store in dir exists. It exists from the first
// attempt to create the store, even if the store is missing now.
func Marked(dir string) bool {
	_, err := os.Stat(markName(dir))
	return err == nil
}

// mark is the open file. Its lock protects the whole store. While a process has the store open for
// writing, no other process examines the folder.
type mark struct {
	file *os.File // nil for a read-only store without a mark
	// emptied means that the mark already existed, but was empty. If a store exists, this is
	// damage, because a mark is written and synced before its store is created.
	emptied bool

	mu    sync.Mutex
	state markState // guarded by mu
	dirty bool      // guarded by mu; written, but not synced
}

// markState is the mark's content.
type markState struct {
	seq     uint64 // number of the write; of the two slots, the one with the higher number is valid
	version uint64 // the store has a transaction at least as new
	logs    []logStart
}

// flushed is the log number under which the newest recorded transaction of removed logs is kept.
// Each log contains a tick, and compactions keep the newest tick. Some table must therefore contain
// a transaction at least as new.
const flushed = 0

// logStart records that a log has a transaction. Once the log is deleted, some table must contain a
// transaction at least as new.
type logStart struct {
	log     uint32 // number of the file
	version uint64
}

const (
	markMagic   = "ATELMARK"
	markSlot    = 512 // two slots, written alternately, so that one is always complete
	maxMarkLogs = 32
	markFixed   = len(markMagic) + 8 + 8 + 1
)

var errMark = errors.New("the high-water mark is damaged")

// openMark opens or creates the mark of the store in dir, and locks it. known is false if the mark
// did not exist or was empty. An empty mark is an error if readOnly is set.
func openMark(dir string, readOnly bool) (m *mark, known bool, err error) {
	m = &mark{}
	flags, how := os.O_RDWR|os.O_CREATE, unix.LOCK_EX
	if readOnly {
		flags, how = os.O_RDONLY, unix.LOCK_SH
	} else if err := ondisk.MakeFolder(filepath.Dir(dir), 0o755); err != nil {
		return nil, false, err
	}
	_, missing := os.Stat(markName(dir))
	m.file, err = os.OpenFile(markName(dir), flags, 0o600)
	if readOnly && errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(m.file.Fd()), how|unix.LOCK_NB); err != nil {
		return nil, false, errors.Join(lockError(dir, err), m.file.Close())
	}
	b := make([]byte, 2*markSlot)
	n, err := m.file.ReadAt(b, 0)
	switch {
	case n == 0 && !readOnly:
		// A crash before the store was created can leave an empty mark.
		m.emptied = missing == nil
		return m, false, nil
	case n < len(b):
		return m, true, fmt.Errorf("%w: %w", errMark, err)
	}
	for at := 0; at < len(b); at += markSlot {
		if s, ok := decodeMark(b[at : at+markSlot]); ok && s.seq > m.state.seq {
			m.state = s
		}
	}
	if m.state.seq == 0 {
		return m, true, errMark
	}
	return m, true, nil
}

func (s *markState) encode() []byte {
	b := make([]byte, 0, markSlot)
	b = append(b, markMagic...)
	b = binary.BigEndian.AppendUint64(b, s.seq)
	b = binary.BigEndian.AppendUint64(b, s.version)
	b = append(b, byte(len(s.logs)))
	for _, l := range s.logs {
		b = binary.BigEndian.AppendUint32(b, l.log)
		b = binary.BigEndian.AppendUint64(b, l.version)
	}
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return b[:markSlot]
}

func decodeMark(b []byte) (s markState, ok bool) {
	n := int(b[markFixed-1])
	end := markFixed + 12*n
	if string(b[:len(markMagic)]) != markMagic || n > maxMarkLogs ||
		crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return s, false
	}
	s.seq = binary.BigEndian.Uint64(b[len(markMagic):])
	s.version = binary.BigEndian.Uint64(b[len(markMagic)+8:])
	for at := markFixed; at < end; at += 12 {
		s.logs = append(s.logs, logStart{binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint64(b[at+4:])})
	}
	return s, true
}

// reached records that a transaction is on disk.
func (m *mark) reached(version uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if version <= m.state.version {
		return nil
	}
	m.state.version = version
	return m.write()
}

// newest returns the number of the newest log that the mark records, or 0.
func (m *mark) newest() (log uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.state.logs {
		log = max(log, l.log)
	}
	return log
}

// setLogs records the existing logs, and that the log newest has the transaction version. newest is
// 0 for none.
func (m *mark) setLogs(present []uint32, newest uint32, version uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(present)
	if newest > 0 && !slices.ContainsFunc(m.state.logs, func(l logStart) bool { return l.log == newest }) {
		m.state.logs = append(m.state.logs, logStart{newest, version})
	}
	m.state.logs = m.state.logs[max(0, len(m.state.logs)-maxMarkLogs):]
	m.state.version = max(m.state.version, version)
	return m.write()
}

// forget drops the entries of logs that no longer exist, because their transactions are in tables.
// Their numbers must not stay, because Badger continues counting from the existing logs and can
// reuse them.
func (m *mark) forget(present []walLog) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var numbers []uint32
	for _, l := range present {
		numbers = append(numbers, logNumber(l.name))
	}
	m.keep(numbers)
}

// keep drops the entries of logs that are not in present, and records their newest transaction
// under flushed. The caller holds m.mu.
func (m *mark) keep(present []uint32) {
	inTables := logStart{log: flushed}
	m.state.logs = slices.DeleteFunc(m.state.logs, func(l logStart) bool {
		gone := l.log == flushed || !slices.Contains(present, l.log)
		if gone {
			inTables.version = max(inTables.version, l.version)
		}
		return gone
	})
	if inTables.version > 0 {
		m.state.logs = append(m.state.logs, inTables)
	}
}

// write writes the state into the older slot. The caller holds m.mu.
func (m *mark) write() error {
	m.state.seq++
	_, err := m.file.WriteAt(m.state.encode(), int64(m.state.seq%2)*markSlot)
	if err != nil {
		return fmt.Errorf("write the high-water mark: %w", err)
	}
	m.dirty = true
	return nil
}

// sync makes written states durable.
func (m *mark) sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirty {
		return nil
	}
	if err := m.file.Sync(); err != nil {
		return fmt.Errorf("sync the high-water mark: %w", err)
	}
	m.dirty = false
	return nil
}

// restart resets the mark for a new store. The file is written in full, so that no later write
// needs space.
func (m *mark) restart() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = markState{seq: 1}
	b := m.state.encode()
	m.state.seq++
	if _, err := m.file.WriteAt(append(m.state.encode(), b...), 0); err != nil {
		return fmt.Errorf("write the high-water mark: %w", err)
	}
	return errors.Join(m.file.Truncate(2*markSlot), m.file.Sync(), ondisk.SyncFolder(filepath.Dir(m.file.Name())))
}

// tickKey is the key that ticks write. It is never deleted. Without ticks, the newest transaction
// could be a deletion. After a compaction, which drops deletions, the store would then seem older
// than its mark.
var tickKey = []byte{layout.FamilyMeta, 't', 'i', 'c', 'k'}

// tick commits a write of tickKey. It returns the version of this transaction, or an earlier
// version that no older log contains.
func (s *Store) tick() (version uint64, err error) {
	return s.commitVersion([]badgerdb.Entry{{Key: tickKey, Value: layout.Sealed(tickKey, nil)}}, nil)
}

// noteLogs records the existing logs after the folder has changed. A new log gets a tick. If the
// log disappears, the tick shows whether a table has its content.
func (s *Store) noteLogs() error {
	if s.opts.ReadOnly || !s.ticking.TryLock() {
		return nil // the goroutine that holds the lock checks again
	}
	defer s.ticking.Unlock()
	for {
		present, newest, err := s.presentLogs()
		if err != nil || newest <= s.mark.newest() {
			return err
		}
		if err := s.reserve(logName(newest)); err != nil {
			return err
		}
		version, err := s.tick()
		if err != nil {
			return err
		}
		// Check again, because the tick may have started another new log.
		after, again, err := s.presentLogs()
		if err != nil {
			return err
		}
		if again != newest {
			continue
		}
		if len(after) < len(present) {
			present = after
		}
		return s.mark.setLogs(present, newest, version)
	}
}

// reserve allocates the disk space that a log can need, because Badger writes the log through a
// memory map. A full log accepts one more transaction, of up to 15 % of its size.
func (s *Store) reserve(log string) error {
	reserve := ondisk.Reserve
	if s.hooks.reserve != nil {
		reserve = s.hooks.reserve
	}
	return reserve(filepath.Join(s.opts.Dir, log), s.opts.MemTableBytes*5/4)
}

func (s *Store) presentLogs() (present []uint32, newest uint32, err error) {
	names, err := logFiles(s.opts.Dir, walExt)
	for _, name := range names {
		present = append(present, logNumber(name))
		newest = max(newest, logNumber(name))
	}
	return present, newest, err
}

// removeMark removes the mark of the store in dir, if it exists.
func removeMark(dir string) error {
	if err := os.Remove(markName(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (m *mark) close() error {
	if m.file == nil {
		return nil
	}
	return ondisk.Unlock(m.file)
}
