package nodes

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"atelier/actors/codelab"
	"atelier/persistence/shares"
)

// brittle is a folder on a disk that fails on demand.
type brittle struct {
	*Folder
	mu   sync.Mutex
	err  error // result of each attempt
	left uint64
}

func newBrittle() *brittle {
	b := &brittle{left: 1 << 30}
	b.Folder = &Folder{
		try:     func() error { b.mu.Lock(); defer b.mu.Unlock(); return b.err },
		free:    func() (uint64, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.left, nil },
		minFree: 1 << 20, log: slog.New(slog.DiscardHandler), pause: time.Millisecond, timeout: time.Minute, wake: make(chan struct{}, 1),
	}
	return b
}

func (b *brittle) set(err error, left uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.left = err, left
}

func TestAFolderReportsWhyItCannotBeWritten(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/some/where", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err    error
		left   uint64
		reason string
	}{
		{nil, 1 << 30, ""},
		{nil, 1 << 19, DiskFull},
		{full, 1 << 30, DiskFull},
		{errors.Join(errors.New("keep"), full), 1 << 30, DiskFull},
		{&fs.PathError{Op: "sync", Path: "/some/where", Err: syscall.EIO}, 1 << 30, Disk},
		{&fs.PathError{Op: "open", Path: "/some/where", Err: syscall.EROFS}, 1 << 30, Disk},
	} {
		b := newBrittle()
		b.set(c.err, c.left)
		well := b.check()
		got := b.Trouble()
		switch {
		case well != (c.reason == ""), (got == nil) != well:
			t.Errorf("%v: the folder is writable: %v, its trouble is %v", c.err, well, got)
		case got != nil && (got.Reason != c.reason || got.Text == "" || strings.Contains(got.Text, "/some/where")):
			t.Errorf("%v: the trouble is %+v", c.err, got)
		}
	}
	b := newBrittle()
	b.timeout = time.Millisecond
	hangs := make(chan struct{})
	defer close(hangs)
	var tries atomic.Int32
	b.try = func() error { tries.Add(1); <-hangs; return nil }
	for range 5 {
		if b.check() || b.Trouble().Reason != Disk {
			t.Errorf("the trouble of a hanging disk is %v", b.Trouble())
		}
	}
	if n := tries.Load(); n > 1 {
		t.Errorf("%d tries of a hanging disk are in progress, want 1", n)
	}
	var none *Folder
	if none.Failed(full); none.Trouble() != nil {
		t.Error("a server without a folder is in trouble")
	}
}

// The folder stays in trouble until every OnMend function has succeeded, because the node must
// first fetch the data that it refused meanwhile.
func TestAFolderIsWritableAgainOnceEverythingIsFetched(t *testing.T) {
	b := newBrittle()
	ctx, stop := context.WithCancel(t.Context())
	var mended int
	failing := make(chan bool, 100)
	b.OnMend(func(context.Context) error {
		if mended++; mended < 3 {
			failing <- b.Trouble() != nil
			return errors.New("another node does not answer")
		}
		return nil
	})
	done := make(chan struct{})
	go func() { defer close(done); b.Watch(ctx) }()
	b.Failed(syscall.ENOSPC)
	if b.Trouble() == nil {
		t.Fatal("the folder is not in trouble immediately")
	}
	for range 2 {
		if !<-failing {
			t.Error("the trouble ended before everything was fetched")
		}
	}
	for b.Trouble() != nil {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-done
	if mended != 3 {
		t.Errorf("mended %d times, want 3", mended)
	}
}

func TestTryWritingLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := tryWriting(dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
	if err := tryWriting(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A node that cannot store a secret is not one of its keepers, and lacks secrets until a fetch
// succeeds.
func TestNodeThatCannotStoreASecretIsExcluded(t *testing.T) {
	s := newSearching(t)
	refuses, makes := s.exchanges[0], s.exchanges[1]
	full := func(i int, err error) {
		s.kept[i].mu.Lock()
		defer s.kept[i].mu.Unlock()
		s.kept[i].fail = err
	}
	full(0, shares.ErrDisk)
	keepers, err := makes.Spread(shares.Ballot{ID: "a"})
	slices.Sort(keepers)
	if err != nil || !slices.Equal(keepers, s.all()[1:]) {
		t.Errorf("the keepers are %v, %v", keepers, err)
	}
	if makes.Lacks() || !refuses.Lacks() {
		t.Errorf("lacks a secret: the maker %v, the refusing node %v", makes.Lacks(), refuses.Lacks())
	}
	full(2, shares.ErrDisk)
	if keepers, err := makes.Spread(shares.Ballot{ID: "b"}); !errors.Is(err, codelab.ErrTooFewKeepers) {
		t.Errorf("with one possible keeper of three, Spread returned %v, %v, want ErrTooFewKeepers", keepers, err)
	}
	full(0, nil)
	if err := refuses.fetch(0); err != nil || refuses.Lacks() {
		t.Errorf("after the disk works again, fetching returned %v, or the node still lacks secrets", err)
	}
	// A living node that itself lacks secrets is not enough, because the missing ones can be on the
	// node that is away.
	refuses.lack()
	makes.lack()
	s.exchanges[2].lack()
	s.away(2)
	if err := refuses.fetch(0); !errors.Is(err, errNotWhole) || !refuses.Lacks() {
		t.Errorf("from a node that itself lacks secrets, fetching returned %v, want errNotWhole", err)
	}
	// No living node can provide the missing secrets.
	s.away(1)
	s.away(2)
	if err := refuses.fetch(0); err == nil || !refuses.Lacks() {
		t.Errorf("with no other node alive, fetching returned %v, want an error", err)
	}
	if problem := refuses.Lacking(); !strings.Contains(problem, "start "+s.all()[1]) {
		t.Errorf("the node lacks %q", problem)
	}
	refuses.lasts = time.Hour
	if err := refuses.fetch(0); !errors.Is(err, errNotWhole) {
		t.Errorf("before the missing shares have expired, fetching returned %v, want errNotWhole", err)
	}
	// When every share that could be missing has expired, the node lacks nothing.
	refuses.since.Add(-int64(time.Hour))
	if err := refuses.fetch(0); err != nil || refuses.Lacks() || refuses.Lacking() != "" {
		t.Errorf("after the missing shares have expired, fetching returned %v, and the node lacks %q", err, refuses.Lacking())
	}
	refuses.lack()
	if err := refuses.fetch(0); !errors.Is(err, errNotWhole) || !refuses.Lacks() {
		t.Errorf("when the node lacks secrets again, fetching returned %v, want errNotWhole", err)
	}
	s.forget(1)
	s.forget(2)
	if err := refuses.fetch(0); err != nil || refuses.Lacks() {
		t.Errorf("after the other nodes were forgotten, fetching returned %v, or the node still lacks secrets", err)
	}
}

// A node in trouble gives its actors to the other nodes, if there are any.
func TestANodeInTroubleGivesItsActorsToOthers(t *testing.T) {
	x := newTrio(t)
	n, b := x.nodes[0], newBrittle()
	n.folder = b.Folder
	d := &leaving{owns: 2}
	w := wanted{drained: map[string]bool{}, moves: map[string]string{"c": n.Store.Node()}}
	others := []string{"b"}
	if n.obey(w, others, d) || d.drains != 0 || d.moved != 1 {
		t.Errorf("without trouble, the node gave actors away or left a move out: %+v", d)
	}
	b.Failed(syscall.ENOSPC)
	if n.obey(w, nil, d) || d.drains != 0 {
		t.Errorf("in trouble without other nodes, the node stopped serving: %+v", d)
	}
	if n.obey(w, others, d) || d.drains != 1 || d.owns != 1 || d.moved != 1 {
		t.Errorf("in trouble, the node did not begin to give its actors away: %+v", d)
	}
	n.obey(w, others, d)
	if !n.obey(w, others, d) || d.drains != 1 || d.owns != 0 || n.Drained() {
		t.Errorf("after giving everything away, the node still serves: %+v", d)
	}
	b.trouble = nil
	if n.obey(w, others, d) || d.undrains != 1 {
		t.Errorf("after the trouble, the node does not serve again: %+v", d)
	}
}

// leaving is a server that gives its codelabs away.
type leaving struct {
	Duties
	owns, drains, undrains, moved int
}

func (l *leaving) Drain()              { l.drains++ }
func (l *leaving) Undrain()            { l.undrains++ }
func (l *leaving) Move(string, string) { l.moved++ }
func (l *leaving) GiveAll([]string) int {
	n := l.owns
	l.owns = max(l.owns-1, 0)
	return n
}
