package objectstest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/persistence/objects"
)

// Run verifies that the stores that open returns fulfil the contract of objects.Store.
func Run(t *testing.T, open func(testing.TB) *Backend) {
	for name, test := range map[string]func(t *testing.T, b *Backend){
		"an object is returned unchanged":         whole,
		"a part of an object can be read":         parts,
		"missing objects are reported":            missing,
		"invalid keys are refused":                keys,
		"content with a wrong sum is refused":     otherSum,
		"an interrupted put leaves nothing":       brokenOff,
		"listings have several pages":             many,
		"concurrent puts of a key do not mix":     racing,
		"ages follow the store's clock":           times,
		"a prefix is not a folder":                prefixes,
		"a large object is stored in one request": large,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func put(t testing.TB, b *Backend, key, content string) {
	t.Helper()
	if err := objects.PutBytes(t.Context(), b, key, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, b *Backend, key string) string {
	t.Helper()
	content, err := objects.GetBytes(t.Context(), b, key, 0, -1, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func whole(t *testing.T, b *Backend) {
	for key, content := range map[string]string{"a": "one", "deep/er/still/b-1_2.x": strings.Repeat("two ", 1<<16), "empty": ""} {
		put(t, b, key, "before")
		put(t, b, key, content)
		if got := get(t, b, key); got != content {
			t.Errorf("%s: %d bytes, want %d", key, len(got), len(content))
		}
		info, err := b.Stat(t.Context(), key)
		if err != nil || info.Key != key || info.Size != int64(len(content)) {
			t.Errorf("%s: %+v, %v", key, info, err)
		}
	}
	if err := b.Delete(t.Context(), "deep/er/still/b-1_2.x"); err != nil {
		t.Error(err)
	}
	if got := b.Keys(t, ""); !slices.Equal(got, []string{"a", "empty"}) {
		t.Errorf("the keys are %q", got)
	}
}

func parts(t *testing.T, b *Backend) {
	put(t, b, "digits", "0123456789")
	for _, c := range []struct {
		from, n int64
		want    string
	}{{0, -1, "0123456789"}, {0, 3, "012"}, {4, 2, "45"}, {4, -1, "456789"}, {9, 1, "9"}, {8, 100, "89"}, {0, 100, "0123456789"}} {
		got, err := objects.GetBytes(t.Context(), b, "digits", c.from, c.n, 100)
		if string(got) != c.want || err != nil {
			t.Errorf("reading %d bytes from %d returned %q, %v", c.n, c.from, got, err)
		}
	}
	for _, from := range []int64{10, 11, -1} {
		if got, err := objects.GetBytes(t.Context(), b, "digits", from, 5, 100); !errors.Is(err, objects.ErrRange) {
			t.Errorf("reading from %d returned %q, %v, want ErrRange", from, got, err)
		}
	}
	if _, err := objects.GetBytes(t.Context(), b, "digits", 0, -1, 9); !errors.Is(err, objects.ErrRange) {
		t.Errorf("an object longer than the limit returned %v, want ErrRange", err)
	}
}

func missing(t *testing.T, b *Backend) {
	put(t, b, "there/a", "x")
	for _, key := range []string{"none", "there", "there/b", "there/a/b"} {
		if _, _, err := b.Get(t.Context(), key, 0, -1); !errors.Is(err, objects.ErrNotFound) && key != "there/a/b" || err == nil {
			t.Errorf("Get of %s returned %v, want ErrNotFound", key, err)
		}
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, objects.ErrNotFound) && key != "there/a/b" || err == nil {
			t.Errorf("Stat of %s returned %v, want ErrNotFound", key, err)
		}
	}
	if err := b.Delete(t.Context(), "none"); err != nil {
		t.Errorf("Delete of a missing object returned %v", err)
	}
	if got := b.Keys(t, "none/"); got != nil {
		t.Errorf("the keys are %q", got)
	}
}

func keys(t *testing.T, b *Backend) {
	for _, key := range []string{
		"", "/", "/a", "a/", "..", "../a", "a/../b", "a//b", ".", "./a", ".tmp/a", "a/.b", "A", "ä", "a b", "a\x00", "a\\b", "a?b", "a%2fb", strings.Repeat("a", 513),
	} {
		if err := objects.PutBytes(t.Context(), b, key, nil); err == nil {
			t.Errorf("Put accepted the key %q", key)
		}
		if _, _, err := b.Get(t.Context(), key, 0, -1); err == nil || errors.Is(err, objects.ErrNotFound) {
			t.Errorf("Get of the key %q returned %v", key, err)
		}
		if err := b.Delete(t.Context(), key); err == nil {
			t.Errorf("Delete accepted the key %q", key)
		}
		if _, err := b.Stat(t.Context(), key); err == nil {
			t.Errorf("Stat accepted the key %q", key)
		}
	}
	for _, prefix := range []string{"/", "../", "a/../", ".tmp/", "A"} {
		if err := b.List(t.Context(), prefix, func(objects.Info) error { return nil }); err == nil {
			t.Errorf("List accepted the prefix %q", prefix)
		}
	}
}

func otherSum(t *testing.T, b *Backend) {
	put(t, b, "key", "before")
	err := b.Put(t.Context(), "key", strings.NewReader("content"), 7, sha256.Sum256([]byte("other")))
	if !errors.Is(err, objects.ErrSum) {
		t.Errorf("Put with a wrong sum returned %v, want ErrSum", err)
	}
	if got := get(t, b, "key"); got != "before" {
		t.Errorf("the earlier object became %q", got)
	}
}

// breaking is a reader that returns n bytes, and then fails.
type breaking struct{ n int64 }

func (b breaking) ReadAt(p []byte, at int64) (int, error) {
	if at >= b.n {
		return 0, io.ErrClosedPipe
	}
	return min(len(p), int(b.n-at)), nil
}

func brokenOff(t *testing.T, b *Backend) {
	const size = 3 << 20
	if err := b.Put(t.Context(), "key", breaking{size / 2}, size, sha256.Sum256(make([]byte, size))); err == nil {
		t.Error("an interrupted put succeeded")
	}
	if err := b.Put(t.Context(), "short", strings.NewReader("sho"), 5, sha256.Sum256([]byte("short"))); err == nil {
		t.Error("a put with too little content succeeded")
	}
	if got := b.Keys(t, ""); got != nil {
		t.Errorf("the keys are %q", got)
	}
}

func many(t *testing.T, b *Backend) {
	const n = 1203
	var work sync.WaitGroup
	for w := range 8 {
		work.Go(func() {
			for i := w; i < n; i += 8 {
				if err := objects.PutBytes(t.Context(), b, fmt.Sprintf("many/%04d", i), nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	put(t, b, "other", "")
	got := b.Keys(t, "many/")
	if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(got)) != n {
		t.Errorf("%d objects are listed, in order: %v", len(got), slices.IsSorted(got))
	}
	seen, enough := 0, errors.New("enough")
	err := b.List(t.Context(), "", func(objects.Info) error {
		if seen++; seen == 1100 {
			return enough
		}
		return nil
	})
	if seen != 1100 || !errors.Is(err, enough) {
		t.Errorf("after %d objects, List returned %v", seen, err)
	}
}

func racing(t *testing.T, b *Backend) {
	var work sync.WaitGroup
	for w := range 8 {
		work.Go(func() {
			content := bytes.Repeat([]byte{byte('a' + w)}, 100_000)
			if err := objects.PutBytes(t.Context(), b, "key", content); err != nil {
				t.Error(err)
			}
			if w%2 == 0 {
				return
			}
			got, err := objects.GetBytes(t.Context(), b, "key", 0, -1, 1<<20)
			if err != nil || len(got) != len(content) || strings.Trim(string(got), string(got[:1])) != "" {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	work.Wait()
}

func times(t *testing.T, b *Backend) {
	put(t, b, "old", "")
	b.Age(t, "old", time.Hour)
	put(t, b, "new", "")
	old, err := b.Stat(t.Context(), "old")
	if err != nil {
		t.Fatal(err)
	}
	clock := objects.NewClock(b)
	now, err := clock.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if age := now.Sub(old.Changed); age < 59*time.Minute {
		t.Errorf("the object is %s old, want an hour", age)
	}
	listed := map[string]time.Time{}
	if err := b.List(t.Context(), "", func(i objects.Info) error { listed[i.Key] = i.Changed; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(listed) != 2 || !listed["new"].After(listed["old"]) || !listed["old"].Truncate(time.Second).Equal(old.Changed.Truncate(time.Second)) {
		t.Errorf("the listed times are %v", listed)
	}
	put(t, b, "old", "") // a second put resets its age
	if info, err := b.Stat(t.Context(), "old"); err != nil || info.Changed.Sub(old.Changed) < 59*time.Minute {
		t.Errorf("after a second put: %v, %v", info, err)
	}
}

func prefixes(t *testing.T, b *Backend) {
	for _, key := range []string{"a-b/c", "a/b", "a/bc/d", "ab", "b"} {
		put(t, b, key, "")
	}
	for prefix, want := range map[string]string{
		"": "a-b/c a/b a/bc/d ab b", "a": "a-b/c a/b a/bc/d ab", "a/": "a/b a/bc/d", "a/b": "a/b a/bc/d", "a/bc/": "a/bc/d", "c": "", "b/": "",
	} {
		if got := strings.Join(b.Keys(t, prefix), " "); got != want {
			t.Errorf("%q: %s, want %s", prefix, got, want)
		}
	}
}

func large(t *testing.T, b *Backend) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 20<<16) // 20 MiB: more than a part of a multipart upload
	if err := b.Put(t.Context(), "large", bytes.NewReader(content), int64(len(content)), sha256.Sum256(content)); err != nil {
		t.Fatal(err)
	}
	if got := get(t, b, "large"); got != string(content) {
		t.Errorf("%d bytes", len(got))
	}
}
