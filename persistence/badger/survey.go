package badger

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	badgerdb "github.com/dgraph-io/badger/v4"
	badgerpb "github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"atelier/actors/durable"
)

// survey is the result of reading the folder before Badger opens it. Badger deletes tables that its
// MANIFEST does not contain, truncates logs at the first invalid entry, and starts empty without a
// MANIFEST. The survey therefore determines in advance whether each of these actions would lose
// data, and records a finding if so.
type survey struct {
	dir            string
	files          map[string]bool
	manifest       *manifest // nil if it cannot be read
	manifestIntact bool      // Badger can open the MANIFEST as it is
	tables         map[uint64]sstable
	bad            map[uint64]error // damaged tables
	logs           *walCheck
	findings       []finding
	// strange lists value log files with bytes that this store did not write. moveStrange moves
	// them out of the folder.
	strange []string
	// unexplained lists tables that the MANIFEST neither contains nor has removed, and of which at
	// least one entry is in no table of the MANIFEST and no log. Without a MANIFEST, it lists all
	// tables.
	unexplained []uint64
}

// finding is a damaged or missing file. If the folder as a whole is too old, file is the folder's
// name.
type finding struct {
	file string
	what error
}

// damaged is the error for findings.
type damaged []finding

func (d damaged) Error() string {
	var list []string
	for _, one := range d[:min(len(d), 5)] {
		list = append(list, fmt.Sprintf("%s: %v", one.file, one.what))
	}
	if more := len(d) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%v: %s; check the disk and restore a backup, or start with --recover-damaged, which keeps the undamaged data, moves the rest away and invalidates all tokens",
		ErrDamaged, strings.Join(list, "; "))
}

// Is makes errors.Is match ErrDamaged and durable.ErrCorrupt.
func (damaged) Is(target error) bool { return target == ErrDamaged || target == durable.ErrCorrupt }

func (s *survey) find(file string, what error) { s.findings = append(s.findings, finding{file, what}) }

// errOldValues means that the value log has values, so an older program wrote the folder.
var errOldValues = errors.New("badger: the store has values in Badger's value log, which this program does not use; open the store with the program that wrote it, make a backup, and restore the backup")

// examine surveys a folder.
func examine(dir string) (*survey, error) {
	s := &survey{dir: dir, files: map[string]bool{}, tables: map[uint64]sstable{}, bad: map[uint64]error{}, manifestIntact: true}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		s.files[e.Name()] = true
		if strings.HasSuffix(e.Name(), valueExt) {
			if err := s.checkUnused(e.Name()); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
		}
	}
	if s.logs, err = checkLogs(dir, nil); err != nil {
		return nil, err
	}
	s.readTables()
	if err := s.readManifest(); err != nil {
		return nil, err
	}
	for _, id := range s.unnamed() {
		if err := s.bad[id]; err != nil && s.manifest == nil {
			s.find(table.IDToFilename(id), err)
		}
	}
	return s, s.explain()
}

// checkUnused refuses a file of the value log that has a value. A file with other nonzero bytes
// after its header is added to s.strange.
func (s *survey) checkUnused(name string) (err error) {
	readErr := readLog(filepath.Join(s.dir, name), func(data []byte) {
		for at := walHeader; at < len(data); at++ {
			at += zeros(data[at:])
			if at > walHeader && at < len(data) {
				s.strange = append(s.strange, name)
			}
			// An entry begins with two flag bytes, which can both be zero. It can therefore begin
			// up to two bytes before the first nonzero byte.
			for from := max(walHeader, at-2); from <= at && from < len(data); from++ {
				if _, ok := walEntryAt(data, from); ok {
					err = errOldValues
					return
				}
			}
		}
	})
	s.strange = slices.Compact(s.strange)
	return errors.Join(err, readErr)
}

// readTables verifies all tables, at most max(2, GOMAXPROCS) concurrently.
func (s *survey) readTables() {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	for name := range s.files {
		id, ok := tableID(name)
		if !ok {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			t, err := readTable(filepath.Join(s.dir, name), nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.bad[id] = err
			} else {
				s.tables[id] = t
			}
			<-slots
		})
	}
	all.Wait()
}

// tableID parses the number in a table's name, as Badger would.
func tableID(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, tableExt)
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 10, 32)
	return id, err == nil && table.IDToFilename(id) == name
}

// readManifest reads which tables belong to the store, and records each missing or damaged table as
// a finding.
func (s *survey) readManifest() error {
	m, err := readManifest(s.dir)
	switch {
	case errors.Is(err, errNoManifest):
		if len(s.tables)+len(s.bad)+len(s.logs.logs) > 0 || s.logs.bad != nil {
			s.find(badgerdb.ManifestFilename, err)
		}
		return nil
	case err != nil:
		s.find(badgerdb.ManifestFilename, err)
		return nil
	}
	s.manifest = m
	// If bytes follow the last valid set of the MANIFEST, a crash interrupted a write that was
	// never synced. The tables of that set are then examined like all others that the MANIFEST does
	// not contain.
	s.manifestIntact = !m.cut
	undone := m.undoFailed(func(id uint64) bool { _, ok := s.tables[id]; return ok }, s.logs.firstLogged(), s.maxOf)
	s.manifestIntact = s.manifestIntact && !undone
	for id := range m.named {
		if _, ok := s.tables[id]; ok {
			continue
		}
		err := s.bad[id]
		if err == nil {
			err = errors.New("the MANIFEST contains it, but the file is missing")
		}
		s.find(table.IDToFilename(id), err)
	}
	s.checkLevels()
	return nil
}

// maxOf returns the newest version in the named tables.
func (s *survey) maxOf(named map[uint64]*badgerpb.ManifestChange) (version uint64) {
	for id := range named {
		version = max(version, s.tables[id].maxVersion)
	}
	return version
}

// checkLevels finds overlapping tables on one level. Only level 0 allows overlaps. If two tables
// overlap on another level, another file has replaced one of them.
func (s *survey) checkLevels() {
	levels := map[uint32][]uint64{}
	for id, change := range s.manifest.named {
		if _, ok := s.tables[id]; ok && change.Level > 0 {
			levels[change.Level] = append(levels[change.Level], id)
		}
	}
	for _, ids := range levels {
		slices.SortFunc(ids, func(a, b uint64) int { return y.CompareKeys(s.tables[a].smallest, s.tables[b].smallest) })
		for i := 1; i < len(ids); i++ {
			if y.CompareKeys(s.tables[ids[i-1]].biggest, s.tables[ids[i]].smallest) >= 0 {
				s.find(table.IDToFilename(ids[i]), fmt.Errorf("it overlaps %s on the same level, so one of the two files was replaced", table.IDToFilename(ids[i-1])))
				for _, id := range ids[i-1 : i+1] {
					s.manifest.named[id] = tableChange(id)
				}
			}
		}
	}
}

// unnamed returns the tables, valid or not, that the MANIFEST does not contain.
func (s *survey) unnamed() (ids []uint64) {
	for name := range s.files {
		if id, ok := tableID(name); ok && (s.manifest == nil || s.manifest.named[id] == nil) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// explain distinguishes tables that a crash left behind from tables that the MANIFEST has lost. A
// crash leaves tables that the MANIFEST has removed, and tables of a memtable whose log still
// exists. It also leaves tables of a compaction, whose entries are still in the tables that the
// compaction read. If a table has an entry that no other file contains, the MANIFEST has lost the
// table.
func (s *survey) explain() error {
	if s.manifest == nil {
		s.unexplained = s.unnamed()
		return nil
	}
	candidates := slices.DeleteFunc(s.unnamed(), func(id uint64) bool { return s.manifest.removed[id] })
	if len(candidates) == 0 {
		return nil
	}
	// Entries are compared by hash. A wrong match would need two keys with the same 64 bits.
	seed := maphash.MakeSeed()
	lost := map[uint64]uint64{} // hash of key and version -> table
	for _, id := range candidates {
		s.eachEntry(id, func(key []byte) { lost[maphash.Bytes(seed, key)] = id })
	}
	found := func(key []byte) { delete(lost, maphash.Bytes(seed, key)) }
	for id := range s.manifest.named {
		s.eachEntry(id, found)
	}
	if _, err := checkLogs(s.dir, found); err != nil {
		return err
	}
	for _, id := range lost {
		if !slices.Contains(s.unexplained, id) {
			s.unexplained = append(s.unexplained, id)
		}
	}
	slices.Sort(s.unexplained)
	for _, id := range s.unexplained {
		s.find(table.IDToFilename(id), fmt.Errorf("the %s does not contain it, but some of its entries are in no other file: the end of the %s is missing", badgerdb.ManifestFilename, badgerdb.ManifestFilename))
	}
	return nil
}

// eachEntry calls fn for the readable entries of a table.
func (s *survey) eachEntry(id uint64, fn func(key []byte)) {
	path := filepath.Join(s.dir, table.IDToFilename(id))
	if _, err := readTable(path, fn); err == nil {
		return
	}
	data, index, err := readDamaged(path)
	if err != nil {
		return
	}
	eachSoundBlock(data, index, func(body []byte) {
		defer func() { _ = recover() }()
		eachInBlock(body, func(key []byte, _ y.ValueStruct) { fn(key) })
	})
}

// compare records a finding if the folder lacks a transaction that its mark records as
// acknowledged.
func (s *survey) compare(m *mark) {
	if s.logs.verdict() != nil || len(s.findings) > 0 {
		return // already reported
	}
	var tables uint64
	if s.manifest != nil {
		tables = s.maxOf(s.manifest.named)
	}
	if newest := max(tables, s.logs.last); newest < m.state.version {
		if torn := s.logs.bad; torn != nil {
			s.find(torn.File, fmt.Errorf("it is truncated or damaged at byte %d: it ends at transaction %d, but %d was acknowledged", torn.Offset, newest, m.state.version))
			return
		}
		s.find(filepath.Base(s.dir), fmt.Errorf("the folder is older than its mark %s, because it ends at transaction %d instead of %d; check that its disk is mounted and that no older copy replaced it",
			markName(s.dir), newest, m.state.version))
		return
	}
	s.compareLogs(m.state.logs, tables)
}

// compareLogs finds logs that are missing or end too early, and missing tables of removed logs.
// tables is the newest version in any table.
func (s *survey) compareLogs(recorded []logStart, tables uint64) {
	for _, l := range recorded {
		held := slices.ContainsFunc(s.logs.logs, func(w walLog) bool { return logNumber(w.name) == l.log && w.last >= l.version })
		switch {
		case held || tables >= l.version:
		case l.log == flushed:
			s.find(filepath.Base(s.dir), fmt.Errorf("a table is missing: the tables end at transaction %d, but transaction %d was in a table", tables, l.version))
		default:
			s.find(logName(l.log), fmt.Errorf("it is missing or was emptied: transaction %d, which it contained, is not in any table", l.version))
		}
	}
	// Transactions are numbered without gaps, and a log begins where the previous one ends.
	for i := 1; i < len(s.logs.logs); i++ {
		if before, l := s.logs.logs[i-1], s.logs.logs[i]; l.first > before.last+1 {
			s.find(before.name, fmt.Errorf("its end is missing: it ends at transaction %d, but %s begins at %d", before.last, l.name, l.first))
		}
	}
}

func logName(number uint32) string { return fmt.Sprintf("%05d%s", number, walExt) }

// logNumber returns the number in the name of a log, or 0 for any other name.
func logNumber(name string) uint32 {
	n, err := strconv.ParseUint(strings.TrimSuffix(name, walExt), 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}
