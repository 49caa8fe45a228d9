package shares

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/token/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var discard = slog.New(slog.DiscardHandler)

// times is a clock that can be set and an uptime that only increases.
type times struct {
	mu     sync.Mutex
	clock  time.Time
	uptime time.Duration
}

func (t *times) now() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clock
}

func (t *times) up() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.uptime
}

// pass advances both the clock and the uptime. set only changes the clock.
func (t *times) pass(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock, t.uptime = t.clock.Add(d), t.uptime+d
}

func (t *times) set(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock = at
}

// stage is a store on a folder.
type stage struct {
	t   *testing.T
	dir string
	*times
	*Store
	log bytes.Buffer
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, dir: filepath.Join(t.TempDir(), "secrets"), times: &times{clock: noon}}
	s.open()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *stage) open() {
	s.t.Helper()
	store, err := Open(Options{
		Dir: s.dir, Longest: 6 * time.Hour, Now: s.now, Uptime: s.up, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Store = store
}

func (s *stage) restart() {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

func (s *stage) until(d time.Duration) *seal.Share {
	s.t.Helper()
	share, err := s.Until(s.now().Add(d))
	if err != nil {
		s.t.Fatal(err)
	}
	return share
}

func (s *stage) files() []string {
	s.t.Helper()
	names, err := folder(s.dir).List()
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

// over reports whether a share can no longer seal or open anything.
func over(t *testing.T, share *seal.Share) bool {
	t.Helper()
	ring, err := seal.NewRing(seal.Production, "s", []seal.Key{{Version: 1, Material: make([]byte, seal.MaterialBytes)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ring.Newest().SharedOpener("t", share)
	return errors.Is(err, seal.ErrOver)
}

func TestTokensOfOneQuarterHourUseOneShare(t *testing.T) {
	s := newStage(t)
	a, b, c := s.until(time.Minute), s.until(15*time.Minute), s.until(15*time.Minute+1)
	if a != b || a == c || !a.Ends().Equal(noon.Add(15*time.Minute)) || !c.Ends().Equal(noon.Add(30*time.Minute)) {
		t.Errorf("the shares end at %v, %v and %v", a.Ends(), b.Ends(), c.Ends())
	}
	names := s.files()
	if len(names) != 2 || names[0] != "tokens-until-20260301T121500Z-"+a.ID().String() {
		t.Errorf("the files are %v", names)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != seal.ShareBytes {
			t.Errorf("the file is %v, %v", info, err)
		}
	}
	if s.found(a.ID()) != a || s.found(c.ID()) != c || s.found(seal.ShareID{}) != nil {
		t.Error("the wrong share is found")
	}
	if _, err := s.Until(noon); !errors.Is(err, seal.ErrOver) {
		t.Errorf("a share for a time that is over: %v, want ErrOver", err)
	}
}

// TestASharesFileInItsOriginalFormIsRead opens a file in the original form. If the names of files
// changed, or if ids were derived from the contents differently, every token would expire at the
// next start.
func TestASharesFileInItsOriginalFormIsRead(t *testing.T) {
	s := newStage(t)
	path := filepath.Join(s.dir, "tokens-until-20260301T121500Z-03000239a7d36350")
	if err := os.WriteFile(path, []byte("a share as it lies in the folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if share := s.until(time.Minute); share.ID().String() != "03000239a7d36350" || len(s.files()) != 1 {
		t.Errorf("the files are %v", s.files())
	}
}

func TestConcurrentCallersGetOneShare(t *testing.T) {
	s := newStage(t)
	got := make([]*seal.Share, 64)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = s.Until(noon.Add(time.Minute)) })
	}
	wg.Wait()
	for _, x := range got {
		if x == nil || x != got[0] {
			t.Fatal("concurrent callers got different shares")
		}
	}
	if n := len(s.files()); n != 1 {
		t.Errorf("%d files, want 1", n)
	}
}

func TestRestartKeepsLiveSharesAndDropsExpired(t *testing.T) {
	s := newStage(t)
	soon, later := s.until(time.Minute).ID(), s.until(time.Hour).ID()
	if err := os.WriteFile(filepath.Join(s.dir, "token-keys.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	inHand := s.until(time.Minute)
	s.restart()
	if !over(t, inHand) {
		t.Error("a share remains in memory after Close")
	}
	if s.found(soon) == nil || s.found(later) == nil || s.until(time.Minute).ID() != soon {
		t.Error("the shares are not found after a restart")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.pass(15 * time.Minute)
	s.open()
	if s.found(soon) != nil || s.found(later) == nil {
		t.Error("an expired share is found, or a live share is lost")
	}
	if names := s.files(); len(names) != 2 {
		t.Errorf("the files are %v, want 2", names)
	}
}

// At the end of a quarter its share is destroyed completely: in memory, even for current holders,
// and on disk.
func TestShareIsDestroyedAfterItsQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now() // midnight, by the test bubble's clock
		dir := t.TempDir()
		s, err := Open(Options{Dir: dir, Longest: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		share, err := s.Until(began.Add(7 * time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(15*time.Minute - time.Nanosecond)
		synctest.Wait()
		if over(t, share) {
			t.Error("the share expired before its end")
		}
		if names, _ := folder(dir).List(); len(names) != 1 {
			t.Errorf("before its end, the files are %v", names)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !over(t, share) {
			t.Error("the share did not expire at its end")
		}
		if names, _ := folder(dir).List(); len(names) != 0 {
			t.Errorf("after its end, the files are %v", names)
		}
	})
}

func TestSettingTheClockBackProlongsNoShare(t *testing.T) {
	s := newStage(t)
	first := s.until(15 * time.Minute)
	s.pass(time.Minute)
	s.set(noon.Add(-10 * time.Minute))
	// The first share ends too early for this duration.
	second := s.until(24 * time.Minute)
	if second == first || !second.Ends().Equal(first.Ends()) {
		t.Errorf("the shares end at %v and %v", first.Ends(), second.Ends())
	}
	if s.found(first.ID()) == nil {
		t.Error("the first share expired too early")
	}
	s.pass(15 * time.Minute)
	if s.sweep(); s.found(first.ID()) != nil || s.found(second.ID()) == nil || len(s.files()) != 1 {
		t.Errorf("at %v, the first share still exists, or the second is lost", s.now())
	}
	if s.until(9*time.Minute) != second {
		t.Error("the end of the first share ended the second")
	}
	// The process starts with a clock that is years behind.
	s.set(noon.AddDate(-20, 0, 0))
	s.restart()
	if s.found(second.ID()) == nil {
		t.Error("the second share is not found after a restart")
	}
	s.pass(6*time.Hour + 30*time.Minute)
	if s.sweep(); s.found(second.ID()) != nil || len(s.files()) != 0 {
		t.Error("the second share exists longer than every token")
	}
}

func TestSettingTheClockForwardEndsExpiredShares(t *testing.T) {
	s := newStage(t)
	first := s.until(time.Minute)
	s.set(noon.Add(15 * time.Minute))
	if s.found(first.ID()) != nil {
		t.Error("an expired share is found")
	}
	s.sweep()
	s.set(noon)
	if next := s.until(time.Minute); next.ID() == first.ID() || s.found(first.ID()) != nil {
		t.Error("an expired share is used again")
	}
}

func TestDamagedFilesOfSharesAreNotUsed(t *testing.T) {
	s := newStage(t)
	damaged, cut, erased := s.until(time.Minute), s.until(time.Hour), s.until(2*time.Hour)
	change := func(x *seal.Share, fn func([]byte) []byte) {
		path := filepath.Join(s.dir, fileName(x))
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, fn(b), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(damaged, func(b []byte) []byte { b[7] ^= 1; return b })
	change(cut, func(b []byte) []byte { return b[:31] })
	change(erased, func(b []byte) []byte { return make([]byte, len(b)) })
	s.restart()
	for _, x := range []*seal.Share{damaged, cut, erased} {
		if s.found(x.ID()) != nil {
			t.Errorf("the damaged share until %v is found", x.Ends())
		}
	}
	if s.until(time.Minute).ID() == damaged.ID() || strings.Count(s.log.String(), "damaged") != 1 {
		t.Errorf("the log is %s", s.log.String())
	}
	if names := s.files(); len(names) != 2 {
		t.Errorf("the files are %v, want 2", names)
	}
	s.pass(15 * time.Minute)
	if s.sweep(); len(s.files()) != 0 {
		t.Error("the damaged share exists after its quarter")
	}
	// A file that others can read prevents the start.
	path := filepath.Join(s.dir, fileName(s.until(time.Minute)))
	if err := errors.Join(os.Chmod(path, 0o640), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: s.dir, Longest: time.Hour, Now: s.now}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	s.open2(path)
}

// open2 corrects the mode of a file and opens the store again.
func (s *stage) open2(path string) {
	if err := os.Chmod(path, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

// failing is a disk with injected failures.
type failing struct {
	Disk
	create, erase, sync error
	creates             int
}

func (d *failing) Open(name string, flag int) (File, error) {
	if flag == os.O_WRONLY && d.erase != nil {
		return nil, d.erase
	}
	f, err := d.Disk.Open(name, flag)
	if flag&os.O_CREATE != 0 {
		if d.creates++; d.create != nil && err == nil {
			_, _ = f.Write([]byte("half"))
			return nil, errors.Join(d.create, f.Close())
		}
	}
	return f, err
}

func (d *failing) Sync() error { return errors.Join(d.sync, d.Disk.Sync()) }

func TestFailedWritesOfSharesAreRetried(t *testing.T) {
	times, dir := &times{clock: noon}, folder(t.TempDir())
	d := &failing{Disk: dir}
	s, err := Open(Options{Longest: time.Hour, Now: times.now, Uptime: times.up, Disk: d})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full := errors.New("disk full")
	for _, fail := range []*error{&d.create, &d.sync} {
		*fail = full
		before := d.creates
		for range 10 { // the store makes one attempt per second, whatever the number of callers
			if _, err := s.Until(noon.Add(time.Minute)); !errors.Is(err, full) {
				t.Fatalf("Until returned %v", err)
			}
		}
		if d.creates != before+1 {
			t.Errorf("%d attempts, want 1", d.creates-before)
		}
		*fail = nil
		times.pass(time.Second)
		s.sweep()
		if names, _ := dir.List(); len(names) != 0 {
			t.Errorf("files left behind: %v", names)
		}
	}
	share, err := s.Until(noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	times.pass(15 * time.Minute)
	d.erase = errors.New("I/O error")
	if s.sweep(); s.found(share.ID()) != nil {
		t.Error("a share whose file cannot be destroyed is still in use")
	}
	if names, _ := dir.List(); len(names) != 1 {
		t.Errorf("the files are %v, want 1", names)
	}
	d.erase = nil
	if s.sweep(); len(s.doomed) != 0 {
		t.Errorf("the shares still to be destroyed are %v", s.doomed)
	}
	if names, _ := dir.List(); len(names) != 0 {
		t.Errorf("the destruction was not retried: %v", names)
	}
	s.doomed["tokens-until-20260301T121500Z-0123456789abcdef"] = true // removed by someone else
	if s.sweep(); len(s.doomed) != 0 {
		t.Errorf("the shares still to be destroyed are %v", s.doomed)
	}
}

// found calls Find on a node that has all shares.
func (s *Store) found(id seal.ShareID) *seal.Share {
	share, err := s.Find(id)
	if err != nil {
		panic(err)
	}
	return share
}
