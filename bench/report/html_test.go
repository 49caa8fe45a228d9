package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// drawn returns the page of a run, and the data of the page's plots.
func drawn(t *testing.T, r *Result) (string, map[string]any) {
	t.Helper()
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(page, []byte("const measured = "))
	var data map[string]any
	if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&data); err != nil {
		t.Fatal(err)
	}
	return string(page), data
}

// A line has a gap where nothing was measured. It does not drop in seconds in which the load began
// or ended.
func TestPlotsHaveGapsWithoutMeasurements(t *testing.T) {
	counts := histogram(5)
	r := &Result{Scenario: "fanout", Warmup: 1, Duration: 2, Seed: 42, Messages: 1234, Series: []Sample{
		{Second: -1.3, Phase: "connecting", Open: 5},
		{Second: -0.3, Phase: "warm-up", Deliveries: 70, Open: 9},
		{Second: 0.7, Phase: "warm-up", Deliveries: 100, P99: 5, Counts: counts, CPU: 0.5, Generator: 0.1, RSS: 3 << 20},
		{Second: 1.7, Phase: "load", Deliveries: 90, P99: 6, Counts: counts, Generator: 0.1, Fault: "kill:1"},
		{Second: 2.7, Phase: "load", Deliveries: 30, P99: 7, Counts: counts, CPU: 0.3, Generator: 0.1, RSS: 4 << 20},
	}}
	page, data := drawn(t, r)
	for name, want := range map[string]any{
		"rate": []any{nil, nil, 100.0, 90.0, nil}, "p99": []any{nil, nil, 5.0, 6.0, 7.0}, "cpu": []any{nil, nil, 0.5, nil, 0.3}, "rss": []any{nil, nil, 3.0, nil, 4.0},
		"warmup": 1.0, "faults": []any{map[string]any{"second": 1.7, "what": "kill:1"}},
	} {
		if !reflect.DeepEqual(data[name], want) {
			t.Errorf("%s is %v, want %v", name, data[name], want)
		}
	}
	for _, want := range []string{"seed 42", "<dt>messages</dt><dd>1,234", "faults injected into the servers"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// The command on a page can be copied into a shell.
func TestTheCommandIsQuoted(t *testing.T) {
	for want, args := range map[string][]string{
		"atelier-bench fanout --url=ws://h/ws":                   {"atelier-bench", "fanout", "--url=ws://h/ws"},
		`atelier-bench --threshold 'p99<50ms' --send '{"a": 1}'`: {"atelier-bench", "--threshold", "p99<50ms", "--send", `{"a": 1}`},
		`x 'it'\''s' ''`: {"x", "it's", ""},
	} {
		if got := quoted(args); got != want {
			t.Errorf("the command is %q, want %q", got, want)
		}
	}
}
