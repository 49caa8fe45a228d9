//go:build linux

package acceptance

import (
	"testing"
	"time"

	"atelier/bench/beside"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// The uploads scenario runs in its smallest form. Every upload is accepted, and a workshop that
// runs at the same time loses no message.
func TestTheUploadsScenarioPasses(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	addr := startServer(t, cfg).Addr()
	scenario := &beside.Uploads{
		Phase: 300 * time.Millisecond, Settle: 20 * time.Millisecond, Small: 20, Large: 10, SmallBytes: 1 << 16, LargeBytes: 1 << 20, AtOnce: 32,
		Config: workshop.Config{
			Attendees: 20, Facilitators: 1, Join: 100 * time.Millisecond, Duration: 1200 * time.Millisecond,
			StepEvery: time.Second, Chat: 50, Drain: testTimeout, Seed: 1,
		},
	}
	result, err := scenario.Run(t.Context(), &server.Target{URL: "http://" + addr, AdminID: adminID, AdminPW: adminPW, Usage: func() (server.Usage, error) {
		return server.Usage{RSS: 1 << 20}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Judge(&report.Limits{AllowLag: true}); err != nil {
		t.Fatal(err)
	}
	if result.ExitCode() != report.ExitPassed {
		t.Errorf("the verdict is %v, %+v", result.Verdict, result.Operations)
	}
	done := 0
	for _, op := range result.Operations {
		if op.Name == "upload 1 MiB" || op.Name == "upload 65536 bytes" {
			done += op.Done
		}
	}
	if done < 15 || result.Parts[0].Latency.Count == 0 || result.Parts[1].Latency.Count == 0 {
		t.Errorf("%d uploads were done, the parts are %+v", done, result.Parts)
	}
}
