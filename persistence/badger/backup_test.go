package badger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/backup"
	"atelier/persistence/layout"
)

// sampleBackup returns a backup of a store with all kinds of data.
func sampleBackup(t testing.TB) (backup []byte, stream string) {
	t.Helper()
	s := openTest(t, small(t.TempDir()), hooks{})
	add(t, s, "codelab/1", 1, "a")
	add(t, s, "codelab/1", 2, strings.Repeat("large", 1<<20))
	add(t, s, "codelab/2", 1, "b")
	snap(t, s, "codelab/2", 1, strings.Repeat("state", 1<<18))
	putRow(t, s, "audit", "1", "joined")
	var out bytes.Buffer
	if err := s.Backup(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), s.StreamID()
}

func TestARestoredStoreHasTheDataOfTheBackup(t *testing.T) {
	backup, stream := sampleBackup(t)
	dir := filepath.Join(t.TempDir(), "new", "store")
	if err := Restore(dir, bytes.NewReader(backup)); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, small(dir), hooks{})
	if s.StreamID() == stream || len(s.StreamID()) != 32 {
		t.Errorf("stream id %s of the restored store, %s before", s.StreamID(), stream)
	}
	if got := replayed(t, openLog(t, s, "codelab/1")); got != "1 a.2 "+strings.Repeat("large", 1<<20)+"." {
		t.Errorf("replayed %d bytes", len(got))
	}
	l := openLog(t, s, "codelab/2")
	if whole := load(t, l); whole.Seq != 1 || string(whole.State) != strings.Repeat("state", 1<<18) {
		t.Errorf("loaded %d bytes at %d", len(whole.State), whole.Seq)
	}
	if v, err := s.Get("audit", []byte("1")); err != nil || string(v) != "joined" {
		t.Errorf("row %q: %v", v, err)
	}
	if err := commit(l, 2, "goes on"); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(dir + ".restore-*"); len(left) > 0 {
		t.Errorf("temporary folders left behind: %v", left)
	}
}

// A restored row expires at the same time as the original row.
func TestARestoreKeepsTheExpiryOfRows(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	short := row("t", "a while")
	short.TTL = time.Hour
	if err := durable.Commit(s, []durable.Row{short, row("t", "for ever")}); err != nil {
		t.Fatal(err)
	}
	ends := func(s *Store, key string) (at uint64) {
		t.Helper()
		err := s.view(func(txn *badgerdb.Txn) error {
			item, err := txn.Get(layout.AppendRowKey(nil, "t", []byte(key)))
			if err == nil {
				at = item.ExpiresAt()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	var backup bytes.Buffer
	if err := s.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "store")
	if err := Restore(dir, &backup); err != nil {
		t.Fatal(err)
	}
	restored := openTest(t, small(dir), hooks{})
	if got, want := ends(restored, "a while"), ends(s, "a while"); got != want || want == 0 {
		t.Errorf("the restored row expires at %d, want %d", got, want)
	}
	if got := ends(restored, "for ever"); got != 0 {
		t.Errorf("a row without an expiry expires at %d", got)
	}
}

// A backup contains a large value once and unsplit, so that every kind of store can read it.
func TestABackupContainsALargeValueOnce(t *testing.T) {
	backup, _ := sampleBackup(t)
	in, err := layout.NewEntryReader(bytes.NewReader(backup))
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Key[0] == familyLarge {
			t.Fatalf("the backup also contains a part of %d bytes", len(e.Value))
		}
	}
}

// If a table is damaged while the store is open, the backup fails. Otherwise an incomplete backup
// would look complete.
func TestADamagedStoreCannotBeBackedUp(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	writeRound(t, s, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, small(dir), hooks{})
	if err := s.Backup(io.Discard); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no tables", err)
	}
	f, err := os.OpenFile(tables[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{b[0] ^ 1}, 100); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(io.Discard); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("backing up a damaged store: %v, want ErrCorrupt", err)
	}
}

// A restore removes the mark of an earlier store in the same place. That mark includes writes that
// the restored store does not contain, so the next start would refuse the store.
func TestARestoreRemovesTheMarkOfAnEarlierStore(t *testing.T) {
	backup, _ := sampleBackup(t)
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(markName(dir), []byte("of another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Restore(dir, bytes.NewReader(backup)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(markName(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mark of the earlier store exists: %v, want ErrNotExist", err)
	}
	if s := openTest(t, small(dir), hooks{}); s.StreamID() == "" {
		t.Error("the restored store has no stream id")
	}
}

// A backup during concurrent appends contains the state of one moment: for each actor, the row of
// the newest batch matches the end of the log.
func TestABackupDuringAppendsIsConsistent(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	const logs = 8
	stop, stopped := make(chan struct{}), make(chan error, logs)
	half := make(chan struct{}, logs)
	for i := range logs {
		go func() {
			actor := fmt.Sprint("codelab/", i)
			l, err := s.Open(actor)
			for seq := uint64(1); err == nil; seq++ {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				err = commit(l, seq, "r", durable.Row{Table: "last", Key: []byte(actor), Value: fmt.Append(nil, seq)})
				if seq == 50 {
					half <- struct{}{}
				}
			}
			stopped <- err
		}()
	}
	for range logs {
		<-half
	}
	var backup bytes.Buffer
	if err := s.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	close(stop)
	for range logs {
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
	}

	dir := t.TempDir() // exists and is empty
	if err := Restore(dir, &backup); err != nil {
		t.Fatal(err)
	}
	restored := openTest(t, small(dir), hooks{})
	for i := range logs {
		actor := fmt.Sprint("codelab/", i)
		last := openLog(t, restored, actor).(*actorLog).Next - 1
		row, err := restored.Get("last", []byte(actor))
		if err != nil || string(row) != fmt.Sprint(last) || last < 50 {
			t.Errorf("%s ends at %d, but its row is %q: %v", actor, last, row, err)
		}
	}
}

func TestDamagedBackupsAreRefused(t *testing.T) {
	whole, _ := sampleBackup(t)
	flip := func(at int) []byte {
		b := bytes.Clone(whole)
		b[at] ^= 1
		return b
	}
	header := bytes.IndexByte(whole, '\n') + 1
	for name, damaged := range map[string][]byte{
		"empty":          nil,
		"not a backup":   []byte("PK\x03\x04 something else\n"),
		"only a header":  whole[:header],
		"cut in half":    whole[:len(whole)/2],
		"cut by a byte":  whole[:len(whole)-1],
		"without end":    whole[:len(whole)-backup.TrailerBytes],
		"flipped header": flip(2),
		"flipped length": flip(header),
		"flipped bytes":  flip(len(whole) / 2),
		"flipped end":    flip(len(whole) - 1),
		"missing frame":  append(bytes.Clone(whole[:header]), whole[header+backup.FrameOverhead+backup.FrameBytes:]...),
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			if err := Restore(filepath.Join(parent, "store"), bytes.NewReader(damaged)); !errors.Is(err, ErrBadBackup) {
				t.Errorf("restoring a damaged backup: %v, want ErrBadBackup", err)
			}
			if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
				t.Errorf("files left behind: %v, %v", left, err)
			}
		})
	}
}

func TestNewerBackupIsRefused(t *testing.T) {
	for _, header := range []string{"atelier-backup 2 store-format 1\n", fmt.Sprintf("atelier-backup 1 store-format %d\n", Format+1)} {
		if err := Restore(filepath.Join(t.TempDir(), "store"), strings.NewReader(header)); !errors.Is(err, ErrNewerFormat) {
			t.Errorf("restoring %q: %v, want ErrNewerFormat", header, err)
		}
	}
	if err := Restore(filepath.Join(t.TempDir(), "store"), strings.NewReader("atelier-backup 1 store-format 1\n")); !errors.Is(err, ErrBadBackup) || !strings.Contains(err.Error(), "no release wrote") {
		t.Errorf("restoring a backup of format 1: %v, want ErrBadBackup", err)
	}
}

func TestRestoreDoesNotOverwrite(t *testing.T) {
	backup, _ := sampleBackup(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Restore(dir, bytes.NewReader(backup)); err == nil {
		t.Fatal("the restore overwrote a file")
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Fatal(err)
	}
}
