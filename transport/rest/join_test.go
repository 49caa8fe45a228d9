package rest

import "testing"

// People type a code that they read from a poster or a screen, so its exact spelling does not
// matter.
func TestJoinCodesIgnoreCaseSpacesAndDashes(t *testing.T) {
	for typed, want := range map[string]string{
		"abc-234": "ABC234", " AB C2\u00a034 ": "ABC234", "AB\u2013C2\u20143\u22124": "ABC234", "": "", "-- ": "", "äbc234": "ÄBC234",
	} {
		if got := joinCode(typed); got != want {
			t.Errorf("joinCode(%q) = %q, want %q", typed, got, want)
		}
	}
}
