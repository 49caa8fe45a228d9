package report

import (
	"strings"
	"testing"
)

// The report has some times in seconds, and all others in milliseconds.
func TestUnitsOfThresholds(t *testing.T) {
	for text, c := range map[string]struct {
		value float64
		holds bool
		shown string
	}{
		"p99<50ms":                {49, true, "49 ms"},
		"p99<0.05s":               {51, false, "0.051 s"},
		"cpu_per_million<0.5s":    {0.4, true, "0.4 s"},
		"cpu_per_million<500ms":   {0.6, false, "600 ms"},
		"nodes.cpu_per_million<1": {0.4, true, "0.4"},
		"server.rss<100MB":        {99e6, true, "99 MB"},
		"generator.busy<=80%":     {0.81, false, "81%"},
	} {
		got, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.holds(c.value) != c.holds || got.format(c.value) != c.shown {
			t.Errorf("%s with %v: holds %v, shown as %q", text, c.value, got.holds(c.value), got.format(c.value))
		}
	}
	for text, want := range map[string]string{"p99<50MB": "is a time", "chat.p50>1%": "is a time", "p99<5parsecs": "unknown unit"} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}
