package badger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	_ "unsafe" // for linkname

	"atelier/actors/durable"
)

// syncManifest is the variable of Badger with the function that syncs its MANIFEST. Tests replace
// it to make the sync fail.
//
//go:linkname syncManifest github.com/dgraph-io/badger/v4.syncFunc
var syncManifest func(*os.File) error

// failManifest makes syncs of the MANIFEST fail until the test ends or the returned flag is unset.
func failManifest(t *testing.T) *atomic.Bool {
	failing := new(atomic.Bool)
	failing.Store(true)
	whole := syncManifest
	syncManifest = func(f *os.File) error {
		if failing.Load() {
			return errors.New("input/output error")
		}
		return whole(f)
	}
	t.Cleanup(func() { syncManifest = whole })
	return failing
}

// brokenLine is a logger that signals when the store stops writing.
type brokenLine struct {
	slog.Handler
	broken chan struct{}
}

func (b brokenLine) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "stopped writing") {
		close(b.broken)
	}
	return nil
}

func (brokenLine) Enabled(context.Context, slog.Level) bool { return true }

func untilBroken(o Options) (Options, chan struct{}) {
	broken := make(chan struct{})
	o.Logger = slog.New(brokenLine{slog.DiscardHandler, broken})
	return o, broken
}

// After a failed sync of the MANIFEST the store must stop. In an earlier version, the store
// continued to acknowledge writes, and Badger deleted the table that the MANIFEST already
// contained. Every later start was then refused.
func TestAFailedSyncOfTheManifestStopsWriting(t *testing.T) {
	content := strings.Repeat("v", 100<<10)
	put := func(s *Store, from, to int) error {
		for i := from; i < to; i++ {
			if err := durable.Commit(s, []durable.Row{{Table: "t", Key: fmt.Append(nil, i), Value: []byte(content)}}); err != nil {
				return err
			}
		}
		return nil
	}
	check := func(t *testing.T, dir string, n int) {
		t.Helper()
		s := openTest(t, small(dir), hooks{})
		for i := range n {
			if v, err := s.Get("t", fmt.Append(nil, i)); err != nil || string(v) != content {
				t.Fatalf("row %d of %d: %v", i, n, err)
			}
		}
	}
	t.Run("while flushing a memtable", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		o, broken := untilBroken(small(dir))
		failing := new(atomic.Bool)
		s := openTest(t, o, hooks{})
		failing = failManifest(t)
		acked := 0
		for ; put(s, acked, acked+1) == nil; acked++ {
		}
		<-broken
		if err := put(s, 0, 1); !errors.Is(err, durable.ErrReadOnly) {
			t.Errorf("committing after the failure returned %v, want ErrReadOnly", err)
		}
		if st := s.Stats(); !st.ReadOnly || st.Failed == nil || st.Faults.Background == 0 {
			t.Errorf("stats are %+v", st)
		}
		killed := filepath.Join(t.TempDir(), "store")
		copyStore(t, dir, killed)
		failing.Store(false)
		check(t, killed, acked)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		check(t, dir, acked)
	})
	t.Run("during a compaction", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		n := 0
		for range 6 { // tables on level 0, of which five are compacted later
			s, err := open(small(dir), hooks{uncompacted: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := put(s, n, n+3); err != nil {
				t.Fatal(err)
			}
			n += 3
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		failing := failManifest(t)
		o, broken := untilBroken(small(dir))
		s := openTest(t, o, hooks{})
		<-broken
		killed := filepath.Join(t.TempDir(), "store")
		copyStore(t, dir, killed)
		failing.Store(false)
		check(t, killed, n)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		check(t, dir, n)
	})
}

// Badger reads through memory maps. In an earlier version, an unreadable page ended the process
// with SIGBUS. It must cause an error instead.
func TestUnreadablePagesCauseAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		putRow(t, s, "t", fmt.Sprint(i), strings.Repeat("v", 10<<10))
	}
	add(t, s, "codelab/1", 1, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, small(dir), hooks{})
	tables, err := filepath.Glob(filepath.Join(dir, "*"+tableExt))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(tables[0], 0); err != nil {
		t.Fatal(err)
	}
	_, rowErr := s.Get("t", []byte("50"))
	_, openErr := s.Open("codelab/1")
	for what, err := range map[string]error{
		"row":    rowErr,
		"open":   openErr,
		"scan":   s.Scan(durable.Scan{Table: "t"}, func(_, _ []byte) bool { return true }),
		"actors": s.Actors("", func(string) bool { return true }),
		"backup": s.Backup(new(strings.Builder)),
	} {
		if !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("%s returned %v, want ErrCorrupt", what, err)
		}
	}
	if st := s.Stats(); st.Faults.Read < 4 || st.Failed != nil {
		t.Errorf("stats are %+v", st)
	}
	// Other data can still be read, and new data written.
	putRow(t, s, "t", "new", "v")
	if v, err := s.Get("t", []byte("new")); err != nil || string(v) != "v" {
		t.Errorf("reading a new row: %q, %v", v, err)
	}
	if err := os.WriteFile(tables[0], whole, 0o600); err != nil { // Close reads the table
		t.Fatal(err)
	}
}

// Panics of callers are not turned into errors.
func TestPanicsOfCallersAreNotTurnedIntoErrors(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	putRow(t, s, "t", "k", "v")
	defer func() {
		if r := recover(); r != "of a caller" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = s.Scan(durable.Scan{Table: "t"}, func(_, _ []byte) bool { panic("of a caller") })
}

// If Badger cannot create a log, it has no memtable. In an earlier version, every reader then
// crashed with a nil pointer.
func TestALogThatCannotBeCreatedStopsWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openTest(t, small(dir), hooks{})
	putRow(t, s, "t", "first", "v")
	_, newest, err := s.presentLogs()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, logName(newest+1)), 0o700); err != nil {
		t.Fatal(err)
	}
	content, kept := []byte(strings.Repeat("v", 500<<10)), 0
	l, seq := openLog(t, s, "codelab/1"), uint64(1)
	append1 := func(text string, rows ...durable.Row) <-chan error {
		done := make(chan error, 1)
		if err := l.Append(durable.Batch{First: seq, Records: one(text), Rows: rows, Done: func(err error) { done <- err }}); err != nil {
			t.Fatal(err)
		}
		seq++
		return done
	}
	// Either batch can be the first that needs a new log. Each batch fails or is committed as a
	// whole.
	var err1, err2 error
	for ; err1 == nil && err2 == nil; kept++ {
		first := append1("a", durable.Row{Table: "t", Key: fmt.Append(nil, kept), Value: content})
		second := append1("b")
		err1, err2 = <-first, <-second
	}
	if err1 != nil {
		kept--
	}
	// The error must identify a failure of the store, not of the actor: for the failed batch, the
	// next one, and later calls.
	for what, err := range map[string]error{
		"the batch":          cmp.Or(err1, err2),
		"the batch after it": err2,
		"the next batch":     commit(l, seq, "c"),
		"opening":            func() error { _, err := s.Open("codelab/1"); return err }(),
		"a snapshot":         trySnap(l, 1, "state", 0),
		"a rewriting":        l.Rewrite(0, nil),
		"a purge":            s.Purge("codelab/1"),
		"reading":            l.Replay(0, func(uint64, []byte) error { return nil }),
	} {
		if !errors.Is(err, durable.ErrReadOnly) {
			t.Errorf("%s returned %v, want ErrReadOnly", what, err)
		}
	}
	if _, err := s.Get("t", []byte("first")); !errors.Is(err, durable.ErrReadOnly) || errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("reading returned %v", err)
	}
	if st := s.Stats(); st.Faults.Write == 0 {
		t.Errorf("stats are %+v", st)
	}
	if err := os.Remove(filepath.Join(dir, logName(newest+1))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, small(dir), hooks{})
	for i := range kept {
		if v, err := s.Get("t", fmt.Append(nil, i)); err != nil || len(v) != len(content) {
			t.Fatalf("row %d: %v", i, err)
		}
	}
}

// Badger writes its log through a memory map. In an earlier version, a full disk ended the process
// with SIGBUS there.
func TestALogWithoutSpaceStopsWriting(t *testing.T) {
	full := new(atomic.Bool)
	s := openTest(t, small(t.TempDir()), hooks{reserve: func(path string, bytes int64) error {
		if bytes < small("").MemTableBytes*115/100 {
			t.Errorf("%d bytes were reserved for %s", bytes, path)
		}
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}})
	full.Store(true)
	content, err := []byte(strings.Repeat("v", 500<<10)), error(nil)
	for n := 0; err == nil; n++ {
		if n > 100 {
			t.Fatal("a second log is in use without reserved space")
		}
		err = durable.Commit(s, []durable.Row{{Table: "t", Key: fmt.Append(nil, n), Value: content}})
	}
	if !errors.Is(err, durable.ErrReadOnly) || s.Stats().Faults.Write != 1 {
		t.Errorf("committing returned %v, stats %+v", err, s.Stats())
	}
}

// A crash can leave these files empty. In an earlier version, each of them prevented a start.
func TestEmptyFilesLeftByACrashAreAccepted(t *testing.T) {
	for _, name := range []string{"00009.mem", "000009.vlog", "DISCARD", "KEYREGISTRY", "MANIFEST-REWRITE", "000999.sst"} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, small(filepath.Join(t.TempDir(), "store")), hooks{})
			add(t, s, "codelab/1", 1, "a")
			dir := filepath.Join(t.TempDir(), "store")
			copyStore(t, s.opts.Dir, dir)
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, small(dir), hooks{})
			if got := replayed(t, openLog(t, s, "codelab/1")); got != "1 a." {
				t.Errorf("replayed %q", got)
			}
		})
	}
}

// A store with a value log of an older build is refused, because the contents of the value log
// would be lost.
func TestAValueLogOfAnOlderBuildIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	putRow(t, s, "t", "k", "v")
	killed := filepath.Join(t.TempDir(), "store")
	copyStore(t, dir, killed)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := logFiles(killed, walExt)
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %q, %v", logs, err)
	}
	// A copy of a write-ahead log serves as the value log, because both have the same form.
	if err := copyFile(filepath.Join(killed, logs[0]), filepath.Join(dir, "000001.vlog")); err != nil {
		_ = os.Remove(filepath.Join(dir, "000001.vlog"))
		if err := copyFile(filepath.Join(killed, logs[0]), filepath.Join(dir, "000001.vlog")); err != nil {
			t.Fatal(err)
		}
	}
	o := small(dir)
	for range 2 {
		if _, err := Open(o); !errors.Is(err, errOldValues) {
			t.Errorf("opening returned %v", err)
		}
		o.RecoverDamaged = true
	}
}
