package report

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// several returns a run on two nodes. One node was killed.
func several() *Result {
	r := sample()
	r.Nodes = []Node{{Name: "n1", CPU: 0.5, RSS: 64 << 20, Deliveries: 1000, CPUPerMillion: 9.5, Sent: 300, Bytes: 6000}, {Name: "n2", CPU: 0.25}}
	r.Series[1].Nodes = []NodeSample{{CPU: 0.5, RSS: 7}, {CPU: 0.25, RSS: 8}}
	r.Series[1].Fault = "kill:1"
	r.Restarts = []Restart{{Fault: "kill", What: "kill:1", Nodes: []string{"n1"}, AllResumed: true, Recovery: 2900, Recovered: true, Repeated: 3, Failed: 2, FailedBy: map[string]int{"comment": 1, "help": 1}}}
	return r
}

func TestEachNodeHasItsColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "csv")
	if err := several().WriteCSV(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := func(row []string) []string { return row[len(row)-5:] }
	for i, want := range [][]string{
		{"fault", "n1_cores", "n1_rss_bytes", "n2_cores", "n2_rss_bytes"},
		{"", "", "", "", ""},
		{"kill:1", "0.500", "7", "0.250", "8"},
	} {
		if got := last(rows[i]); !slices.Equal(got, want) {
			t.Errorf("row %d ends with %q, want %q", i, got, want)
		}
	}
}

// The report of a run with faults has a column for them, even with a single server. The report of a
// run without faults does not.
func TestFaultsOfASingleServerHaveAColumn(t *testing.T) {
	for fault, want := range map[string]string{"": ",generator_cores\n", "kill": ",generator_cores,fault\n"} {
		r := &Result{Series: []Sample{{Second: 0}, {Second: 1, Fault: fault}}}
		path := filepath.Join(t.TempDir(), "csv")
		if err := r.WriteCSV(path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), want) || !strings.HasSuffix(string(b), ","+fault+"\n") {
			t.Errorf("fault %q: %v, the file is %q", fault, err, b)
		}
	}
}

func TestAFaultIsInTheTextReport(t *testing.T) {
	var text bytes.Buffer
	if err := several().Text(&text, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"kill:1: ready after", "p99 under 250 ms after 2900 ms; 3 requests repeated, 2 failed: comment 1, help 1",
		"1,000 deliveries, 9.50 s of CPU time per million; 300 messages to other nodes (6,000 bytes)", "1.00 messages and 20 bytes for each message of the load",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text report lacks %q:\n%s", want, text.String())
		}
	}
}

// If a fault still affected latency at the end, no recovery time meets a threshold.
func TestASlowOrMissingRecoveryFailsItsThreshold(t *testing.T) {
	for name, c := range map[string]struct {
		faults    []Restart
		threshold string
		code      int
	}{
		"in time":           {[]Restart{{Recovery: 100, Recovered: true}, {Recovery: 4900, Recovered: true}}, "recovery<5s", ExitPassed},
		"too late":          {[]Restart{{Recovery: 5100, Recovered: true}, {Recovery: 100, Recovered: true}}, "recovery<5s", ExitFailed},
		"never":             {[]Restart{{Recovery: 900}}, "recovery<5s", ExitFailed},
		"not measured":      {[]Restart{{Recovery: 100, Recovered: true}, {}}, "recovery<5s", ExitFailed},
		"no threshold":      {[]Restart{{Recovery: 900}}, "lost==0", ExitPassed},
		"never, and counts": {[]Restart{{Recovery: 900}}, "unrecovered==0", ExitFailed},
	} {
		r := &Result{Scenario: "chaos", Restarts: c.faults}
		for i := range r.Restarts {
			r.Restarts[i].AllResumed = true
		}
		judge(t, r, &Limits{Thresholds: []Threshold{must(t, c.threshold)}})
		if got := r.ExitCode(); got != c.code {
			t.Errorf("%s: the exit code is %d, want %d: %q", name, got, c.code, r.Verdict.Failures)
		}
	}
}
