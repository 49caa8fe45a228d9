//go:build linux

package broadcast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"atelier/bench/pacing"
	"atelier/bench/sockets"
)

// Each kind of damage to frames, alone and with others, is counted as that kind. Each message
// that arrives unchanged is timed once.
func TestEveryHarmIsCountedAsItsKind(t *testing.T) {
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
		var sequence []uint64
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			p := rapid.IntRange(0, publishers-1).Draw(t, "publisher")
			sequence = append(sequence, uint64(sent[p])*publishers+uint64(p))
			sent[p]++
		}
		var want Outcome
		type sending struct {
			text string
			n    uint64
			kind rune // the harmed part: 's' stamp, 'n' number, 'x' all of it, ' ' none
		}
		frames := make([][]string, people)
		for c := range frames {
			var list []sending
			for _, n := range sequence {
				stamp := e.reader.sealer.seal(time.Duration(rapid.IntRange(0, 1000).Draw(t, "due"))*time.Microsecond, n)
				as := sending{string(d.script().message(stamp, n)), n, ' '}
				switch rapid.IntRange(0, 9).Draw(t, "harm") {
				case 0: // lost
				case 1:
					list = append(list, as, as)
				case 2:
					at := rapid.IntRange(0, len(list)).Draw(t, "comes at")
					list = slices.Insert(list, at, as)
				case 3: // a text of the same length that is not a message
					list = append(list, sending{strings.Replace(as.text, " ", "x", 1), n, 'x'})
				case 4:
					list = append(list, sending{string(d.script().message(stamp^1, n)), n, 's'})
				case 5: // in addition to the message
					n += uint64(rapid.SampledFrom([]int{publishers * 100, publishers << 40, 1 << 62}).Draw(t, "above"))
					list = append(list, as, sending{string(d.script().message(e.reader.sealer.seal(0, n)^1, n)), n, 'n'})
				default:
					list = append(list, as)
				}
			}
			had, spoiled := map[uint64]bool{}, map[uint64]bool{}
			var next [publishers]uint64
			for _, s := range list {
				frames[c] = append(frames[c], s.text)
				p, k := s.n%publishers, s.n/publishers
				switch s.kind {
				case 's':
					want.Forged++
					spoiled[s.n] = true
				case 'n':
					want.Foreign++
				}
				if s.kind != ' ' {
					continue
				}
				want.AllDeliveries++
				switch {
				case had[s.n]:
					want.Duplicated++
					continue
				case k < next[p]:
					want.Reordered++
				}
				next[p], had[s.n] = max(next[p], k+1), true
				want.Arrived++
			}
			for _, n := range sequence {
				if !had[n] && !spoiled[n] {
					want.Lost++
				}
			}
		}
		e.loop.Do(func() {
			e.load = &Load{Until: time.Hour, Stages: []Stage{{Rate: 1}}}
			for _, c := range e.clients {
				e.welcome(c)
			}
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
		got := fmt.Sprint(o.AllDeliveries, o.Arrived, o.Lost, o.Duplicated, o.Reordered, o.Forged, o.Foreign, o.Deliveries.Count())
		if should := fmt.Sprint(want.AllDeliveries, want.Arrived, want.Lost, want.Duplicated, want.Reordered, want.Forged, want.Foreign, want.Arrived); got != should {
			t.Fatalf("counted %s, want %s", got, should)
		}
	})
}
