package cow_test

import (
	"fmt"
	"testing"

	"atelier/actors/cow"
)

// A value for a moment is computed once per variant and coding, however many callers request it.
// For another moment it is computed again.
func TestTheValueOfAMomentIsComputedOnce(t *testing.T) {
	var e cow.Encoded
	made := 0
	get := func(slot, coding int, at int64) string {
		b, err := e.GetAt(slot, coding, at, func() ([]byte, error) {
			made++
			return fmt.Append(nil, slot, coding, at), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := 0
	for _, at := range []int64{7, 8, 7} {
		for slot := range 3 {
			for coding := range 3 {
				want++
				for range 3 {
					if got := get(slot, coding, at); got != fmt.Sprint(slot, coding, at) || made != want {
						t.Errorf("slot %d, coding %d at %d: %q, computed %d times, want %d", slot, coding, at, got, made, want)
					}
				}
			}
		}
	}
}
