package naming

import (
	"math/rand/v2"
	"testing"
)

// The fast path of Key returns the same as the general one.
func TestTheFastPathOfKeyEqualsTheGeneralOne(t *testing.T) {
	const letters = "aZ bQ  9-_.,'\"\t\n\x00\x1f\x7f~ É"
	short := 0
	for range 20_000 {
		name := ""
		for range rand.IntN(8) {
			i := rand.IntN(len(letters))
			name += letters[i : i+1]
		}
		if plain(name) {
			short++
		}
		if got, want := Key(name), folded(name); got != want {
			t.Fatalf("Key(%q) = %q, want %q", name, got, want)
		}
	}
	if short < 1000 {
		t.Errorf("only %d names took the fast path", short)
	}
}
