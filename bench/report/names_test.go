package report

import (
	"strings"
	"testing"
)

// A threshold is refused before the run if no report could contain its number.
func TestUnknownThresholdsAreRefused(t *testing.T) {
	names := Names{Operations: []string{"help", "chat_ack", "upload_*"}, Figures: []string{"pairs_per_second"}}
	for metric, known := range map[string]bool{
		"p99": true, "lost": true, "deliveries_per_second": true, "server.rss": true, "generator.lag.p99": true, "last_recipient.p999": true,
		"recovery": true, "connections.open": true, "refused": true, "slowdown": true, "missing_connections": true,
		"operations.anything.latency.p99": true, "figures.anything.value": true, "audit.stalled.gaps": true, "disconnects.timeout": true,
		"help.p99": true, "chat ack.p50": true, "chat_ack.max": true, "upload_1_MiB.p99": true, "pairs_per_second": true,

		"p98": false, "P99": false, "": false, "server": false, "server.rss.p99": false, "valid": false, "about": false, "series.p99": false,
		"help": false, "help.p98": false, "help.latency.p99": false, "hlep.p99": false, "upload_1_MiB": false, "pairs_per_second.p99": false, "drops": false,
	} {
		err := names.Check([]Threshold{{text: metric + "<1", metric: metric}})
		if (err == nil) != known {
			t.Errorf("%q: the error is %v", metric, err)
		}
	}
	err := names.Check([]Threshold{must(t, "p99<1s"), must(t, "hlep.p99<1s"), must(t, "p98<2s")})
	if err == nil || !strings.Contains(err.Error(), "help.p99,") || !strings.Contains(err.Error(), `"hlep.p99<1s", "p98<2s":`) || strings.Contains(err.Error(), "p99<1s\", \"hlep") {
		t.Errorf("the error is %v, want one that names both unknown thresholds and the known numbers", err)
	}
}

// Numbers that the given flags exclude are also refused before the run, with the reason.
func TestThresholdsOnAbsentNumbersAreRefused(t *testing.T) {
	names := Names{Figures: []string{"cpu_per_million"}, Absent: map[string]string{"server": "give --pid", "cpu_per_million": "give --pid"}}
	for metric, known := range map[string]bool{"server.rss": false, "cpu_per_million": false, "p99": true, "generator.cpu": true} {
		err := names.Check([]Threshold{must(t, metric+"<1")})
		if (err == nil) != known || err != nil && !strings.Contains(err.Error(), "give --pid") {
			t.Errorf("threshold on %s: %v", metric, err)
		}
	}
}

func TestLacksReturnsTheFirstUnknownName(t *testing.T) {
	names := Names{Operations: []string{"help", "register"}, Figures: []string{"pairs_per_second", "bytes_*"}}
	r := sample()
	if name := names.Lacks(r); name != "" {
		t.Errorf("a known name is reported as unknown: %s", name)
	}
	r.Operations = append(r.Operations, Operation{Name: "chat ack"})
	if name := names.Lacks(r); name != "chat ack" {
		t.Errorf("the unknown name is %q, want chat ack", name)
	}
	r.Operations, r.Figures = nil, append(r.Figures, Figure{Key: "drops"})
	if name := names.Lacks(r); name != "drops" {
		t.Errorf("the unknown name is %q, want drops", name)
	}
}
