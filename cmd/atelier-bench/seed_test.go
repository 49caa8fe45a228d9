//go:build linux

package main

import (
	"strings"
	"testing"
)

// Both sides of a pair use the same seed, unless the scenario uses none or the command line has
// one.
func TestScenariosThatAcceptASeedGetOne(t *testing.T) {
	for args, want := range map[string]string{
		"fanout --rate 5":            "fanout --rate 5 --seed 7",
		"reconnect":                  "reconnect --seed 7",
		"workshop --attendees 3":     "workshop --attendees 3 --seed 7",
		"fanout --seed 3":            "fanout --seed 3",
		"fanout --seed=3 --rate 5":   "fanout --seed=3 --rate 5",
		"tokens --rate 5":            "tokens --rate 5",
		"no-such-scenario":           "no-such-scenario",
		"run reconnect-1000 --seed=": "",
		"run reconnect-1000":         " --seed 7",
	} {
		got, err := seeded(strings.Fields(args), "7")
		text := strings.Join(got, " ")
		switch {
		case err != nil:
			t.Errorf("seeding %s: %v", args, err)
		case strings.HasPrefix(args, "run "):
			if !strings.HasPrefix(text, "reconnect ") || strings.Contains(text, " 7") != (want != "") {
				t.Errorf("%s becomes %s", args, text)
			}
		case text != want:
			t.Errorf("%s becomes %s, want %s", args, text, want)
		}
	}
	if _, err := seeded([]string{"run", "no-such-profile"}, "7"); err == nil {
		t.Error("an unknown profile is accepted")
	}
}
