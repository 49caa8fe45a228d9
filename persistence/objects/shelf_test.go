package objects

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a store in memory that uses the machine's clock, with simulated faults.
type shelf struct {
	mu    sync.Mutex
	all   map[string]thing // guarded by mu
	gone  string           // the key of an object that is listed but no longer exists
	fault error            // the error of each Get
	// short is the number of transfers that break off before their end.
	short int
	gets  int
}

type thing struct {
	content string
	changed time.Time
}

func newShelf(keys ...string) *shelf {
	s := &shelf{all: map[string]thing{}}
	for _, key := range keys {
		s.all[key] = thing{"content of " + key, time.Now()}
	}
	return s
}

func (s *shelf) Put(_ context.Context, key string, content io.ReaderAt, size int64, _ [32]byte) error {
	b, err := io.ReadAll(io.NewSectionReader(content, 0, size))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = thing{string(b), time.Now()}
	return err
}

func (s *shelf) Get(_ context.Context, key string, from, n int64) (io.ReadCloser, int64, error) {
	s.gets++
	x, there := s.find(key)
	if s.fault != nil || !there {
		return nil, 0, cmp.Or(s.fault, ErrNotFound)
	}
	content := x.content[from:]
	if n >= 0 {
		content = content[:min(n, int64(len(content)))]
	}
	if s.short > 0 {
		s.short--
		return io.NopCloser(io.MultiReader(strings.NewReader(content[:len(content)/2]), broken{})), int64(len(content)), nil
	}
	return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
}

func (s *shelf) find(key string) (x thing, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, there = s.all[key]
	return x, there
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (s *shelf) Stat(_ context.Context, key string) (Info, error) {
	x, _ := s.find(key)
	return Info{Key: key, Changed: x.changed}, nil
}

func (s *shelf) List(_ context.Context, prefix string, fn func(Info) error) error {
	keys := s.keys()
	if s.gone != "" {
		keys = append(keys, s.gone)
	}
	for _, key := range slices.Sorted(slices.Values(keys)) {
		if strings.HasPrefix(key, prefix) {
			x, _ := s.find(key)
			if err := fn(Info{Key: key, Size: int64(len(x.content)), Changed: x.changed}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shelf) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
	return nil
}

func (s *shelf) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.all))
}

// A hold lasts until it is released, even for hours, or until its node has been dead for an hour.
func TestAHoldLastsUntilItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		held := func(want bool) {
			t.Helper()
			synctest.Wait()
			if got, err := Held(t.Context(), s, time.Now()); got != want || err != nil {
				t.Errorf("held is %v, %v", got, err)
			}
		}
		held(false)
		release, err := Hold(s)
		if err != nil {
			t.Fatal(err)
		}
		held(true)
		time.Sleep(5 * time.Hour)
		held(true)
		release()
		held(false)
		release()
		s.all["holds/of-the-dead"] = thing{"", time.Now()}
		time.Sleep(time.Hour)
		held(true)
		time.Sleep(time.Nanosecond)
		held(false)
	})
}

// An unreferenced object is quarantined and then removed, unless it is young or a backup holds the
// store. An object that is referenced again leaves the quarantine.
func TestUnreferencedObjectsAreQuarantinedThenRemoved(t *testing.T) {
	const grace = 24 * time.Hour
	for name, tc := range map[string]struct {
		age    time.Duration
		mark   time.Duration // the age of the mark; 0 if there is no mark
		needed bool
		held   bool
		left   string
	}{
		"young":                    {grace, 0, false, false, "a"},
		"old":                      {grace + time.Second, 0, false, false, "a aside/a"},
		"marked":                   {9 * grace, grace, false, false, "a aside/a"},
		"marked long ago":          {9 * grace, grace + time.Second, false, false, ""},
		"held":                     {9 * grace, 9 * grace, false, true, "a aside/a holds/x"},
		"needed":                   {9 * grace, 0, true, false, "a"},
		"needed again":             {9 * grace, 2 * grace, true, false, "a"},
		"stored again":             {time.Second, 2 * grace, false, false, "a aside/a"},
		"missing, marked earlier":  {-1, grace, false, false, "aside/a"},
		"missing, marked long ago": {-1, grace + time.Second, false, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, now := newShelf(), time.Now()
			put := func(key string, age time.Duration) { s.all[key] = thing{"", now.Add(-age)} }
			if tc.age >= 0 {
				put("a", tc.age)
			}
			if tc.mark > 0 {
				put("aside/a", tc.mark)
			}
			if tc.held {
				put("holds/x", time.Minute)
			}
			sweep, err := NewAside(t.Context(), s, OwnClock(), "a", grace)
			if err != nil {
				t.Fatal(err)
			}
			gone := false
			if info, _ := s.Stat(t.Context(), "a"); tc.age >= 0 && tc.needed {
				err = sweep.Needed(t.Context(), info)
			} else if tc.age >= 0 {
				gone, err = sweep.Unneeded(t.Context(), info)
			}
			if err = errors.Join(err, sweep.Finish(t.Context())); err != nil {
				t.Errorf("%s: sweeping: %v", name, err)
			}
			if got := strings.Join(s.keys(), " "); got != tc.left || gone != (tc.age >= 0 && tc.left == "") || gone != (sweep.Removed == 1) {
				t.Errorf("%s: the remaining keys are %q, gone is %v of %d", name, got, gone, sweep.Removed)
			}
		})
	}
}

// After two hours, a sweep removes the holds and clock readings of dead nodes.
func TestHoldsAndClocksOfDeadNodesAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("holds/old", "clock/old", "a")
		time.Sleep(time.Second)
		s.all["holds/new"], s.all["clock/new"] = thing{"", time.Now()}, thing{"", time.Now()}
		time.Sleep(2 * time.Hour)
		sweep, err := NewAside(t.Context(), s, OwnClock(), "", time.Hour)
		if err = errors.Join(err, sweep.Tidy(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := s.keys(); !slices.Equal(got, []string{"a", "clock/new", "holds/new"}) {
			t.Errorf("the remaining keys are %q", got)
		}
	})
}

// A backup contains all objects under a prefix, except those that are removed meanwhile. An
// interrupted transfer is resumed a few times; any other fault fails the backup.
func TestObjectsAreSaved(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(s *shelf)
		want   error
	}{
		"without a fault":                 {func(*shelf) {}, nil},
		"an object is removed":            {func(s *shelf) { s.gone = "b/gone" }, nil},
		"two transfers are interrupted":   {func(s *shelf) { s.short = 2 }, nil},
		"three transfers are interrupted": {func(s *shelf) { s.short = 3 }, io.ErrUnexpectedEOF},
		"an object cannot be read":        {func(s *shelf) { s.fault = io.ErrNoProgress }, io.ErrNoProgress},
	} {
		s := newShelf("a", "b/1", "b/2", "c")
		tc.change(s)
		var saved bytes.Buffer
		err := Save(t.Context(), s, "b/", &saved)
		if tc.want != nil {
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: saving: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: saving returned %v", name, err)
		}
		got := map[string]string{}
		for in := tar.NewReader(&saved); ; {
			h, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: reading the backup: %v", name, err)
			}
			b, _ := io.ReadAll(in)
			got[h.Name] = string(b)
		}
		if !maps.Equal(got, map[string]string{"b/1": "content of b/1", "b/2": "content of b/2"}) {
			t.Errorf("%s: the saved objects are %q", name, got)
		}
	}
}

// A small object is requested again if its transfer breaks off. It is not read beyond its limit.
func TestAnInterruptedReadOfASmallObjectIsRepeated(t *testing.T) {
	for _, tc := range []struct {
		short, limit, gets int
		want               error
	}{{0, 12, 1, nil}, {2, 12, 3, nil}, {3, 12, 3, io.ErrUnexpectedEOF}, {0, 11, 1, ErrRange}} {
		s := newShelf("a")
		s.short = tc.short
		b, err := GetBytes(t.Context(), s, "a", 0, -1, int64(tc.limit))
		if !errors.Is(err, tc.want) || err == nil && string(b) != "content of a" || s.gets != tc.gets {
			t.Errorf("%+v: read %q, asked %d times, %v", tc, b, s.gets, err)
		}
	}
}
