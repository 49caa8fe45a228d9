//go:build linux

package broadcast

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"atelier/bench/pacing"
	"atelier/bench/sockets"
)

// Whatever a server does to frames on their way to each one, alone and together, is
// counted as what it was; and each number that arrives is timed once, by the stamp
// that came with it.
func TestEveryHarmIsCountedAsWhatItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const publishers, people = 2, 4
		d := words
		d.Size = 0
		e, err := NewEngine(&Job{Address: "127.0.0.1:1", Dialect: d, AllPublishers: publishers, Subscribers: make([]Seat, people)}, pacing.NewClock(), 0, func(Sample) {})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		sent := []int64{0, 0}
		var said []uint64
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			p := rapid.IntRange(0, publishers-1).Draw(t, "publisher")
			said = append(said, uint64(sent[p])*publishers+uint64(p))
			sent[p]++
		}
		var want Outcome
		frames := make([][]string, people)
		for c := range frames {
			var numbers []uint64
			for _, n := range said {
				switch rapid.IntRange(0, 9).Draw(t, "harm") {
				case 0: // lost
				case 1:
					numbers = append(numbers, n, n)
				case 2: // of the same length, and another message
					numbers = append(numbers, n^1)
				case 3:
					at := rapid.IntRange(0, len(numbers)).Draw(t, "comes at")
					numbers = append(numbers[:at], append([]uint64{n}, numbers[at:]...)...)
				case 4: // of the same length, and no message
					numbers = append(numbers, ^n)
				default:
					numbers = append(numbers, n)
				}
			}
			had := map[uint64]bool{}
			var next [publishers]uint64
			for _, n := range numbers {
				text := string(d.fill(uint64(rapid.IntRange(10, 19).Draw(t, "stamp")), min(n, ^n)))
				if n > ^n {
					frames[c] = append(frames[c], "x"+text[1:2]+"x"+text[3:])
					continue
				}
				frames[c] = append(frames[c], text)
				p, k := n%publishers, n/publishers
				want.AllDeliveries++
				switch {
				case had[n]:
					want.Duplicated++
					continue
				case k < next[p]:
					want.Reordered++
				}
				next[p], had[n] = max(next[p], k+1), true
				want.Arrived++
			}
			unsent := false
			for p := range sent {
				for k := range sent[p] {
					if !had[uint64(k)*publishers+uint64(p)] {
						want.Lost++
					}
				}
				unsent = unsent || next[p] > uint64(sent[p])
			}
			if unsent {
				want.Misled++
			}
		}
		e.loop.Do(func() {
			e.load = &Load{Until: time.Hour, Stages: []Stage{{Rate: 1}}}
			for left := true; left; {
				left = false
				for c := range frames {
					n := min(len(frames[c]), rapid.IntRange(0, 3).Draw(t, "come together"))
					for _, f := range frames[c][:n] {
						e.Message(&sockets.Conn{Owner: c}, []byte(f))
					}
					frames[c] = frames[c][n:]
					left = left || len(frames[c]) > 0
				}
			}
			e.conclude(&Finish{Sent: sent, Refused: map[int][]int64{}})
		})
		o := &e.out
		got := fmt.Sprint(o.AllDeliveries, o.Arrived, o.Lost, o.Duplicated, o.Reordered, o.Misled, o.Deliveries.Count())
		if should := fmt.Sprint(want.AllDeliveries, want.Arrived, want.Lost, want.Duplicated, want.Reordered, want.Misled, want.Arrived); got != should {
			t.Fatalf("counted %s, was %s", got, should)
		}
	})
}
