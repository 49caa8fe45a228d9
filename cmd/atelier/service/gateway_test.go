package service

import "testing"

// TestAHallBehindOneRouterGetsIn: ten thousand attendees and the facilitators, with the
// usual number of descriptors, and with room for others.
func TestAHallBehindOneRouterGetsIn(t *testing.T) {
	for descriptors, most := range map[int]int{20_000: 15_000, 1024: 768} {
		if n := ofOneAddress(descriptors); n != most {
			t.Errorf("of %d descriptors an address has %d, want %d", descriptors, n, most)
		}
	}
}
