package service

import "testing"

// With 20,000 descriptors, one address can open 15,000 connections. This is enough for ten thousand
// attendees and the facilitators, and leaves some for other addresses.
func TestAHallBehindOneRouterCanConnect(t *testing.T) {
	for descriptors, most := range map[int]int{20_000: 15_000, 1024: 768} {
		if n := ofOneAddress(descriptors); n != most {
			t.Errorf("with %d descriptors, one address can open %d connections, want %d", descriptors, n, most)
		}
	}
}
