package naming

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/actors/clock"
)

// IDs generates strictly increasing ids with a 24-bit tag. Because they increase, lists to which
// objects are appended can be searched by id. Ids in a codelab contain the codelab's tag, so that
// the verification of a certificate finds the codelab of an attendee without an index of all
// attendees. Not safe for concurrent use.
type IDs struct {
	tag uint32
	// last contains the milliseconds and the counter of the newest id, in 60 bits.
	last    uint64 `snapshot:"a snapshot lacks ids of removed objects; new ids follow the clock, so they still increase"`
	entropy io.Reader
	// next is a field, because a local variable would escape to the heap when it is passed to
	// entropy.
	next [16]byte `snapshot:"overwritten for each id"`
}

// NewIDs returns a source of ids for objects that belong to owner.
func NewIDs(owner string) *IDs { return NewIDsFrom(owner, rand.Reader) }

// NewIDsFrom does the same as NewIDs, with the given source of randomness, for tests.
func NewIDsFrom(owner string, entropy io.Reader) *IDs {
	return &IDs{tag: IDTag(owner), entropy: entropy}
}

// IDTag returns the 24-bit tag of ids that belong to owner.
func IDTag(owner string) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, owner)
	sum := h.Sum32()
	return (sum>>24 ^ sum) & 0xffffff
}

// IDTagOf returns the tag of an id, or false if the text is not a hyphenated UUID.
func IDTagOf(id string) (uint32, bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 {
		return 0, false
	}
	return uint32(u[9])<<16 | uint32(u[10])<<8 | uint32(u[11]), true
}

// Next returns a new id. If the clock stops or goes back, ids still increase.
func (s *IDs) Next(now time.Time) string {
	at := uint64(now.UnixMilli()) << 12
	if at <= s.last {
		at = s.last + 1
	}
	s.last = at
	b := &s.next
	binary.BigEndian.PutUint64(b[:8], at>>12<<16|0x7000|at&0xfff)
	_, _ = io.ReadFull(s.entropy, b[8:])
	b[8] = b[8]&0x3f | 0x80
	b[9], b[10], b[11] = byte(s.tag>>16), byte(s.tag>>8), byte(s.tag)
	return format(b)
}

// Seen makes the source continue after an id that an earlier source returned.
func (s *IDs) Seen(id string) {
	u, err := uuid.Parse(id)
	if err != nil {
		return
	}
	hi := binary.BigEndian.Uint64(u[:8])
	s.last = max(s.last, hi>>16<<12|hi&0xfff)
}

// ValidID reports whether a text has the form of this server's ids: a UUID of version 7 in lower
// case.
func ValidID(s string) bool {
	if len(s) != 36 || s[14] != '7' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		default:
			return false
		}
	}
	return true
}

func format(b *[16]byte) string {
	var out [36]byte
	hex.Encode(out[0:8], b[0:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:36], b[10:16])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}

// SharedIDs generates ids without a particular owner. Safe for concurrent use.
type SharedIDs struct {
	clock clock.Clock

	mu     sync.Mutex
	source *IDs // Guarded by mu.
}

// NewSharedIDs returns SharedIDs that takes the time of its ids from a clock.
func NewSharedIDs(c clock.Clock) *SharedIDs { return &SharedIDs{clock: c, source: NewIDs("")} }

// New returns an id.
func (s *SharedIDs) New() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Next(s.clock.Now())
}

var process = NewSharedIDs(clock.System)

// NewID returns an id without a particular owner, for code without a clock. Code in actors always
// has a clock. Safe for concurrent use.
func NewID() string { return process.New() }
