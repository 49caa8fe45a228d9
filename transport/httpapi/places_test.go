package httpapi

import "testing"

func TestPlaces(t *testing.T) {
	p := NewPlaces(3, 2)
	enter := func(key string, want bool) func() {
		t.Helper()
		leave, ok := p.Enter(key)
		if ok != want {
			t.Fatalf("Enter(%q) returned %v", key, ok)
		}
		return leave
	}
	first := enter("a", true)
	enter("a", true)
	enter("a", false)
	b := enter("b", true)
	enter("c", false) // all places are taken
	first()
	enter("a", true)
	b()
	enter("a", false)
	last := enter("c", true)
	last()
	if len(p.held) != 1 || p.n != 2 {
		t.Errorf("the held places are %v, %d in all, want 2 under the same key", p.held, p.n)
	}
}
