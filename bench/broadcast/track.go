package broadcast

import "slices"

// track records which messages of one publisher a subscriber received, numbered from 0 without
// gaps.
type track struct {
	// next is one above the largest number that arrived.
	next int64
	// adrift means that the subscriber was away, or that the server reported a gap. The subscriber
	// then continues with the next message, whatever its number.
	adrift bool
	// missing contains the gaps below next, in ascending order. It is nearly always empty.
	missing []gap
	// more is the number of missing messages that are not in missing.
	more int64
}

// gap is a range of missing numbers, from from to just before to.
type gap struct{ from, to int64 }

// verdict is the classification of a message for a subscriber.
type verdict uint8

const (
	inOrder verdict = iota
	duplicated
	reordered
)

// maxGaps bounds the remembered gaps. Beyond it, missing numbers are only counted, and a late
// message counts as duplicated.
const maxGaps = 10_000

// got records a message; skipped is the number of messages that were skipped because the subscriber
// was adrift.
func (t *track) got(n int64) (v verdict, skipped int64) {
	if n < t.next {
		if t.fill(n) {
			return reordered, 0
		}
		return duplicated, 0
	}
	switch {
	case t.adrift:
		skipped = n - t.next
	case n == t.next:
	case len(t.missing) < maxGaps:
		t.missing = append(t.missing, gap{t.next, n})
	default:
		t.more += n - t.next
	}
	t.next, t.adrift = n+1, false
	return inOrder, skipped
}

// fill removes a number from the gaps. It returns false if the number is in none.
func (t *track) fill(n int64) bool {
	i, _ := slices.BinarySearchFunc(t.missing, n, func(g gap, n int64) int {
		if g.to <= n {
			return -1
		}
		return 1
	})
	if i == len(t.missing) || n < t.missing[i].from {
		return false
	}
	before, after := gap{t.missing[i].from, n}, gap{n + 1, t.missing[i].to}
	t.missing = slices.Delete(t.missing, i, i+1)
	for _, g := range []gap{after, before} {
		if g.from < g.to {
			t.missing = slices.Insert(t.missing, i, g)
		}
	}
	return true
}

// lost counts the missing numbers below sent. The numbers in unexpected, a sorted list, do not
// count.
func (t *track) lost(sent int64, unexpected []int64) int64 {
	n := t.more
	for _, g := range t.missing {
		// A gap can extend beyond sent, if a number has arrived that was never sent.
		if to := min(g.to, sent); g.from < to {
			n += to - g.from - within(unexpected, g.from, to)
		}
	}
	if sent <= t.next || t.adrift {
		return n
	}
	return n + sent - t.next - within(unexpected, t.next, sent)
}

// has reports whether everything below sent has arrived, or was skipped.
func (t *track) has(sent int64, unexpected []int64) bool {
	return !t.adrift && t.lost(sent, unexpected) == 0
}

// within counts the numbers of a sorted list from from to just before to.
func within(numbers []int64, from, to int64) int64 {
	first, _ := slices.BinarySearch(numbers, from)
	last, _ := slices.BinarySearch(numbers, to)
	return int64(last - first)
}
