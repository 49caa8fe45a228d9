package main

import (
	"strings"
	"testing"
)

// If a truncated secret were accepted, it would seal everything, but no node would have it.
func TestTheClusterSecretIsNotTruncated(t *testing.T) {
	good := strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct{ in, want, wrong string }{
		"a line":        {good + "\n", good, ""},
		"the longest":   {strings.Repeat(good, maxSecret/len(good)), strings.Repeat(good, maxSecret/len(good)), ""},
		"too long":      {strings.Repeat(good, maxSecret/len(good)) + "!", "", "more than 4096 bytes"},
		"nothing":       {"", "", "at least"},
		"one character": {strings.Repeat("a", 64), "", "at least"},
	} {
		got, err := readSecret(strings.NewReader(c.in))
		if c.wrong == "" && (err != nil || got != c.want) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "0123456789abcdef")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
