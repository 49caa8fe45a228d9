package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"
	badgerpb "github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"

	"atelier/actors/durable"
)

// checkTables looks at the end of every table that the store counts on: Badger
// ends the process, from a goroutine of its own, when that is cut off. Tables
// that the manifest does not name were not finished before a crash, and Badger
// removes them.
func checkTables(o Options) error {
	f, err := os.Open(filepath.Join(o.Dir, badgerdb.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a new store
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	manifest, _, err := badgerdb.ReplayManifestFile(f, 0, badgerdb.DefaultOptions(o.Dir).WithLogger(nil))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", durable.ErrCorrupt, badgerdb.ManifestFilename, err)
	}
	for id := range manifest.Tables {
		name := table.IDToFilename(id)
		if err := checkEnd(filepath.Join(o.Dir, name)); err != nil {
			return fmt.Errorf("%w: %s: %w; restore a backup", durable.ErrCorrupt, name, err)
		}
	}
	return nil
}

var errCut = errors.New("the end of the file is missing")

// checkEnd holds the index of a table against its sum. From the end on: the
// length of the sum, the sum, the length of the index, the index.
func checkEnd(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at := info.Size()
	// back reads the n bytes in front of what was read last.
	back := func(n int64) ([]byte, error) {
		if at -= n; n < 0 || at < 0 {
			return nil, errCut
		}
		part := make([]byte, n)
		_, err := f.ReadAt(part, at)
		return part, err
	}
	counted := func() ([]byte, error) {
		length, err := back(4)
		if err != nil {
			return nil, err
		}
		return back(int64(binary.BigEndian.Uint32(length)))
	}
	sum, err := counted()
	if err != nil {
		return err
	}
	var want badgerpb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return errCut
	}
	index, err := counted()
	if err != nil {
		return err
	}
	if len(index) == 0 {
		return errCut // zeros, which even have the right sum
	}
	return y.VerifyChecksum(index, &want)
}
