package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"atelier/persistence/layout"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// When Badger opens, it replays its write-ahead logs, one per memtable. At the first entry that
// does not match its checksum, it assumes that a crash tore the rest, and truncates the file there.
// One damaged bit would therefore silently drop every later acknowledged write. For this reason the
// store verifies the logs first.
//
// Badger syncs one transaction before it writes the next. A crash can therefore tear only the last
// transaction, whose pages reach the disk in any order. Valid entries of the same transaction after
// an invalid entry can thus be the result of a crash. But a valid entry of a later transaction
// proves that the torn transaction was synced and acknowledged. The log is then damaged, and must
// not be truncated.

// ErrDamaged means that files of the store, with acknowledged writes, are damaged or missing.
// Options.RecoverDamaged opens the store nevertheless.
var ErrDamaged = errors.New("badger: the store is damaged")

// Dropped describes the part of the logs that is lost when a damaged store is opened.
type Dropped struct {
	// File and Offset are the beginning of the damage.
	File   string
	Offset int64
	// LastCommit is the newest transaction before the damage. Behind is the number of later
	// transactions with valid entries after the damage, up to NewestCommit.
	LastCommit, NewestCommit uint64
	Behind                   int
}

func (d *Dropped) Error() string {
	return fmt.Sprintf("%v: the write-ahead log %s at byte %d; transaction %d before it is complete, and valid entries of %d transactions follow it, up to %d, "+
		"which were acknowledged and would be dropped; restore a backup, or check the disk and start with --recover-damaged",
		ErrDamaged, d.File, d.Offset, d.LastCommit, d.Behind, d.NewestCommit)
}

// Unwrap makes errors.Is match ErrDamaged.
func (d *Dropped) Unwrap() error { return ErrDamaged }

// File name extensions of Badger's logs.
const (
	walExt   = ".mem"
	valueExt = ".vlog" // Badger creates one, and nothing is ever written to it
	tableExt = ".sst"
)

// checkLogs looks for damage in the write-ahead logs of a folder, in the order in which they were
// written. It calls each, unless it is nil, for the entries before the damage.
func checkLogs(dir string, each func(key []byte)) (*walCheck, error) {
	names, err := logFiles(dir, walExt)
	if err != nil {
		return nil, err
	}
	c := &walCheck{each: each}
	for _, name := range names {
		if err := readLog(filepath.Join(dir, name), func(data []byte) { c.file(name, data) }); err != nil {
			return nil, fmt.Errorf("check %s: %w", name, err)
		}
	}
	return c, nil
}

// logFiles returns the names of the logs of one kind, oldest first.
func logFiles(dir, ext string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ext) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	// Names are numbers with leading zeros. A longer name is a higher number.
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names, nil
}

// walCheck reads the logs one after the other.
type walCheck struct {
	each func(key []byte) // called for every valid entry before the damage; may be nil
	logs []walLog         // logs with complete transactions, oldest first
	last uint64           // newest complete transaction
	// bad is set at the first invalid entry. After that, only the transactions of the following
	// entries matter.
	bad    *Dropped
	torn   uint64 // the transaction that a crash may have torn; 0 if not known yet
	behind map[uint64]bool
}

// walLog is a log with complete transactions.
type walLog struct {
	name        string
	first, last uint64 // the oldest and the newest transaction
}

// commit records a complete transaction in the log with this name.
func (c *walCheck) commit(name string, ts uint64) {
	c.last = max(c.last, ts)
	if n := len(c.logs); n == 0 || c.logs[n-1].name != name {
		c.logs = append(c.logs, walLog{name: name, first: ts})
	}
	l := &c.logs[len(c.logs)-1]
	l.first, l.last = min(l.first, ts), max(l.last, ts)
}

// firstLogged returns the oldest transaction in the logs, or 0 if they contain none.
func (c *walCheck) firstLogged() uint64 {
	var first uint64
	for _, l := range c.logs {
		if first == 0 || l.first < first {
			first = l.first
		}
	}
	return first
}

func (c *walCheck) verdict() *Dropped {
	if c.bad == nil || len(c.behind) == 0 {
		return nil
	}
	for ts := range c.behind {
		c.bad.NewestCommit = max(c.bad.NewestCommit, ts)
	}
	c.bad.Behind = len(c.behind)
	return c.bad
}

// file processes the next log.
func (c *walCheck) file(name string, data []byte) {
	at := walHeader
	if c.bad == nil {
		at = c.replay(name, data)
	}
	if c.bad != nil {
		c.search(data, at)
	}
}

// replay follows the log as Badger does and returns where it stopped.
func (c *walCheck) replay(name string, data []byte) int {
	at, whole, open := walHeader, walHeader, uint64(0)
	for at < len(data) {
		e, ok := walEntryAt(data, at)
		if !ok {
			break
		}
		switch {
		case e.ends && open == e.ts:
			c.commit(name, e.ts)
			open = 0
			whole = at + e.size
		case e.ends || open != 0 && open != e.ts:
			ok = false
		case e.inTxn:
			open = e.ts
		default:
			c.commit(name, e.ts)
			whole = at + e.size
		}
		if !ok {
			break
		}
		if c.each != nil {
			c.each(e.key)
		}
		at += e.size
	}
	if open != 0 || anySet(data[at:]) {
		c.bad = &Dropped{File: name, Offset: int64(whole), LastCommit: c.last}
		c.torn, c.behind = open, map[uint64]bool{}
	}
	return at
}

// search finds the valid entries after offset at. It records the transactions that must have been
// written after the torn one was synced.
func (c *walCheck) search(data []byte, at int) {
	for at < len(data) {
		if data[at]&(walTxn|walEnd) == 0 {
			// No entry begins here. Most of a log is a hole.
			n := zeros(data[at:])
			at += max(n, 1)
			continue
		}
		e, ok := walEntryAt(data, at)
		if !ok {
			at++
			continue
		}
		at += e.size
		switch {
		case c.torn == 0:
			c.torn = e.ts
			if c.last != 0 && e.ts > c.last+1 {
				// The transaction in between is missing completely.
				c.behind[e.ts] = true
			}
		case e.ts > c.torn:
			c.behind[e.ts] = true
		}
	}
}

// readLog passes the written part of a log to read. The file always has its maximum size, and the
// unwritten part is a hole.
func readLog(path string, read func(data []byte)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	size, err := written(f)
	if err != nil || size <= walHeader {
		return err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	err = onFault(func() error { read(data); return nil })
	if errors.Is(err, errFault) {
		err = fmt.Errorf("%w; copy the store to an undamaged disk, with zeros for unreadable parts, and open the copy", err)
	}
	return errors.Join(err, unix.Munmap(data))
}

// written returns the beginning of the hole at the end of a file, or the file's size if there is no
// such hole.
func written(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	for end := int64(0); ; {
		data, err := unix.Seek(int(f.Fd()), end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return end, nil
		}
		hole := int64(0)
		if err == nil {
			hole, err = unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE)
		}
		if err != nil || hole <= end || hole >= info.Size() {
			return info.Size(), nil // this file system does not report holes
		}
		end = hole
	}
}

// The format of Badger's logs: a file header, then entries. An entry has a header (flags, user's
// flags, and as uvarints the lengths of key and value and the expiry), key, value, and a CRC-32C
// over all of them. A key ends with the inverted timestamp of its transaction.
const (
	walHeader = 20
	walTxn    = 1 << 6
	walEnd    = 1 << 7
	walFlags  = walTxn | walEnd | 0x0f
)

// walEntry is a valid entry.
type walEntry struct {
	key   []byte // with the version, in the log's memory
	ts    uint64
	size  int
	inTxn bool
	ends  bool // the entry ends its transaction
}

// walEntryAt parses the entry at an offset, if a valid entry begins there.
func walEntryAt(data []byte, at int) (e walEntry, ok bool) {
	b := data[at:]
	if len(b) < 5 || b[0]&^walFlags != 0 || b[1] > largeReference {
		return e, false
	}
	head := 2
	next := func() uint64 {
		v, n := binary.Uvarint(b[head:min(head+binary.MaxVarintLen64, len(b))])
		if n <= 0 {
			return math.MaxUint64
		}
		head += n
		return v
	}
	key, value := next(), next()
	if key <= layout.SeqBytes || key > layout.MaxRowKey+layout.MaxTable+64+largeKeyTail || value > uint64(len(b)) || next() == math.MaxUint64 {
		return e, false
	}
	end := head + int(key) + int(value)
	if end+crc32.Size > len(b) || !knownFamily(b[head]) ||
		crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return e, false
	}
	e = walEntry{
		key:   b[head : head+int(key)],
		ts:    math.MaxUint64 - binary.BigEndian.Uint64(b[head+int(key)-8:]),
		size:  end + crc32.Size,
		inTxn: b[0]&walTxn != 0, ends: b[0]&walEnd != 0,
	}
	if e.ends {
		// The end marker repeats the timestamp in its value.
		ts, err := strconv.ParseUint(string(b[head+int(key):end]), 10, 64)
		return e, err == nil && ts == e.ts
	}
	return e, true
}

// knownFamily reports whether a key can begin with this byte. Checking it first avoids computing
// checksums where no entry can begin.
func knownFamily(first byte) bool {
	switch first {
	case familyLarge, layout.FamilyMeta, layout.FamilyChunk, layout.FamilyHead, layout.FamilyPart, layout.FamilyRow, '!': // the last is Badger's own
		return true
	}
	return false
}

// zeros counts the leading zero bytes of b.
func zeros(b []byte) int {
	n := 0
	for len(b)-n >= 4096 && isZero(b[n:n+4096]) {
		n += 4096
	}
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

func anySet(b []byte) bool { return zeros(b) < len(b) }

var zeroPage [4096]byte

func isZero(b []byte) bool { return string(b) == string(zeroPage[:len(b)]) }
