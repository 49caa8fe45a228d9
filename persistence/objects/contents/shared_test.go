package contents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/backup"
	"atelier/persistence/objects"
	"atelier/persistence/objects/objectstest"
)

// node returns the store of a node that shares b.
func node(t testing.TB, b objects.Store, damaged func()) *Store {
	t.Helper()
	s, err := Open(Options{Objects: b, Dir: filepath.Join(t.TempDir(), "copies"), MinFreeBytes: 1, Damaged: damaged})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// putOne puts an object that nothing references.
func putOne(t testing.TB, s files.Blobs, content string) files.Sum {
	t.Helper()
	l := put(t, s, content)
	l.Release()
	return l.Sum
}

func collect(t testing.TB, s *Store, inUse files.InUse) int {
	t.Helper()
	n, err := s.Collect(inUse)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAllNodesReadStoredContent(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		one, two := node(t, b, nil), node(t, b, nil)
		sum := putOne(t, one, "content")
		for range 2 {
			if got, err := content(two, sum); got != "content" || err != nil {
				t.Errorf("read %q, %v", got, err)
			}
		}
		if _, err := content(two, files.Sum{}); !errors.Is(err, files.ErrMissing) {
			t.Errorf("a missing content: %v, want ErrMissing", err)
		}
		if putOne(t, one, "content") != sum || len(b.Keys(t, "contents/")) != 1 {
			t.Errorf("after storing it again, the keys are %q", b.Keys(t, ""))
		}
		if _, err := one.Put(strings.NewReader("too long"), 3); !errors.Is(err, files.ErrTooLarge) {
			t.Errorf("an upload that is too long: %v, want ErrTooLarge", err)
		}
		if _, err := one.Put(iotest.ErrReader(io.ErrClosedPipe), 3); !errors.Is(err, files.ErrSource) {
			t.Errorf("an interrupted upload: %v, want ErrSource", err)
		}
		if got := b.Keys(t, "contents/"); len(got) != 1 {
			t.Errorf("the stored objects are %q", got)
		}
	})
}

// Damage is detected in any part of an object.
func TestDamagedObjectsAreNotServed(t *testing.T) {
	for name, hurt := range map[string]func([]byte) []byte{
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"longer":  func(b []byte) []byte { return append(b, 0) },
		"empty":   func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
				damaged := 0
				one, two := node(t, b, nil), node(t, b, func() { damaged++ })
				whole := strings.Repeat("content ", 1000)
				sum := putOne(t, one, whole)
				b.Change(t, b.Keys(t, "contents/")[0], hurt)
				if got, err := content(two, sum); !errors.Is(err, durable.ErrCorrupt) || damaged == 0 {
					t.Errorf("read %d bytes, %v, counted %d", len(got), err, damaged)
				}
				var found []string
				if n, err := two.Scrub(func(what string) { found = append(found, what) }); n != 1 || err != nil || !slices.Equal(found, []string{"blob " + sum.String()}) {
					t.Errorf("scrubbing %d objects found the damaged ones %q, %v", n, found, err)
				}
				// Putting the object again makes it readable. The damaged object is removed later.
				putOne(t, two, whole)
				if got, err := content(node(t, b, nil), sum); got != whole || err != nil {
					t.Errorf("after another upload: %d bytes, %v", len(got), err)
				}
			})
		})
	}
}

// The node that stored an object remembers this, and does not repeat the put. Once damage of the
// object is detected, the node stores it again.
func TestDamagedContentIsStoredAgainOnUpload(t *testing.T) {
	b := objectstest.Folder(t)
	one, err := Open(Options{Objects: b, Dir: filepath.Join(t.TempDir(), "copies"), MinFreeBytes: 1, CacheBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	sum := putOne(t, one, "content")
	putOne(t, one, "another content, so that the cache drops the copy of the first")
	putOne(t, one, "content")
	putOne(t, one, "another content, so that the cache drops the copy of the first")
	if got := b.Keys(t, "contents/"); len(got) != 2 {
		t.Fatalf("storing an undamaged content again: %q", got)
	}
	damage := func() {
		for _, key := range b.Keys(t, "contents/") {
			if strings.Contains(key, sum.String()) {
				b.Change(t, key, func(content []byte) []byte { return content[1:] })
			}
		}
	}
	again := func(found string) {
		t.Helper()
		putOne(t, one, "content")
		if got, err := content(node(t, b, nil), sum); got != "content" || err != nil {
			t.Errorf("after damage was detected by %s and a new upload, another node reads %q, %v", found, got, err)
		}
	}
	damage()
	if got, err := content(one, sum); !errors.Is(err, durable.ErrCorrupt) {
		t.Fatalf("read %q, %v, want ErrCorrupt", got, err)
	}
	again("a reader")
	putOne(t, one, "another content, so that the cache drops the copy of the first")
	damage()
	found := 0
	if _, err := one.Scrub(func(string) { found++ }); err != nil || found == 0 {
		t.Fatalf("%d damaged, %v", found, err)
	}
	again("a scrub")
}

// One node must not remove an object that another node has put but not recorded yet.
func TestOneNodeCollectsWhileAnotherPuts(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		one, two := node(t, b, nil), node(t, b, nil)
		sum := putOne(t, one, "content")
		for range 3 {
			if n := collect(t, two, nobody); n != 0 {
				t.Fatal("a young content was removed")
			}
		}
		if err := two.Discard(nobody, sum); err != nil {
			t.Fatal(err)
		}
		if got, err := content(node(t, b, nil), sum); got != "content" || err != nil {
			t.Fatalf("discarded although it was young: %q, %v", got, err)
		}
		// Between the listing and the removal of an old object, the other node puts it again and
		// records it.
		b.Age(t, "contents/", 25*time.Hour)
		three := node(t, b, nil)
		meanwhile := func(got files.Sum) (bool, error) {
			if len(b.Keys(t, "contents/")) == 1 {
				putOne(t, three, "content")
			}
			return false, nil // unused at the time of the check
		}
		if err := two.Discard(meanwhile, sum); err != nil {
			t.Fatal(err)
		}
		if got, err := content(node(t, b, nil), sum); got != "content" || err != nil {
			t.Errorf("stored again while it was being discarded: %q, %v", got, err)
		}
		collect(t, two, anybody)
		if got, err := content(node(t, b, nil), sum); got != "content" || err != nil {
			t.Errorf("after recording: %q, %v", got, err)
		}
		if got := b.Keys(t, "discarded/"); got != nil {
			t.Errorf("the marks are %q", got)
		}
	})
}

func TestUnusedContentIsRemovedAfterTheGracePeriod(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		one, two := node(t, b, nil), node(t, b, nil)
		sum := putOne(t, one, "content")
		there := func() bool { return len(b.Keys(t, "contents/")) > 0 }
		b.Age(t, "contents/", 25*time.Hour)
		if collect(t, one, anybody); len(b.Keys(t, "aside/")) != 0 {
			t.Error("a used object was moved to quarantine")
		}
		if collect(t, one, nobody); !there() || len(b.Keys(t, "aside/")) != 1 {
			t.Errorf("an unused object was not moved to quarantine: %q", b.Keys(t, ""))
		}
		if collect(t, two, anybody); !there() || len(b.Keys(t, "aside/")) != 0 {
			t.Errorf("an object used again is still in quarantine: %q", b.Keys(t, ""))
		}
		collect(t, one, nobody)
		collect(t, two, nobody)
		b.Age(t, "aside/", 23*time.Hour)
		if collect(t, one, nobody); !there() {
			t.Error("the content was removed before the end of the grace period")
		}
		b.Age(t, "aside/", 2*time.Hour)
		release, err := one.Hold()
		if err != nil {
			t.Fatal(err)
		}
		if collect(t, two, nobody); !there() {
			t.Error("the content was removed during the backup of another node")
		}
		if err := two.Discard(nobody, sum); err != nil || !there() {
			t.Errorf("the content was discarded during the backup of another node, or discarding it failed: %v", err)
		}
		b.Age(t, "holds/", 90*time.Minute) // simulates that the node of the backup died
		if n := collect(t, two, nobody); n != 1 || there() {
			t.Errorf("%d objects were removed, want 1; the remaining keys are %q", n, b.Keys(t, ""))
		}
		release()
		if _, err := content(node(t, b, nil), sum); !errors.Is(err, files.ErrMissing) {
			t.Errorf("reading the removed content: %v, want ErrMissing", err)
		}
		collect(t, one, nobody)
		if got := b.Keys(t, ""); got != nil {
			t.Errorf("the remaining keys are %q", got)
		}
	})
}

func TestDiscardedContentIsRemovedSooner(t *testing.T) {
	b := objectstest.Folder(t)
	s := node(t, b, nil)
	sum := putOne(t, s, "old")
	b.Age(t, "contents/", 61*time.Minute)
	failing := func(files.Sum) (bool, error) { return false, durable.ErrClosed }
	if err := s.Discard(failing, sum); !errors.Is(err, durable.ErrClosed) {
		t.Errorf("a discard whose check failed returned %v, want ErrClosed", err)
	}
	if err := errors.Join(s.Discard(anybody, sum), s.Discard(nobody, files.Sum{})); err != nil || len(b.Keys(t, "contents/")) != 1 {
		t.Errorf("a used object was discarded, %v", err)
	}
	if err := s.Discard(nobody, sum); err != nil || len(b.Keys(t, "")) != 0 {
		t.Errorf("the remaining keys are %q, %v", b.Keys(t, ""), err)
	}
	sum = putOne(t, s, "young")
	if err := s.Discard(nobody, sum); err != nil || len(b.Keys(t, "contents/")) != 1 {
		t.Errorf("the remaining keys are %q, %v", b.Keys(t, ""), err)
	}
	b.Age(t, "contents/", 61*time.Minute)
	if n := collect(t, s, nobody); n != 1 || len(b.Keys(t, "")) != 0 {
		t.Errorf("%d objects were removed, want 1; the remaining keys are %q, want none", n, b.Keys(t, ""))
	}
}

// If several objects have the same content, one undamaged object must remain.
func TestOfSeveralEqualObjectsOneRemains(t *testing.T) {
	b := objectstest.Folder(t)
	for range 3 {
		putOne(t, node(t, b, nil), "content")
		b.Age(t, "contents/", 25*time.Hour)
	}
	sum := putOne(t, node(t, b, nil), "content")
	keys := b.Keys(t, "contents/")
	var newest string
	err := b.List(t.Context(), "contents/", func(i objects.Info) error {
		if time.Since(i.Changed) < time.Hour {
			newest = i.Key
		}
		return nil
	})
	if err != nil || len(keys) != 4 {
		t.Fatalf("the keys are %q, %v, want 4", keys, err)
	}
	b.Change(t, newest, func([]byte) []byte { return []byte("damaged") })
	if collect(t, node(t, b, nil), anybody); len(b.Keys(t, "contents/")) != 4 {
		t.Error("an undamaged object was removed")
	}
	if got, err := content(node(t, b, nil), sum); got != "content" || err != nil {
		t.Errorf("with one damaged object: %q, %v", got, err)
	}
	b.Change(t, newest, func([]byte) []byte { return []byte("content") })
	collect(t, node(t, b, nil), anybody)
	if got := b.Keys(t, ""); len(got) != 1 || got[0] != newest {
		t.Errorf("the remaining keys are %q", got)
	}
}

// A recorded object can be read while any of the nodes sweeps and discards.
func TestCollectionsOfAnyNodeRemoveNoRecordedContent(t *testing.T) {
	b := objectstest.Folder(t)
	var mu sync.Mutex
	refs := map[files.Sum]int{}
	inUse := func(sum files.Sum) (bool, error) { mu.Lock(); defer mu.Unlock(); return refs[sum] > 0, nil }
	record := func(sum files.Sum, by int) { mu.Lock(); defer mu.Unlock(); refs[sum] += by }
	var users sync.WaitGroup
	for u := range 3 {
		s := node(t, b, nil)
		users.Go(func() {
			for i := range 20 {
				sum := putOne(t, s, fmt.Sprint("content ", (u+i)%3))
				record(sum, +1)
				if got, err := content(s, sum); !strings.HasPrefix(got, "content ") || err != nil {
					t.Errorf("a recorded content was read as %q, %v", got, err)
				}
				if _, _, err := s.Open(sum); err != nil {
					t.Error(err)
				}
				record(sum, -1)
				if err := s.Discard(inUse, sum); err != nil {
					t.Error(err)
				}
				if i%10 == 9 {
					collect(t, s, inUse)
				}
			}
		})
	}
	users.Wait()
}

func TestAnUnreachableStoreReturnsUnavailable(t *testing.T) {
	s3, err := objectstest.Hostile(t, time.Second, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead || strings.Trim(r.URL.Path, "/") != objectstest.Bucket {
			w.WriteHeader(http.StatusForbidden)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s := node(t, s3, nil)
	if _, err := s.Put(strings.NewReader("x"), 1); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("put: %v, want ErrUnavailable", err)
	}
	if _, err := content(s, files.Sum{}); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("read: %v, want ErrUnavailable", err)
	}
	if _, err := s.Collect(nobody); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("collect: %v, want ErrUnavailable", err)
	}
	if err := s.Discard(nobody, files.Sum{}); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("discard: %v, want ErrUnavailable", err)
	}
}

func TestABackupCanBeRestoredIntoEitherKindOfStore(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		s := node(t, b, nil)
		sums := []files.Sum{putOne(t, s, "one"), putOne(t, s, strings.Repeat("two", 1<<18))}
		var saved bytes.Buffer
		if err := backup.Write(&saved, s.Section("blobs", "blobs")); err != nil {
			t.Fatal(err)
		}
		data := t.TempDir()
		if err := backup.Restore(data, bytes.NewReader(saved.Bytes()), backup.Section{Name: "blobs", Folder: "blobs", Load: Load}); err != nil {
			t.Fatal(err)
		}
		local, err := Open(Options{Dir: filepath.Join(data, "blobs"), MinFreeBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		saved.Reset()
		if err := backup.Write(&saved, local.Section("blobs", "blobs")); err != nil {
			t.Fatal(err)
		}
		other := objectstest.Folder(t)
		section := s.Section("blobs", "blobs")
		section.Load = Load
		section.Place = func(dir string) error { return Place(context.Background(), other, dir) }
		if err := backup.Restore(t.TempDir(), &saved, section); err != nil {
			t.Fatal(err)
		}
		for _, sum := range sums {
			want, _ := content(s, sum)
			if got, err := content(node(t, other, nil), sum); got != want || err != nil {
				t.Errorf("restored %d bytes, %v", len(got), err)
			}
		}
	})
}

// If the node has no space for a copy, it reads the object itself.
func TestReadingNeedsNoFreeDiskSpace(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		damaged := 0
		one, two := node(t, b, nil), node(t, b, func() { damaged++ })
		sum := putOne(t, one, "0123456789")
		two.place.(*shared).local.opts.FreeBytes = func() (uint64, error) { return 0, nil }
		f, size, err := two.Open(sum)
		if err != nil || size != 10 {
			t.Fatalf("%d bytes, %v", size, err)
		}
		defer f.Close()
		for _, c := range []struct {
			offset int64
			whence int
			want   string
		}{
			{0, io.SeekStart, "0123456789"}, {4, io.SeekStart, "456789"}, {-2, io.SeekEnd, "89"}, {-9, io.SeekCurrent, "123456789"}, {3, io.SeekEnd, ""},
		} {
			if _, err := f.Seek(c.offset, c.whence); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(f); string(got) != c.want || err != nil {
				t.Errorf("from %d: %q, %v", c.offset, got, err)
			}
		}
		if _, err := f.Seek(-1, io.SeekStart); err == nil {
			t.Error("seeking before the beginning succeeded")
		}
		if _, err := content(two, files.Sum{}); !errors.Is(err, files.ErrMissing) {
			t.Errorf("a missing content: %v, want ErrMissing", err)
		}
		// Reading a damaged object fails immediately.
		b.Change(t, b.Keys(t, "contents/")[0], func(c []byte) []byte { c[9]++; return c })
		if _, _, err := two.Open(sum); !errors.Is(err, durable.ErrCorrupt) || damaged != 1 {
			t.Errorf("opening a damaged object: %v, reported %d times", err, damaged)
		}
	})
}
