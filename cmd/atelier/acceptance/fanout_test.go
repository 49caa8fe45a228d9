//go:build linux

package acceptance

import (
	"strings"
	"testing"
	"time"

	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/rest"
	"atelier/bench/server"
)

// The test runs the scenarios with many listeners in their smallest form. Every message reaches
// every client once and in order, even clients that were disconnected for a while.
func TestFanOutScenariosDeliverEveryMessage(t *testing.T) {
	t.Parallel()
	conf := testConfig(t)
	conf.Limits.MessagesPerSecond, conf.Limits.MessageBurst = 1_000_000, 1_000_000
	addr := startServer(t, conf).Addr()
	target := &server.Target{URL: "http://" + addr, AdminID: adminID, AdminPW: adminPW}
	for name, change := range map[string]func(*fanout.Config){
		"fanout":    func(*fanout.Config) {},
		"window":    func(c *fanout.Config) { c.Rate, c.Window, c.Publishers = 0, 2, 3 },
		"stages":    func(c *fanout.Config) { c.Stages = fanout.Stages{{During: time.Second, Rate: 10}, {Rate: 20}} },
		"idle":      func(c *fanout.Config) { c.Publishers = 0 },
		"reconnect": func(c *fanout.Config) { c.DropEvery, c.Spread = 500*time.Millisecond, 100*time.Millisecond },
		"slow":      func(c *fanout.Config) { c.Stalled, c.Part = 2, time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := &fanout.Config{
				Scenario: name, Subscribers: 20, Publishing: fanout.Publishing{Publishers: 2, Rate: 30, Warmup: 100 * time.Millisecond}, Duration: 2 * time.Second, Drain: testTimeout, Seed: 1,
				Prepare: fanout.Atelier(target, server.Trust{}, 100), Target: target,
			}
			change(cfg)
			r, err := cfg.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Judge(&report.Limits{AllowLag: true}); err != nil {
				t.Fatal(err)
			}
			if r.ExitCode() != report.ExitPassed {
				t.Errorf("the run did not pass: %+v\n%+v\n%v", r.Verdict, r.Audit, r.Disconnects)
			}
			least := int64(10)
			if cfg.Rate == 0 {
				least = 1 // each message is sent after the delivery of an earlier one, which takes a busy machine longer
			}
			if readers := int64(cfg.Subscribers - cfg.Stalled); cfg.Publishers > 0 && (r.Messages < least || r.Deliveries != readers*r.Messages || r.Last == nil) {
				t.Errorf("the report has %d messages, %d deliveries, or no last message", r.Messages, r.Deliveries)
			}
			// On a busy machine, several lost connections of a client can end in a single resume.
			if name == "reconnect" && operation(r, "resume").Done < cfg.Subscribers {
				t.Errorf("%d clients resumed", operation(r, "resume").Done)
			}
			if name == "slow" && r.Audit.Stalled.CaughtUp+r.Audit.Stalled.Resynced != 2 {
				t.Errorf("the stalled clients are %+v, want 2 that caught up or resynced", r.Audit.Stalled)
			}
			if len(r.Series) < 2 || operation(r, "connect").Done != cfg.Subscribers+cfg.Publishers {
				t.Errorf("the report covers %d seconds, and its connect operation is %+v", len(r.Series), operation(r, "connect"))
			}
		})
	}
}

// The REST scenario counts its requests, and finds everything that it wrote.
func TestTheRESTScenarioFindsAllItsWrites(t *testing.T) {
	t.Parallel()
	conf := testConfig(t)
	conf.Limits.WritesPerMinute = 1_000_000
	target := &server.Target{URL: "http://" + startServer(t, conf).Addr(), AdminID: adminID, AdminPW: adminPW}
	base := rest.Config{Attendees: 5, Read: rest.Readable, Write: rest.Writable, Duration: time.Second, Seed: 7,
		// Progress runs in a separate goroutine.
		Progress: func(string, time.Duration, float64, int64, float64) {}}
	timed, counted := base, base
	timed.ReadConnections, timed.ReadRate, timed.WriteConnections, timed.WriteRate = 4, 100, 4, 60
	counted.ReadConnections, counted.Reads, counted.WriteConnections, counted.Writes = 5, 100, 3, 60
	for name, cfg := range map[string]*rest.Config{"timed": &timed, "counted": &counted} {
		r, err := cfg.Run(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Judge(&report.Limits{AllowLag: true}); err != nil {
			t.Fatal(err)
		}
		reads, writes := 0, 0
		for _, op := range r.Operations {
			if strings.HasPrefix(op.Name, "read ") {
				reads += op.Done
			} else {
				writes += op.Done
			}
		}
		if r.ExitCode() != report.ExitPassed || reads != 100 || writes != 60 || r.Latency.Count != 160 || r.Audit.Writes["chat"].Acknowledged != 20 {
			t.Errorf("%s: %d reads, %d writes, %+v, %+v", name, reads, writes, r.Verdict, r.Audit.Writes)
		}
	}
}

func operation(r *report.Result, name string) report.Operation {
	for _, op := range r.Operations {
		if op.Name == name {
			return op
		}
	}
	return report.Operation{}
}
