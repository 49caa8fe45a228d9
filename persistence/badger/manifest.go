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

	badgerdb "github.com/dgraph-io/badger/v4"
	badgerpb "github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"atelier/persistence/ondisk"
)

// Badger's MANIFEST consists of a header and sets of changes, each with its length and a CRC32C. A
// change adds or removes a table. Badger deletes every table that is not in the MANIFEST. The code
// in this file therefore reads the sets before Badger does, and distinguishes sets whose sync
// failed from sets whose tables are lost.

// manifestHeader is Badger's magic bytes, the user's magic number (0), and the version (8).
var manifestHeader = []byte{'B', 'd', 'g', 'r', 0, 0, 0, 8}

// changeSet contains the changes of one compaction, or of one flush of a memtable.
type changeSet []*badgerpb.ManifestChange

// isFlush reports whether the set only adds one table to level 0, which is a flushed memtable.
func (c changeSet) isFlush() bool {
	return len(c) == 1 && c[0].Op == badgerpb.ManifestChange_CREATE && c[0].Level == 0
}

func (c changeSet) ids(op badgerpb.ManifestChange_Operation) (ids []uint64) {
	for _, change := range c {
		if change.Op == op {
			ids = append(ids, change.Id)
		}
	}
	return ids
}

// manifest contains the sets of a MANIFEST, and their result.
type manifest struct {
	sets    []changeSet
	named   map[uint64]*badgerpb.ManifestChange // tables, with the changes that added them
	removed map[uint64]bool                     // tables that a set removed
	// cut is true if bytes follow the last valid set.
	cut bool
}

var errNoManifest = errors.New("the file is missing")

// readManifest reads the sets of a folder up to the first invalid one.
func readManifest(dir string) (*manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, badgerdb.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoManifest
	}
	if err != nil {
		return nil, err
	}
	if len(data) < len(manifestHeader) || !slices.Equal(data[:len(manifestHeader)], manifestHeader) {
		return nil, errors.New("its header is invalid")
	}
	m := &manifest{}
	rest := data[len(manifestHeader):]
	for len(rest) > 0 {
		set, size, ok := nextChangeSet(rest)
		if !ok {
			m.cut = true
			break
		}
		rest = rest[size:]
		m.sets = append(m.sets, set)
	}
	return m, m.add()
}

func nextChangeSet(b []byte) (set changeSet, size int, ok bool) {
	if len(b) < 8 {
		return nil, 0, false
	}
	length := int64(binary.BigEndian.Uint32(b))
	if length > int64(len(b)-8) {
		return nil, 0, false
	}
	body := b[8 : 8+length]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(b[4:]) {
		return nil, 0, false
	}
	var changes badgerpb.ManifestChangeSet
	if err := proto.Unmarshal(body, &changes); err != nil {
		return nil, 0, false
	}
	return changes.Changes, 8 + int(length), true
}

// add computes the result of the sets.
func (m *manifest) add() error {
	m.named, m.removed = map[uint64]*badgerpb.ManifestChange{}, map[uint64]bool{}
	for _, set := range m.sets {
		for _, change := range set {
			switch change.Op {
			case badgerpb.ManifestChange_CREATE:
				if m.named[change.Id] != nil {
					return fmt.Errorf("it contains table %d twice", change.Id)
				}
				if change.KeyId != 0 || change.Compression != 0 {
					return fmt.Errorf("table %d is encrypted or compressed, but this store writes no such tables", change.Id)
				}
				m.named[change.Id] = change
			case badgerpb.ManifestChange_DELETE:
				delete(m.named, change.Id)
				m.removed[change.Id] = true
			}
		}
	}
	return nil
}

// undoFailed reverts the sets that Badger wrote but could not sync. After such a failure, Badger
// deletes the tables that the set was to add, and continues with the tables that it was to remove.
// undoFailed reverts a set only if nothing is lost. Every table that the set removed must still
// exist, unless another set has removed it, too. The memtable that the set wrote must still be in a
// log. firstLogged is the oldest transaction in the logs. maxVersion returns the newest version in
// tables. The result reports whether a set was reverted.
func (m *manifest) undoFailed(present func(id uint64) bool, firstLogged uint64, maxVersion func(ids map[uint64]*badgerpb.ManifestChange) uint64) bool {
	failed := func(set changeSet) bool {
		for _, id := range set.ids(badgerpb.ManifestChange_CREATE) {
			if m.named[id] != nil && !present(id) {
				return true
			}
		}
		return false
	}
	var kept, dropped []changeSet
	flushFailed := false
	for _, set := range m.sets {
		switch {
		case !failed(set):
			// If a later memtable was flushed, the log of the failed one can be gone.
			if flushFailed && set.isFlush() {
				return false
			}
			kept = append(kept, set)
			continue
		case set.isFlush():
			flushFailed = true
		}
		dropped = append(dropped, set)
	}
	if len(dropped) == 0 {
		return false
	}
	less := &manifest{sets: kept}
	if err := less.add(); err != nil {
		return false // a later set depends on this failed set
	}
	for id := range less.named {
		if m.named[id] == nil && !present(id) {
			return false
		}
	}
	if flushFailed && (firstLogged == 0 || firstLogged > maxVersion(less.named)+1) {
		return false
	}
	m.sets, m.named, m.removed = less.sets, less.named, less.removed
	return true
}

// write replaces the MANIFEST of a folder with one that contains m's tables. It marks the tables in
// leftovers as removed.
func (m *manifest) write(dir string, leftovers []uint64) error {
	var all badgerpb.ManifestChangeSet
	for _, id := range leftovers {
		all.Changes = append(all.Changes,
			&badgerpb.ManifestChange{Id: id, Op: badgerpb.ManifestChange_CREATE},
			&badgerpb.ManifestChange{Id: id, Op: badgerpb.ManifestChange_DELETE})
	}
	for _, change := range m.named {
		all.Changes = append(all.Changes, change)
	}
	body, err := proto.Marshal(&all)
	if err != nil {
		return err
	}
	content := slices.Clone(manifestHeader)
	content = binary.BigEndian.AppendUint32(content, uint32(len(body)))
	content = binary.BigEndian.AppendUint32(content, crc32.Checksum(body, castagnoli))
	return ondisk.Replace(filepath.Join(dir, badgerdb.ManifestFilename), append(content, body...))
}

// tableChange returns the change that adds a table on level 0. This is correct for any table,
// because tables on level 0 can overlap, and look-ups search every level.
func tableChange(id uint64) *badgerpb.ManifestChange {
	return &badgerpb.ManifestChange{Id: id, Op: badgerpb.ManifestChange_CREATE, EncryptionAlgo: badgerpb.EncryptionAlgo_aes}
}
