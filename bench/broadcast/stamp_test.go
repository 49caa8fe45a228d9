package broadcast

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAStampContainsItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := sealer(rapid.Uint64().Draw(t, "key"))
		due := time.Duration(rapid.Int64Range(0, int64(38*time.Hour/time.Microsecond)).Draw(t, "due")) * time.Microsecond
		seq := rapid.Uint64Range(0, 1<<50).Draw(t, "seq")
		stamp := key.seal(due, seq)
		if got := key.open(stamp, seq); got != due || stamp >= 1<<53 {
			t.Errorf("stamp %d is opened as %v, want %v", stamp, got, due)
		}
		if key.open(stamp^1, seq) != forged {
			t.Error("a stamp with another check is accepted")
		}
	})
}

// By chance, one changed stamp in 65,536 is accepted.
func TestChangedStampsAreDetected(t *testing.T) {
	const key = sealer(42)
	for name, change := range map[string]func(stamp, seq uint64) (sealer, uint64, uint64){
		"later":            func(stamp, seq uint64) (sealer, uint64, uint64) { return key, stamp + 1<<checkBits, seq },
		"a digit before":   func(stamp, seq uint64) (sealer, uint64, uint64) { return key, stamp + 9_000_000_000_000_000, seq },
		"another's":        func(stamp, seq uint64) (sealer, uint64, uint64) { return key, stamp, seq + 1 },
		"of another run":   func(stamp, seq uint64) (sealer, uint64, uint64) { return key + 1, stamp, seq },
		"plain and a time": func(stamp, seq uint64) (sealer, uint64, uint64) { return key, stamp >> checkBits, seq },
	} {
		passed := 0
		for i := range uint64(100_000) {
			k, stamp, seq := change(key.seal(time.Duration(i)*time.Millisecond, i), i)
			if k.open(stamp, seq) != forged {
				passed++
			}
		}
		if passed > 10 {
			t.Errorf("%s: %d changed stamps are accepted", name, passed)
		}
	}
}
