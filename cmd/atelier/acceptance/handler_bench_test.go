//go:build linux

package acceptance

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/tokens"
)

// The load test runs against the real server. Its report passes, and does not contain any secret
// that it used.
func TestTheTokenLoadTestPassesWithoutSecretsInItsReport(t *testing.T) {
	t.Parallel()
	for rate, d := range map[float64]time.Duration{200: time.Second, 0: 5 * time.Second} { // without a rate, a paused process starts no pairs
		// Several nodes share the limit of each participant, and one of them gets all requests. Thirty-two
		// participants are permitted more requests than eight connections can send.
		cfg := &tokens.Config{Rate: rate, Connections: 8, Duration: d, Warmup: 50 * time.Millisecond, Reuse: 20, Participants: 32}
		r, err := cfg.Run(t.Context(), &server.Target{URL: "http://" + common.get(t).Addr(), AdminID: adminID, AdminPW: adminPW})
		if err != nil {
			t.Fatal(err)
		}
		enough, err := report.ParseThreshold("pairs_per_second>=1")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Judge(&report.Limits{Thresholds: []report.Threshold{enough}, AllowLag: true}); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Text(&b, report.Style{}); err != nil || r.ExitCode() != report.ExitPassed {
			t.Errorf("the report did not pass: %v\n%s", err, b.String())
		}
		for _, mark := range []string{"tok_", "ak_", "4000000"} {
			if strings.Contains(b.String(), mark) {
				t.Errorf("the report contains %s", mark)
			}
		}
	}
}
