package naming

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"atelier/actors/clock/clocktest"
)

// Ids increase, even if the clock goes back. They are UUIDv7 and contain their tag. A new source
// that gets the last id continues after it.
func TestIDsIncrease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner := rapid.String().Draw(t, "owner")
		s, last := NewIDs(owner), ""
		now := time.UnixMilli(1_800_000_000_000)
		for range rapid.IntRange(1, 50).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "ms")) * time.Millisecond)
			if rapid.Bool().Draw(t, "restart") {
				s = NewIDs(owner)
				s.Seen(last)
			}
			id := s.Next(now)
			if id <= last {
				t.Fatalf("id %s is not larger than %s", id, last)
			}
			u, err := uuid.Parse(id)
			if err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 || u.String() != id {
				t.Fatalf("%s is not a UUIDv7: %v", id, err)
			}
			if tag, ok := IDTagOf(id); !ok || tag != IDTag(owner) {
				t.Fatalf("the tag is %x, want %x", tag, IDTag(owner))
			}
			last = id
		}
	})
}

func TestSharedIDsFollowTheirClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocktest.New()
		s := NewSharedIDs(c)
		first := s.New()
		for _, offset := range []time.Duration{time.Hour, -time.Hour} {
			c.SetOffset(offset)
			id := s.New()
			if id <= first {
				t.Errorf("id %s is not larger than %s", id, first)
			}
			first = id
			at := time.Unix(uuid.MustParse(id).Time().UnixTime())
			if want := c.Now(); offset > 0 && at.Sub(want).Abs() > time.Millisecond {
				t.Errorf("the id has the time %v, the clock shows %v", at, want)
			}
		}
	})
}

func TestValidID(t *testing.T) {
	if id := NewID(); !ValidID(id) {
		t.Errorf("ValidID(%s) is false", id)
	}
	for _, s := range []string{"", "4111111111111111", "0197F3A2-7C1E-7AAA-8BBB-0123456789AB", "0197f3a2-7c1e-4aaa-8bbb-0123456789ab", "0197f3a27c1e-7aaa-8bbb-0123456789ab0", "0197f3a2-7c1e-7aaa-8bbb-0123456789ag"} {
		if ValidID(s) {
			t.Errorf("ValidID(%q) is true", s)
		}
	}
}
