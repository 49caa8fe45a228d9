package broadcast

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Exactly the injected changes of a stream are found.
func TestTrackFindsExactlyWhatWasInjected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		sent := int64(rapid.IntRange(0, 200).Draw(t, "sent"))
		var tr track
		var refused []int64
		lost, dup, swapped := int64(0), 0, 0
		got := func(n int64) {
			switch v, _ := tr.got(n); v {
			case duplicated:
				dup--
			case reordered:
				swapped--
			}
		}
		for n := int64(0); n < sent; n++ {
			switch rng.IntN(10) {
			case 0:
				lost++
			case 1:
				refused = append(refused, n)
			case 2:
				got(n)
				got(n)
				dup++
			case 3:
				if n+1 < sent {
					got(n + 1)
					swapped++
					got(n)
					n++
					continue
				}
				got(n)
			default:
				got(n)
			}
		}
		if have := tr.lost(sent, refused); have != lost || dup != 0 || swapped != 0 {
			t.Errorf("%d lost, want %d; %d duplicates and %d swaps were missed", have, lost, dup, swapped)
		}
		if lost > 0 && tr.has(sent, refused) {
			t.Error("the tracker reports that everything arrived")
		}
	})
}

func TestAReconnectedSubscriberSkipsWhatItMissed(t *testing.T) {
	tr := track{next: 5, adrift: true}
	if v, skipped := tr.got(9); v != inOrder || skipped != 4 || tr.lost(10, nil) != 0 {
		t.Errorf("got %v, skipped %d, lost %d; want in order, 4, 0", v, skipped, tr.lost(10, nil))
	}
	tr.adrift = true
	if tr.has(20, nil) || tr.lost(20, nil) != 0 {
		t.Error("messages sent while nobody is connected count as received or lost")
	}
}

func TestGapsAreBounded(t *testing.T) {
	var tr track
	for n := int64(0); n < 3*maxGaps; n++ {
		tr.got(2 * n)
	}
	if len(tr.missing) != maxGaps || tr.lost(6*maxGaps-1, nil) != 3*maxGaps-1 {
		t.Errorf("%d gaps are remembered, %d messages lost", len(tr.missing), tr.lost(6*maxGaps-1, nil))
	}
	if v, _ := tr.got(7); v != reordered || len(tr.missing) != maxGaps-1 {
		t.Error("a late message is still counted as missing")
	}
}

func TestALongGapIsStoredOnce(t *testing.T) {
	var tr track
	tr.got(1_000_000)
	for _, n := range []int64{500, 0, 999_999} {
		if v, _ := tr.got(n); v != reordered {
			t.Errorf("%d is classified as %v, want reordered", n, v)
		}
	}
	if v, _ := tr.got(500); v != duplicated {
		t.Errorf("500 a second time is %v, want %v", v, duplicated)
	}
	refused := []int64{1, 2, 499, 501, 1_000_001}
	if got := tr.lost(1_000_003, refused); got != 1_000_000-3-4+1 {
		t.Errorf("%d messages count as lost, want 999,994", got)
	}
}
