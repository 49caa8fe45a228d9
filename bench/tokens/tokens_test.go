//go:build linux

package tokens

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"atelier/bench/latency"
	"atelier/bench/pacing"
)

func TestEveryPairHasItsOwnCard(t *testing.T) {
	seen := map[string]bool{}
	for _, pair := range []int64{0, 1, 9, 10, 11, 99, 1_000_000, 99_999_999_999_999} {
		n := string(appendNumber(nil, pair))
		if len(n) != 16 || seen[n] {
			t.Errorf("card number %s has the wrong length or is used twice", n)
		}
		seen[n] = true
		sum := 0
		for i := range n {
			d := int(n[15-i] - '0')
			if i%2 == 1 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		if sum%10 != 0 {
			t.Errorf("%s fails its check digit", n)
		}
	}
	if !json.Valid(credential(nil, 7)) {
		t.Error("the credential is not JSON")
	}
}

func TestContestedTokensAreSpreadEvenly(t *testing.T) {
	for _, share := range []float64{0, 0.01, 0.5, 1} {
		r := &run{cfg: &Config{Reuse: 100 * share}}
		n := 0
		for pair := range int64(1000) {
			if r.contested(pair) {
				n++
			}
		}
		if n != int(1000*share) {
			t.Errorf("share %v: %d of 1000 tokens are contested", share, n)
		}
	}
}

// Lateness during the warm-up does not count for the measurement.
func TestTheLagExcludesTheWarmUp(t *testing.T) {
	w := &worker{r: &run{clock: pacing.NewClock()}, lag: latency.New()}
	for _, due := range []time.Duration{-2 * time.Second, -time.Second - 1, -time.Second, 0} {
		w.late(due, -time.Second)
	}
	if n := w.lag.Count(); n != 2 || w.lag.Max() > 1900*time.Millisecond {
		t.Errorf("%d delays are recorded, up to %v", n, w.lag.Max())
	}
}

// Each kind of broken promise is reported separately.
func TestBrokenGuaranteesAreReported(t *testing.T) {
	if got := broken(0, 0, 0); len(got) > 0 {
		t.Errorf("without failures, the report has %q", got)
	}
	if got := broken(1, 2, 3); len(got) != 3 || !strings.HasPrefix(got[0], "1 token that gave") || !strings.HasPrefix(got[2], "3 credentials") {
		t.Errorf("the failures are %q", got)
	}
}
