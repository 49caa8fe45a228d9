package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/bench/audit"
	"atelier/bench/latency"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is a run with something in every place.
func sample() *Result {
	return &Result{
		Scenario: "workshop", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Command: []string{"atelier-bench", "workshop"},
		Versions: map[string]string{"go": "go1.26"}, Seed: 42,
		Attendees: 1000, Facilitators: 2, Joined: 1000, Warmup: 2, Duration: 30.004,
		Chat: latency.Summary{Count: 300000, P50: 6.02, P90: 9.84, P99: 17.89, P999: 42.43, Max: 47.9}, DeliveriesPerSecond: 9920,
		Events: 340094, Acked: 2965,
		Operations: []Operation{
			{Name: "register", Latency: latency.Summary{Count: 1000, P50: 1.94, P90: 3.31, P99: 9.33, P999: 9.92, Max: 10.41}, Done: 1000},
			{Name: "help", Latency: latency.Summary{Count: 29, P50: 1.92, P90: 2.38, P99: 4.89, P999: 4.89, Max: 4.89}, Done: 30, Refused: 1, Unanswered: 2, Complaint: "status 500: oops"},
		},
		Audit: Audit{Stalled: Stalled{People: 50, Closed: 48, Resynced: 40, CaughtUp: 10}, Writes: map[string]audit.Writes{
			"chat": {Acknowledged: 300}, "comments": {Acknowledged: 30, Unanswered: 2, UnansweredApplied: 1},
		}},
		Disconnects: map[string]int{"close 1013": 48},
		Restarts:    []Restart{{Ready: 90.6, Resumed: 638.7, AllResumed: true}, {Ready: 70, Resumed: 60000}},
		Generator: Generator{
			Lag: latency.Summary{Count: 2896, P50: 0.67, P90: 1.08, P99: 2.6, P999: 4.39, Max: 9.74},
			CPU: 0.07, Busy: 0.05, Seconds: 30.004,
		},
		Server: &Server{CPU: 0.12, RSS: 82 << 20, PeakRSS: 83 << 20},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./bench/report -update writes it anew. Got:\n%s", name, got)
	}
}

func TestReportForPeople(t *testing.T) {
	for name, colour := range map[string]bool{"report.txt": false, "report-colour.txt": true} {
		r := sample()
		r.Judge(&Thresholds{MaxLag: 10 * time.Millisecond})
		var b bytes.Buffer
		if err := r.Text(&b, Style{Colour: colour}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestReportForMachines(t *testing.T) {
	r := sample()
	r.Judge(&Thresholds{})
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", b)
}

// These names are what scripts of others read.
func TestKeysThatScriptsRead(t *testing.T) {
	r := sample()
	r.Audit.Missed, r.Audit.Duplicated, r.Audit.Reordered = 1, 2, 3
	r.Judge(&Thresholds{})
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"lost": 1.0, "duplicated": 2.0, "reordered": 3.0, "p50": 6.02, "p90": 9.84, "p99": 17.89, "p999": 42.43, "max": 47.9,
		"deliveries": 300000.0, "deliveries_per_second": 9920.0, "attendees": 1000.0, "acked": 2965.0, "resyncs": 0.0, "kills": 2.0, "valid": true, "seed": 42.0,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	generator, _ := got["generator"].(map[string]any)
	if generator["lag"] == nil || generator["cpu"] != 0.07 {
		t.Errorf("generator is %v", generator)
	}
}

func TestVerdicts(t *testing.T) {
	thresholds := Thresholds{MaxP99: 100 * time.Millisecond, MaxP999: 200 * time.Millisecond, MaxLag: 10 * time.Millisecond}
	passing := func() *Result {
		r := sample()
		r.Operations, r.Restarts = nil, nil
		return r
	}
	for name, c := range map[string]struct {
		harm func(*Result, *Thresholds)
		code int
		says string
	}{
		"nothing":        {func(*Result, *Thresholds) {}, ExitPassed, ""},
		"missed event":   {func(r *Result, _ *Thresholds) { r.Audit.Missed = 1 }, ExitFailed, "1 lost"},
		"lost write":     {func(r *Result, _ *Thresholds) { r.Audit.Writes["chat"] = audit.Writes{Lost: 2} }, ExitFailed, "2 lost"},
		"allowed loss":   {func(r *Result, t *Thresholds) { r.Audit.Missed, t.MaxLost = 3, 3 }, ExitPassed, ""},
		"unpublished":    {func(r *Result, _ *Thresholds) { r.Audit.Unpublished = 1 }, ExitFailed, "1 lost"},
		"doubled write":  {func(r *Result, _ *Thresholds) { r.Audit.Writes["chat"] = audit.Writes{Doubled: 1} }, ExitFailed, "1 duplicated"},
		"reordered":      {func(r *Result, _ *Thresholds) { r.Audit.Reordered = 1 }, ExitFailed, "1 reordered"},
		"leak":           {func(r *Result, _ *Thresholds) { r.Audit.Misdirected = 1 }, ExitFailed, "not for"},
		"phantom":        {func(r *Result, _ *Thresholds) { r.Audit.Writes["help"] = audit.Writes{Phantom: 1} }, ExitFailed, "applied all the same"},
		"resync":         {func(r *Result, _ *Thresholds) { r.Audit.Resyncs = 1 }, ExitFailed, "1 resyncs"},
		"missing people": {func(r *Result, _ *Thresholds) { r.Joined = 999 }, ExitFailed, "999 of 1000"},
		"slow":           {func(r *Result, _ *Thresholds) { r.Chat.P99 = 101 }, ExitFailed, "p99 is 101.0 ms"},
		"slow tail":      {func(r *Result, _ *Thresholds) { r.Chat.P999 = 201 }, ExitFailed, "p99.9 is 201.0 ms"},
		"refusal":        {func(r *Result, _ *Thresholds) { r.Operations = []Operation{{Refused: 1}} }, ExitFailed, "1 operations refused"},
		"no answer":      {func(r *Result, _ *Thresholds) { r.Operations = []Operation{{Unanswered: 1}} }, ExitFailed, "unanswered"},
		"answer of a kill": {func(r *Result, _ *Thresholds) {
			r.Restarts, r.Operations = []Restart{{AllResumed: true}}, []Operation{{Unanswered: 1}}
		}, ExitPassed, ""},
		"not resumed":    {func(r *Result, _ *Thresholds) { r.Restarts = []Restart{{}} }, ExitFailed, "after kill 1"},
		"late generator": {func(r *Result, _ *Thresholds) { r.Generator.Lag.P99 = 11 }, ExitInvalid, "was late"},
		"allowed lag":    {func(r *Result, t *Thresholds) { r.Generator.Lag.P99, t.AllowLag = 11, true }, ExitPassed, ""},
		"shed":           {func(r *Result, _ *Thresholds) { r.Generator.Shed = 5 }, ExitInvalid, "5 planned operations"},
		"late and lossy": {func(r *Result, _ *Thresholds) { r.Generator.Lag.P99, r.Audit.Missed = 11, 1 }, ExitFailed, "1 lost"},
		"interrupted":    {func(r *Result, _ *Thresholds) { r.Interrupted, r.Joined = true, 5 }, ExitInterrupted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, limits := passing(), thresholds
			c.harm(r, &limits)
			r.Judge(&limits)
			if got := r.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			said := strings.Join(slices.Concat(r.Verdict.Failures, r.Verdict.Invalid), "\n")
			if !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("says %q, want %q", said, c.says)
			}
		})
	}
}
