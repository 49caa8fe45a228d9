package broadcast

import "slices"

// track is what one subscriber got of one publisher's messages, numbered from 0
// without gaps.
type track struct {
	// next is one above the largest number that came.
	next int64
	// adrift says that the subscriber was away, or was told of a gap: whatever
	// comes next is where it goes on.
	adrift bool
	// missing numbers below next; nearly always none.
	missing []int64
	// more is how many are missing beyond those.
	more int64
}

// verdict is what a message was for a subscriber.
type verdict uint8

const (
	inOrder verdict = iota
	duplicated
	reordered
)

// maxMissing bounds what is remembered of gaps. Beyond it they are counted and
// not told apart: what comes late after all then counts as duplicated.
const maxMissing = 10_000

// got notes a message; skipped is how many were passed over because the
// subscriber was adrift.
func (t *track) got(n int64) (v verdict, skipped int64) {
	switch {
	case n >= t.next:
		if t.adrift {
			skipped = n - t.next
		} else {
			for gap := t.next; gap < n; gap++ {
				if len(t.missing) == maxMissing {
					t.more += n - gap
					break
				}
				t.missing = append(t.missing, gap)
			}
		}
		t.next, t.adrift = n+1, false
		return inOrder, skipped
	case len(t.missing) > 0:
		if i, found := slices.BinarySearch(t.missing, n); found {
			t.missing = slices.Delete(t.missing, i, i+1)
			return reordered, 0
		}
	}
	return duplicated, 0
}

// lost counts what never came of the numbers below sent. Refused ones, a sorted
// list, are not expected.
func (t *track) lost(sent int64, refused []int64) int64 {
	n := t.more
	for _, m := range t.missing {
		if _, no := slices.BinarySearch(refused, m); !no {
			n++
		}
	}
	if sent <= t.next || t.adrift {
		return n
	}
	tail := sent - t.next
	first, _ := slices.BinarySearch(refused, t.next)
	last, _ := slices.BinarySearch(refused, sent)
	return n + tail - int64(last-first)
}

// has reports whether everything below sent has come, or passed by.
func (t *track) has(sent int64, refused []int64) bool {
	return !t.adrift && t.next+trailing(refused, t.next, sent) >= sent && len(t.missing) == 0
}

// trailing counts the refused numbers from..sent.
func trailing(refused []int64, from, sent int64) int64 {
	first, _ := slices.BinarySearch(refused, from)
	last, _ := slices.BinarySearch(refused, sent)
	return int64(max(last-first, 0))
}
