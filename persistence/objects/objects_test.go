package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// faked is a store with one object. Its clock differs from the machine's clock.
type faked struct {
	Store
	ahead   time.Duration
	content []byte // nil if the object does not exist
	changed time.Time
	puts    int
	// rival is the content that another node puts after the next put, or nil.
	rival []byte
}

func (s *faked) Put(_ context.Context, _ string, content io.ReaderAt, size int64, _ [32]byte) error {
	s.puts++
	s.content = make([]byte, size)
	_, _ = content.ReadAt(s.content, 0)
	s.changed = time.Now().Add(s.ahead)
	if s.rival != nil {
		s.content, s.rival = s.rival, nil
	}
	return nil
}

func (s *faked) Get(context.Context, string, int64, int64) (io.ReadCloser, int64, error) {
	if s.content == nil {
		return nil, 0, ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(s.content)), int64(len(s.content)), nil
}

func (s *faked) Stat(context.Context, string) (Info, error) { return Info{Changed: s.changed}, nil }

func (s *faked) Delete(context.Context, string) error { return nil }

// The clock of a store is read once per minute. In between, the machine's clock is used.
func TestTheClockOfAStoreIsReadOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &faked{ahead: time.Hour}
		c := NewClock(s)
		is := func(ahead time.Duration, puts int) {
			t.Helper()
			now, err := c.Now(t.Context())
			if err != nil || time.Until(now) != ahead || s.puts != puts {
				t.Errorf("the clock is %v ahead, and was read %d times, %v", time.Until(now), s.puts, err)
			}
		}
		is(time.Hour, 1)
		s.ahead = 2 * time.Hour
		time.Sleep(measuredFor)
		is(time.Hour, 1)
		time.Sleep(time.Second)
		is(2*time.Hour, 2)
		time.Sleep(time.Second)
		is(2*time.Hour, 2)
	})
}

// Objects belong to the records that claimed them first. If two owners claim them concurrently, the
// claim that remains in the store wins. The loser must not proceed, because it would remove objects
// that its records do not refer to.
func TestObjectsHaveOneOwner(t *testing.T) {
	for name, tc := range map[string]struct {
		there, rival string
		want         error
	}{
		"nobody's":          {"", "", nil},
		"own objects":       {"me", "", nil},
		"another's":         {"other", "", ErrOwned},
		"claimed meanwhile": {"", "other", ErrOwned},
		"claimed twice":     {"", "me", nil},
	} {
		s := &faked{}
		if tc.there != "" {
			s.content = []byte(tc.there)
		}
		if tc.rival != "" {
			s.rival = []byte(tc.rival)
		}
		if err := Claim(t.Context(), s, "me"); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("claiming %s: %v", name, err)
		}
		if owner, err := Owner(t.Context(), s); err != nil || (owner == "me") != (tc.want == nil) {
			t.Errorf("%s: the owner is %q, %v", name, owner, err)
		}
	}
}
