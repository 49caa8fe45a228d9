package contents

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/backup"
)

// clock is a clock whose time a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func openTest(t testing.TB, o Options) (*folder, *clock) {
	t.Helper()
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, running) })
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "contents")
	}
	c := &clock{now: time.Now()}
	o.Now = c.Now
	o.MinFreeBytes = max(o.MinFreeBytes, 1)
	s, err := openFolder(o.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func put(t testing.TB, s files.Blobs, content string) *files.Lease {
	t.Helper()
	l, err := s.Put(strings.NewReader(content), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func content(s files.Blobs, sum files.Sum) (string, error) {
	f, size, err := s.Open(sum)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if int64(len(b)) != size {
		err = errors.Join(err, fmt.Errorf("%d bytes, want %d", len(b), size))
	}
	return string(b), err
}

// left returns all regular files in a folder and its subfolders.
func left(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func anybody(files.Sum) (bool, error) { return true, nil }

func TestEqualContentsAreStoredOnceUnderTheirSum(t *testing.T) {
	s, _ := openTest(t, Options{})
	a, b := put(t, s, "content"), put(t, s, "content")
	if a.Sum != sha256.Sum256([]byte("content")) || a.Sum != b.Sum || a.Size != 7 {
		t.Errorf("the sum is %s, the size %d bytes", a.Sum, a.Size)
	}
	if got, err := content(s, a.Sum); got != "content" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if n := left(t, s.opts.Dir); len(n) != 1 {
		t.Errorf("the files are %q, want one", n)
	}
	if _, err := content(s, files.Sum{}); !errors.Is(err, files.ErrMissing) {
		t.Errorf("a missing content: %v, want ErrMissing", err)
	}
}

func TestFailedUploadsLeaveNothing(t *testing.T) {
	s, _ := openTest(t, Options{})
	full := false
	s.opts.FreeBytes = func() (uint64, error) {
		if full {
			return 0, nil
		}
		return 1 << 40, nil
	}
	filling := func() io.Reader {
		n := 0
		return readerFunc(func(p []byte) (int, error) {
			n += len(p)
			full = n > 4<<20
			return len(p), nil
		})
	}
	for name, try := range map[string]struct {
		r    io.Reader
		want error
	}{
		"too long":    {strings.NewReader(strings.Repeat("x", 1001)), files.ErrTooLarge},
		"interrupted": {io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF)), files.ErrSource},
		"disk full":   {filling(), durable.ErrReadOnly},
	} {
		limit := int64(1000)
		if name == "disk full" {
			limit = 1 << 30
		}
		full = false
		if _, err := s.Put(try.r, limit); !errors.Is(err, try.want) {
			t.Errorf("upload %s: %v", name, err)
		}
		full = false
		if f, _, err := s.Spool(io.MultiReader(try.r, strings.NewReader(strings.Repeat("x", 1001))), 1000); err == nil {
			t.Errorf("%s: spooling succeeded", name)
			_ = f.Close()
		}
	}
	full = true
	if _, err := s.Put(strings.NewReader("x"), 10); !errors.Is(err, durable.ErrReadOnly) {
		t.Errorf("on a full disk: %v, want ErrReadOnly", err)
	}
	if n := left(t, s.opts.Dir); len(n) != 0 {
		t.Errorf("files left behind: %q", n)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestASpooledFileHasNoName(t *testing.T) {
	s, _ := openTest(t, Options{})
	f, size, err := s.Spool(strings.NewReader("content"), 7)
	if err != nil || size != 7 {
		t.Fatalf("the spooled file has %d bytes, %v, want 7", size, err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); string(b) != "content" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	if n := left(t, s.opts.Dir); len(n) != 0 {
		t.Errorf("files left behind: %q", n)
	}
}

// A process that dies leaves files in tmp, which the next process removes. If a crash lost the
// contents of a renamed file, the next put of the same content replaces the file.
func TestPartialFilesOfACrashAreRemoved(t *testing.T) {
	s, _ := openTest(t, Options{})
	l := put(t, s, "whole")
	if err := os.WriteFile(filepath.Join(s.temp(), "put-123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ = openTest(t, Options{Dir: s.opts.Dir})
	if n := left(t, s.temp()); len(n) != 0 {
		t.Errorf("files left behind: %q", n)
	}
	if got, err := content(s, l.Sum); got != "whole" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	// A truncated file is replaced.
	if err := os.Truncate(s.path(l.Sum), 2); err != nil {
		t.Fatal(err)
	}
	put(t, s, "whole")
	if got, err := content(s, l.Sum); got != "whole" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestOnlyUnusedContentsAreRemoved(t *testing.T) {
	s, now := openTest(t, Options{Grace: time.Hour})
	l := put(t, s, "content")
	there := func() bool { _, err := os.Stat(s.path(l.Sum)); return err == nil }
	collect := func(inUse files.InUse) int {
		t.Helper()
		n, err := s.Collect(inUse)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	now.pass(2 * time.Hour)
	if collect(nobody); !there() {
		t.Fatal("removed despite a lease")
	}
	l.Release()
	l.Release()
	if collect(anybody); !there() {
		t.Fatal("the content was removed while in use")
	}
	release, err := s.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if collect(nobody); !there() {
		t.Fatal("the content was removed during a backup")
	}
	release()
	put(t, s, "content").Release()
	if collect(nobody); !there() {
		t.Fatal("the content was removed although it was just stored again")
	}
	now.pass(2 * time.Hour)
	if n := collect(nobody); n != 0 || there() {
		t.Errorf("want the content in quarantine, but %d objects were removed, and the content exists: %v", n, there())
	}
	now.pass(2 * time.Hour)
	if n := collect(nobody); n != 1 {
		t.Errorf("%d objects were removed permanently, want 1", n)
	}
	if _, err := content(s, l.Sum); !errors.Is(err, files.ErrMissing) {
		t.Error("the content still exists", err)
	}
	l = put(t, s, "young")
	l.Release()
	if err := s.Discard(anybody, l.Sum); err != nil || !there() {
		t.Error("the content was discarded while in use", err)
	}
	if err := s.Discard(nobody, l.Sum, files.Sum{}); err != nil || there() {
		t.Error("the content was not discarded", err)
	}
	failing := func(files.Sum) (bool, error) { return false, durable.ErrClosed }
	l = put(t, s, "unknown")
	l.Release()
	if err := s.Discard(failing, l.Sum); !errors.Is(err, durable.ErrClosed) || !there() {
		t.Error("removed although its use is unknown", err)
	}
}

// A stored object that was put and recorded can be read, even while collections and discards run.
func TestCollectionsRemoveNoRecordedUpload(t *testing.T) {
	s, now := openTest(t, Options{Grace: time.Nanosecond})
	var mu sync.Mutex
	refs := map[files.Sum]int{}
	inUse := func(sum files.Sum) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		return refs[sum] > 0, nil
	}
	record := func(sum files.Sum, by int) {
		mu.Lock()
		defer mu.Unlock()
		refs[sum] += by
	}
	stop := make(chan struct{})
	var collector, users sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				now.pass(time.Second)
				if _, err := s.Collect(inUse); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for u := range 4 {
		users.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(u), 1))
			for range 60 {
				text := fmt.Sprint("content ", rng.IntN(3))
				l, err := s.Put(strings.NewReader(text), 100)
				if err != nil {
					t.Error(err)
					return
				}
				record(l.Sum, +1)
				l.Release()
				if got, err := content(s, l.Sum); got != text || err != nil {
					t.Errorf("a recorded content was read as %q, %v", got, err)
				}
				record(l.Sum, -1)
				if err := s.Discard(inUse, l.Sum); err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
	close(stop)
	collector.Wait()
	now.pass(time.Second)
	if _, err := s.Collect(inUse); err != nil {
		t.Fatal(err)
	}
	if n := left(t, s.opts.Dir); len(n) != 0 || len(s.leases) != 0 {
		t.Errorf("files left behind: %q, and %d leases", n, len(s.leases))
	}
}

func TestALargeContentNeedsOneBuffer(t *testing.T) {
	s, _ := openTest(t, Options{})
	put(t, s, "warm up")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := s.Put(io.LimitReader(zeros{}, 50<<20), 50<<20)
	if err != nil || l.Size != 50<<20 {
		t.Fatalf("Put of 50 MiB returned %v, %v", l, err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("50 MiB took %d bytes of memory", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestABackupContainsEveryObject(t *testing.T) {
	s, _ := openTest(t, Options{})
	a, b := put(t, s, "one"), put(t, s, strings.Repeat("two", 1<<18))
	var saved bytes.Buffer
	if err := backup.Write(&saved, (&Store{s, s.opts.Logger}).Section("blobs", "contents")); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := backup.Restore(data, &saved, (&Store{s, s.opts.Logger}).Section("blobs", "contents")); err != nil {
		t.Fatal(err)
	}
	restored, _ := openTest(t, Options{Dir: filepath.Join(data, "contents")})
	for sum, want := range map[files.Sum]string{a.Sum: "one", b.Sum: strings.Repeat("two", 1<<18)} {
		if got, err := content(restored, sum); got != want || err != nil {
			t.Errorf("restored %d bytes, %v", len(got), err)
		}
	}
	if err := os.WriteFile(s.path(a.Sum), []byte("eno"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A damaged object is not saved, and does not prevent saving the others.
	saved.Reset()
	if err := backup.Write(&saved, (&Store{s, s.opts.Logger}).Section("blobs", "contents")); err != nil {
		t.Fatal(err)
	}
	data = t.TempDir()
	if err := backup.Restore(data, &saved, (&Store{s, s.opts.Logger}).Section("blobs", "contents")); err != nil {
		t.Fatal(err)
	}
	restored, _ = openTest(t, Options{Dir: filepath.Join(data, "contents")})
	if got, err := content(restored, b.Sum); len(got) != 3<<18 || err != nil {
		t.Errorf("the undamaged content: %d bytes, %v", len(got), err)
	}
	if _, err := content(restored, a.Sum); !errors.Is(err, files.ErrMissing) {
		t.Errorf("the damaged content: %v, want ErrMissing", err)
	}
}

// While one of several backups is in progress, no content is removed. Releasing one hold twice does
// not release another hold.
func TestNothingIsRemovedDuringSeveralBackups(t *testing.T) {
	s, now := openTest(t, Options{Grace: time.Hour})
	kept, dropped := put(t, s, "kept"), put(t, s, "dropped")
	kept.Release()
	dropped.Release()
	now.pass(2 * time.Hour)
	hold := func() (release func()) {
		release, err := s.Hold()
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	left := func(when string, want int) {
		t.Helper()
		if err := s.Discard(nobody, dropped.Sum); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Collect(nobody); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, sum := range []files.Sum{kept.Sum, dropped.Sum} {
			if _, err := os.Stat(s.path(sum)); err == nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%s there are %d objects, want %d", when, n, want)
		}
	}
	first, second := hold(), hold()
	left("during two backups", 2)
	first()
	first()
	left("during one backup", 2)
	second()
	left("after both backups", 0)
}

// In an earlier version, the file of a person who was erased during a backup stayed until it was
// collected as unreferenced.
func TestARemovalDuringABackupFollowsTheBackup(t *testing.T) {
	s, _ := openTest(t, Options{Grace: time.Hour})
	gone, used := put(t, s, "gone"), put(t, s, "used")
	gone.Release()
	used.Release()
	release, err := s.Hold()
	if err != nil {
		t.Fatal(err)
	}
	inUse := func(sum files.Sum) (bool, error) { return sum == used.Sum, nil }
	if err := s.Discard(inUse, gone.Sum, used.Sum); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*files.Lease{gone, used} {
		if _, err := os.Stat(s.path(l.Sum)); err != nil {
			t.Errorf("during the backup: %v", err)
		}
	}
	release()
	if _, err := os.Stat(s.path(gone.Sum)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the backup, the removed object is still there: %v", err)
	}
	if _, err := os.Stat(s.path(used.Sum)); err != nil {
		t.Errorf("the object in use was removed: %v", err)
	}
}

// hurting is a writer that damages a stored object once the first bytes of the backup are written.
type hurting struct {
	io.Writer
	path string
}

func (h *hurting) Write(p []byte) (int, error) {
	if h.path != "" {
		if err := os.WriteFile(h.path, []byte("eno"), 0o600); err != nil {
			return 0, err
		}
		h.path = ""
	}
	return h.Writer.Write(p)
}

// If an object is damaged while it is being saved, the backup fails, because it already contains a
// part of it.
func TestDamageWhileSavingFailsTheBackup(t *testing.T) {
	s, _ := openTest(t, Options{})
	sum := putOne(t, s, "one")
	save := (&Store{s, s.opts.Logger}).Section("blobs", "contents").Save
	if err := save(io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := save(&hurting{io.Discard, s.path(sum)}); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("saving an object that is damaged meanwhile: %v, want ErrCorrupt", err)
	}
}
