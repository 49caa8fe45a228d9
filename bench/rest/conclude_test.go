package rest

import "testing"

// A message that a codelab has dropped as documented is not a loss. A missing message among the
// kept messages is a loss.
func TestDroppedMessagesAreNotLost(t *testing.T) {
	found := make([]int, keptMessages+30_000)
	for i := 30_000; i < len(found); i++ {
		found[i] = 1
	}
	if got := keptFrom(found, 64); got != 30_064 {
		t.Errorf("the kept messages begin at %d, want 30,064", got)
	}
	found[100_000] = 0
	if got := keptFrom(found, 64); got != 0 {
		t.Errorf("with fewer messages than are kept, the kept ones begin at %d, want 0", got)
	}
	if got := keptFrom(found[:50_000], 64); got != 0 {
		t.Errorf("with few messages, the kept ones begin at %d, want 0", got)
	}
}
