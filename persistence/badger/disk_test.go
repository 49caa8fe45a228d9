package badger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/persistence/layout"
)

// Done(nil) promises that the bytes were synced. A test that kills a process cannot verify this, so
// the test checks Badger's options.
func TestBadgerSyncsWrites(t *testing.T) {
	s := openTest(t, Options{Dir: t.TempDir()}, hooks{})
	if o := s.db.Opts(); !o.SyncWrites || o.InMemory || o.DetectConflicts || o.NumVersionsToKeep != 1 {
		t.Fatalf("Badger runs with SyncWrites=%v InMemory=%v DetectConflicts=%v NumVersionsToKeep=%d",
			o.SyncWrites, o.InMemory, o.DetectConflicts, o.NumVersionsToKeep)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	openTest(t, small(dir), hooks{})
	if _, err := Open(small(dir)); !errors.Is(err, ErrLocked) {
		t.Fatalf("opening a second time returned %v, want ErrLocked", err)
	}
}

// Between fork and exec, a new process shares the descriptors of this one.
func TestALockIsReleasedWhileAProcessIsBeingStarted(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockFolder(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	shared := shareDescriptors(t, dir)
	unlock()
	if unlock, err = lockFolder(dir, false); err != nil {
		t.Fatalf("the folder is still locked with %d shared descriptors: %v", shared, err)
	}
	unlock()

	m, _, err := openMark(filepath.Join(dir, "store"), false)
	if err != nil {
		t.Fatal(err)
	}
	shareDescriptors(t, markName(filepath.Join(dir, "store")))
	if err := m.close(); err != nil {
		t.Fatal(err)
	}
	if m, _, err = openMark(filepath.Join(dir, "store"), false); err != nil {
		t.Fatalf("the mark is still locked: %v", err)
	}
	if err := m.close(); err != nil {
		t.Fatal(err)
	}
}

// Badger unlocks its folder only by closing it. A process that is being started can therefore keep
// the lock for a moment, so opening waits up to lockWait.
func TestOpeningWaitsForAProcessThatIsBeingStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f, err := os.Open(dir)
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(lockWait/2, func() { _ = f.Close() })
		unlock, err := lockFolder(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	})
}

// shareDescriptors duplicates this process's descriptors of a file until the end of the test, and
// returns their number.
func shareDescriptors(t *testing.T, path string) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, d := range open {
		if name, err := os.Readlink("/proc/self/fd/" + d.Name()); err != nil || name != path {
			continue
		}
		fd, err := strconv.Atoi(d.Name())
		if err != nil {
			t.Fatal(err)
		}
		duplicate, err := unix.Dup(fd)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(duplicate) })
		n++
	}
	if n == 0 {
		t.Fatalf("no descriptor of %s is open", path)
	}
	return n
}

func TestAReadOnlyStoreRefusesWrites(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, small(dir), hooks{})
	add(t, s, "codelab/1", 1, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	o := small(dir)
	o.ReadOnly = true
	s = openTest(t, o, hooks{})
	l := openLog(t, s, "codelab/1")
	if got := replayed(t, l); got != "1 a." {
		t.Fatalf("replayed %q", got)
	}
	for what, err := range map[string]error{
		"append":   l.Append(durable.Batch{First: 2, Records: one("b")}),
		"rows":     s.Append(nil, nil),
		"snapshot": l.Snapshot(1, nil, 1, nil),
		"rewrite":  l.Rewrite(1, nil),
		"purge":    s.Purge("codelab/1"),
	} {
		if !errors.Is(err, durable.ErrReadOnly) {
			t.Errorf("%s on a read-only store returned %v, want ErrReadOnly", what, err)
		}
	}
	if st := s.Stats(); !st.ReadOnly {
		t.Errorf("stats: %+v", st)
	}
}

func TestReadOnlyNeedsAStore(t *testing.T) {
	o := small(t.TempDir())
	o.ReadOnly = true
	if _, err := Open(o); err == nil {
		t.Fatal("a missing store was opened read-only")
	}
}

func TestANewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, small(dir), hooks{})
	stream := s.StreamID()
	if len(stream) != 32 {
		t.Fatalf("the stream id is %q", stream)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openTest(t, small(dir), hooks{})
	if s.StreamID() != stream {
		t.Fatal("the stream id changed after a restart")
	}
	if err := s.writeMeta(meta{format: Format + 6, stream: stream}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	_, err := Open(small(dir))
	if !errors.Is(err, ErrNewerFormat) || !strings.Contains(err.Error(), fmt.Sprint("format ", Format+6)) || !strings.Contains(err.Error(), fmt.Sprint("up to ", Format)) {
		t.Fatalf("opening a newer format returned %v, want ErrNewerFormat", err)
	}
}

// The store becomes read-only, and writable again, with hysteresis.
func TestTheStoreIsReadOnlyWhileTheDiskIsFull(t *testing.T) {
	free := make(chan uint64, 1)
	free <- 5000
	o := small(t.TempDir())
	o.MinFreeBytes = 1000
	o.SpaceInterval = time.Hour // no periodic checks, because the test checks the space itself
	o.FreeBytes = func() (uint64, error) { return <-free, nil }
	s := openTest(t, o, hooks{})
	add(t, s, "codelab/1", 1, "a")
	for _, c := range []struct {
		free     uint64
		readOnly bool
	}{{1000, false}, {999, true}, {1100, true}, {1249, true}, {1250, false}, {1000, false}, {500, true}, {499, true}, {0, true}} {
		free <- c.free
		if err := s.space.check(); err != nil {
			t.Fatal(err)
		}
		err := s.Append(nil, nil)
		if errors.Is(err, durable.ErrReadOnly) != c.readOnly {
			t.Fatalf("with %d bytes free: got %v", c.free, err)
		}
		// Urgent writes, which free space, continue while there is a reserve.
		urgent := durable.Commit(s, durable.MakeUrgent([]durable.Row{row("t", "k")}))
		l := openLog(t, s, "codelab/1")
		done := make(chan error, 1)
		batch := l.Append(durable.Batch{First: l.Tail() + 1, Records: durable.Records(nil).Add([]byte("u")), Urgent: true, Done: func(err error) { done <- err }})
		if batch == nil {
			batch = <-done
		}
		for _, err := range []error{urgent, batch} {
			if errors.Is(err, durable.ErrReadOnly) != (c.free < 500) || err != nil && !errors.Is(err, durable.ErrReadOnly) {
				t.Fatalf("with %d bytes free, an urgent append returned %v", c.free, err)
			}
		}
		if st := s.Stats(); st.ReadOnly != c.readOnly || st.FreeBytes != c.free || st.Failed != nil {
			t.Fatalf("with %d bytes free: stats %+v", c.free, st)
		}
	}
	// A full store can still be read and emptied.
	l := openLog(t, s, "codelab/1")
	if got := replayed(t, l); !strings.HasPrefix(got, "1 a.2 u.") {
		t.Fatalf("replayed %q", got)
	}
	if err := s.Purge("codelab/1"); err != nil {
		t.Fatal(err)
	}
}

func TestSpaceIsWatched(t *testing.T) {
	looked := make(chan struct{}, 100)
	o := small(t.TempDir())
	o.SpaceInterval = time.Millisecond
	o.FreeBytes = func() (uint64, error) {
		select {
		case looked <- struct{}{}:
		default:
		}
		return 1 << 40, nil
	}
	openTest(t, o, hooks{})
	for range 3 {
		<-looked
	}
}

// After a failed write the state of the disk is unknown, so the store stops writing. In an earlier
// version, the store showed readers a batch whose sync had failed.
func TestAFailedDiskStopsWriting(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	l := openLog(t, s, "codelab/1")
	add(t, s, "codelab/2", 1, "a")
	s.breakDown(faultWrite, errors.New("input/output error"))
	if err := l.Append(durable.Batch{First: 1, Records: one("b")}); !errors.Is(err, durable.ErrReadOnly) {
		t.Fatalf("append: got %v, want ErrReadOnly", err)
	}
	if _, err := s.Open("codelab/2"); !errors.Is(err, durable.ErrReadOnly) {
		t.Fatalf("open: got %v, want ErrReadOnly", err)
	}
	if st := s.Stats(); !st.ReadOnly || st.Failed == nil {
		t.Fatalf("stats %+v", st)
	}
}

// Badger only logs failures of its own goroutines. An unknown log line counts as a failure; some
// known lines are harmless.
func TestAFailureLoggedByBadgerStopsWriting(t *testing.T) {
	for text, ends := range map[string]bool{
		"Error while curlf sync: %v\n":          true,
		"while deleting file: x, err: %v":       true,
		"a line of a later version: %v":         true,
		"writeRequests: %v":                     false, // the commit also returns this error
		"Block cache life expectancy is %v":     true,
		"Cache life expectancy (in seconds) %v": false,
	} {
		s := openTest(t, small(t.TempDir()), hooks{})
		l := openLog(t, s, "codelab/1")
		if strings.HasPrefix(text, "Cache") {
			s.bridge.Warningf(text, errors.New("input/output error"))
		} else {
			s.bridge.Errorf(text, errors.New("input/output error"))
		}
		err := commit(l, 1, "b")
		st := s.Stats()
		if errors.Is(err, durable.ErrReadOnly) != ends || st.ReadOnly != ends || (st.Faults.Background == 1) != ends {
			t.Errorf("%q: committing returned %v, stats %+v", text, err, st)
		}
	}
}

// damage flips one bit of the value stored under a key.
func damage(t *testing.T, s *Store, key []byte) {
	t.Helper()
	err := s.db.Update(func(txn *badgerdb.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		value, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		value[len(value)/2] ^= 0x10
		return txn.Set(bytes.Clone(key), value)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamageAffectsOnlyItsOwner(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	large := strings.Repeat("s", 2<<20)
	add(t, s, "middle", 1, "a")
	add(t, s, "middle", 2, "b")
	add(t, s, "middle", 3, "c")
	snap(t, s, "middle", 3, "state")
	add(t, s, "tail", 1, "a")
	add(t, s, "small", 1, "a")
	snap(t, s, "small", 1, "state")
	add(t, s, "large", 1, "a")
	snap(t, s, "large", 1, large)
	add(t, s, "sound", 1, "a")
	putRow(t, s, "t", "damaged", "v")
	putRow(t, s, "t", "sound", "v")

	middle, smallLog, largeLog := openLog(t, s, "middle"), openLog(t, s, "small"), openLog(t, s, "large")
	damage(t, s, layout.ChunkKey("middle", 2))
	damage(t, s, layout.ChunkKey("tail", 1))
	damage(t, s, layout.HeadKey("small"))
	damage(t, s, layout.PartKey("large", 1, 2))
	damage(t, s, layout.AppendRowKey(nil, "t", []byte("damaged")))

	_, tailErr := s.Open("tail")
	_, smallErr := journaltest.ReadWhole(smallLog, 0)
	_, largeErr := journaltest.ReadWhole(largeLog, 0)
	_, rowErr := s.Get("t", []byte("damaged"))
	for what, err := range map[string]error{
		"replay":  middle.Replay(0, func(uint64, []byte) error { return nil }),
		"rewrite": middle.Rewrite(2, func(uint64, []byte) ([]byte, bool, error) { return nil, false, nil }),
		"open":    tailErr,
		"head":    smallErr,
		"part":    largeErr,
		"row":     rowErr,
		"scan":    s.Scan(durable.Scan{Table: "t"}, func(_, _ []byte) bool { return true }),
	} {
		if !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("%s of damaged data returned %v, want ErrCorrupt", what, err)
		}
	}

	if got := replayed(t, openLog(t, s, "sound")); got != "1 a." {
		t.Errorf("the undamaged log: %q", got)
	}
	if v, err := s.Get("t", []byte("sound")); err != nil || string(v) != "v" {
		t.Errorf("the undamaged row: %q, %v", v, err)
	}
	for _, actor := range []string{"middle", "tail", "small", "large"} {
		if err := s.Purge(actor); err != nil {
			t.Errorf("purge %s: %v", actor, err)
		}
	}
}

// A value under a wrong key, and a missing chunk, also count as damage.
func TestLostAndMisplacedChunksAreDetected(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	for _, actor := range []string{"hole", "beginning", "swapped"} {
		for seq := uint64(1); seq <= 3; seq++ {
			add(t, s, actor, seq, fmt.Sprint(seq))
		}
	}
	err := s.db.Update(func(txn *badgerdb.Txn) error {
		item, err := txn.Get(layout.ChunkKey("swapped", 1))
		if err != nil {
			return err
		}
		value, err := item.ValueCopy(nil)
		return errors.Join(err,
			txn.Set(layout.ChunkKey("swapped", 2), value),
			txn.Delete(layout.ChunkKey("hole", 2)),
			txn.Delete(layout.ChunkKey("beginning", 1)))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, actor := range []string{"hole", "beginning", "swapped"} {
		err := openLog(t, s, actor).Replay(0, func(uint64, []byte) error { return nil })
		if !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("replaying %s returned %v, want ErrCorrupt", actor, err)
		}
	}
}

// Bits that flip in the files themselves, below Badger, are detected.
func TestFlippedBytesInFilesAreDetected(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, small(dir), hooks{})
	marker := strings.Repeat("marker of the damaged log ", 8)
	add(t, s, "damaged", 1, marker)
	add(t, s, "sound", 1, "a")
	if err := s.Close(); err != nil { // writes tables
		t.Fatal(err)
	}
	tables, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	flipped := 0
	for _, f := range tables {
		path := dir + "/" + f.Name()
		content, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(path, ".sst") {
			continue
		}
		if at := bytes.Index(content, []byte(marker)); at >= 0 {
			content[at+100] ^= 1
			flipped++
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if flipped == 0 {
		t.Fatal("found no table with the record")
	}
	if _, err := Open(small(dir)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), ".sst: a block") {
		t.Errorf("opening returned %v, want ErrDamaged", err)
	}
}

// A truncated table is refused with an error that names it. In an earlier version, Badger ended the
// process on its own goroutine, with a page of stack trace and no advice.
func TestATruncatedTableIsRefused(t *testing.T) {
	whole := t.TempDir()
	s := openTest(t, small(whole), hooks{})
	add(t, s, "log", 1, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(whole, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	name := filepath.Base(tables[0])
	for what, edit := range map[string]func(data []byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"a few bytes":   func(data []byte) []byte { return data[:3] },
		"half of it":    func(data []byte) []byte { return data[:len(data)/2] },
		"all but one":   func(data []byte) []byte { return data[:len(data)-1] },
		"zeros instead": func(data []byte) []byte { clear(data[len(data)/2:]); return data },
		"all zeros":     func(data []byte) []byte { clear(data); return data },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, edit(data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Open(small(dir))
			if !errors.Is(err, durable.ErrCorrupt) || !strings.Contains(err.Error(), name) {
				t.Errorf("opening returned %v, want ErrCorrupt", err)
			}
		})
	}
	// A crash can leave a half-written file. The MANIFEST does not contain such a file, so it does
	// not count as damage.
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "000999.sst"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, small(dir), hooks{})
	if got := replayed(t, openLog(t, s, "log")); got != "1 a." {
		t.Errorf("the log after a crash: %q", got)
	}
}

// A key without the name of an actor does not hide the actors after it.
func TestAnOddKeyDoesNotHideActors(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	add(t, s, "a", 1, "x")
	add(t, s, "z", 1, "x")
	if err := s.db.Update(func(txn *badgerdb.Txn) error { return txn.Set([]byte("jm"), []byte("odd")) }); err != nil {
		t.Fatal(err)
	}
	var actors []string
	err := s.Actors("", func(actor string) bool { actors = append(actors, actor); return true })
	if err != nil || !slices.Equal(actors, []string{"a", "z"}) {
		t.Errorf("the actors are %q, %v; want a and z", actors, err)
	}
}

// A file system without locks is not reported as a folder in use.
func TestOnlyALockOfAnotherProcessMeansThatTheFolderIsInUse(t *testing.T) {
	for cause, inUse := range map[error]bool{unix.EWOULDBLOCK: true, unix.ENOLCK: false, unix.ENOTSUP: false} {
		if err := lockError("d", cause); errors.Is(err, ErrLocked) != inUse {
			t.Errorf("for %v the error is %v", cause, err)
		}
	}
}
