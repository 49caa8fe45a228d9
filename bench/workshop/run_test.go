//go:build linux

package workshop

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/bench/faults"
	"atelier/bench/report"
	"atelier/bench/server"
)

// TestMain lets the test binary act as a server that tests can kill and stop.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		go func() { <-asked; os.Exit(0) }()
		serveFake(os.Args[2:])
	}
	// fasthttp's cleaner of idle connections ends with the last connection, up to some seconds
	// after the client was closed. A test cannot wait for it.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"))
}

// forgetful is the environment variable that keeps the fake's state in memory. Writing all of it
// for every commit would be too slow for a latency test.
const forgetful = "ATELIER_FAKE_IN_MEMORY"

// serveFake accepts the flags that package server passes.
func serveFake(args []string) {
	flags := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		flags[args[i]] = args[i+1]
	}
	public, err := net.Listen("tcp", flags["--listen"])
	if err != nil {
		panic(err)
	}
	internal, err := net.Listen("tcp", flags["--internal-listen"])
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "level=INFO msg=listening addr=%s\nlevel=INFO msg=\"internal listening\" addr=%s\n", public.Addr(), internal.Addr())
	go func() { _ = http.Serve(internal, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
	file := flags["--data"]
	if os.Getenv(forgetful) != "" {
		file = ""
	}
	panic(http.Serve(public, newFake(file).handler()))
}

// small returns the configuration of a workshop of one second.
func small() *Config {
	return &Config{
		Attendees: 20, Facilitators: 2, Join: 100 * time.Millisecond, Warmup: 100 * time.Millisecond, Duration: time.Second,
		StepEvery: 500 * time.Millisecond, Chat: 50, Help: 10, Comments: 20, Drain: 5 * time.Second, Seed: 1,
	}
}

func hold(t *testing.T, ctx context.Context, cfg *Config, f *fake) *report.Result {
	t.Helper()
	srv := httptest.NewServer(f.handler())
	defer srv.Close()
	r, err := cfg.Run(ctx, &server.Target{URL: srv.URL, AdminID: "a", AdminPW: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(&report.Limits{}); err != nil {
		t.Fatal(err)
	}
	if name := Names.Lacks(r); name != "" {
		t.Errorf("%s is not available for thresholds", name)
	}
	return r
}

func TestACorrectServerPasses(t *testing.T) {
	cfg := small()
	cfg.Duration = 2 * time.Second
	r := hold(t, t.Context(), cfg, newFake(""))
	if code := r.ExitCode(); code != report.ExitPassed {
		t.Fatalf("the run ended with %d: %v %v, %+v", code, r.Verdict, r.Disconnects, r.Operations)
	}
	w := r.Audit.Writes
	if w["chat"].Acknowledged < 30 || w["comments"].Acknowledged < 8 || w["help"].Acknowledged < 4 || w["progress"].Acknowledged < 20 || w["registrations"].Acknowledged != 20 {
		t.Errorf("there were too few writes: %+v", w)
	}
	// The timeline contains exactly what was measured.
	timed, deliveries, open := int64(0), int64(0), 0
	for _, s := range r.Series {
		if s.Counts != nil {
			timed += s.Counts.Count()
		}
		deliveries += s.Deliveries
		open = max(open, s.Open)
	}
	if timed != r.Latency.Count || deliveries <= timed || open != 22 || r.Zero.Before(r.Started) {
		t.Errorf("%d of %d deliveries are timed in the timeline, %d in the report; at most %d were connected; from %v", timed, deliveries, r.Latency.Count, open, r.Zero)
	}
	// Each measured message is delivered to 20 attendees and 2 facilitators.
	if r.Latency.Count == 0 || r.Latency.Count%22 != 0 {
		t.Errorf("%d deliveries are timed, want a positive multiple of 22", r.Latency.Count)
	}
}

func TestFaultsOfAServerAreFound(t *testing.T) {
	// Only attendee 5 is affected, and only by chat messages whose seq ends in 0. The expected
	// result is therefore known exactly.
	for name, c := range map[string]struct {
		times int
		found func(*report.Audit) int
	}{
		"lost":    {0, func(a *report.Audit) int { return a.Missed }},
		"doubled": {2, func(a *report.Audit) int { return a.Duplicated }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake("")
			f.harm = func(seq uint64, kind string, attendee int) int {
				if kind == "chat" && attendee == 5 && seq%10 == 0 {
					return c.times
				}
				return 1
			}
			r := hold(t, t.Context(), small(), f)
			last := f.state.Seq
			want := 0
			for _, e := range f.state.Events {
				if e.Kind == "chat" && e.Seq%10 == 0 && e.Seq <= last {
					want++
				}
			}
			if got := c.found(&r.Audit); got != want || want == 0 || r.ExitCode() != report.ExitFailed {
				t.Errorf("found %d of %d faults, exit code %d, %v", got, want, r.ExitCode(), r.Verdict)
			}
		})
	}
}

func TestEventsForOthersAreFound(t *testing.T) {
	f := newFake("")
	f.harm = func(_ uint64, kind string, attendee int) int {
		if kind == "step_progress" && attendee == 5 {
			return 3 // leaked events
		}
		return 1
	}
	if r := hold(t, t.Context(), small(), f); r.Audit.Misdirected == 0 || r.ExitCode() != report.ExitFailed {
		t.Errorf("%d misdirected events, exit code %d", r.Audit.Misdirected, r.ExitCode())
	}
}

func TestForgottenWritesAreFound(t *testing.T) {
	f := newFake("")
	forgotten := 0
	f.forget = func(seq uint64) bool {
		if seq%7 == 0 {
			forgotten++
			return true
		}
		return false
	}
	r := hold(t, t.Context(), small(), f)
	if got := r.Audit.Writes["chat"].Lost; got != forgotten || got == 0 {
		t.Errorf("%d of %d forgotten messages found", got, forgotten)
	}
}

func TestInterruptedRunIsStillAudited(t *testing.T) {
	cfg := small()
	cfg.Duration = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Progress = func(s Snapshot) {
		if s.Phase == "load" {
			cancel()
		}
	}
	r := hold(t, ctx, cfg, newFake(""))
	if r.ExitCode() != report.ExitInterrupted || r.Audit.Writes["chat"].Acknowledged == 0 || r.Audit.Lost() != 0 {
		t.Errorf("exit code %d, %+v", r.ExitCode(), r.Audit)
	}
}

// spawn starts the fake as a process.
func spawn(t *testing.T) *server.Target {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := server.New(self)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &server.Target{URL: p.URL(), AdminID: p.AdminID, AdminPW: p.AdminPW, Process: p, Usage: p.Usage}
}

// A closed loop would send nothing during the pause, and report a perfect p99. The open model
// avoids this mistake.
func TestPauseOfTheServerShowsInTheTail(t *testing.T) {
	const pause = 200 * time.Millisecond
	t.Setenv(forgetful, "1")
	target := spawn(t)
	cfg := small()
	cfg.Chat, cfg.Duration = 100, 2500*time.Millisecond
	// The measured time has just begun, so it includes the whole pause.
	cfg.Beside = func(context.Context, *Live) {
		if err := target.Process.Pause(); err != nil {
			t.Error(err)
		}
		<-time.After(pause)
		if err := target.Process.Continue(); err != nil {
			t.Error(err)
		}
	}
	r, err := cfg.Run(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	// 8 % of the messages are due during the pause, the first of them nearly 200 ms before the end
	// of the pause.
	if r.Latency.P99 < 120 || r.Latency.Max < 170 || r.Latency.P50 >= r.Latency.P99 {
		t.Errorf("p50 %.1f, p99 %.1f, max %.1f ms", r.Latency.P50, r.Latency.P99, r.Latency.Max)
	}
	if r.Audit.Lost() != 0 {
		t.Errorf("%d messages were lost, want 0", r.Audit.Lost())
	}
}

func TestFaultsLoseNoAcknowledgedWrite(t *testing.T) {
	target := spawn(t)
	cfg := small()
	cfg.Duration, cfg.Pause = 3500*time.Millisecond, 100*time.Millisecond
	cfg.Faults = faults.Every(700*time.Millisecond, 2500*time.Millisecond, faults.Fault{Kind: faults.Kill}, faults.Fault{Kind: faults.Pause}, faults.Fault{Kind: faults.Restart})
	cfg.Churn, cfg.BurstEvery, cfg.Burst, cfg.FacilitatorReads = 5, time.Second, 3, 10
	r, err := cfg.Run(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(&report.Limits{}); err != nil {
		t.Fatal(err)
	}
	if r.ExitCode() != report.ExitPassed || len(r.Restarts) != 3 || r.Disconnects[errLeft.Error()] == 0 || !slices.ContainsFunc(r.Operations, func(o report.Operation) bool { return o.Name == "facilitator read" }) {
		t.Errorf("exit code %d, %d faults, %v, %+v", r.ExitCode(), len(r.Restarts), r.Verdict, r.Operations)
	}
	for i, k := range r.Restarts {
		if !k.AllResumed || k.Resumed < k.Ready {
			t.Errorf("fault %d is reported as %+v", i+1, k)
		}
	}
}

// If the server dies permanently, the measurements up to then are still reported.
func TestADeadServerStillLeavesAReport(t *testing.T) {
	t.Setenv(forgetful, "1")
	target := spawn(t)
	cfg := small()
	cfg.Duration, cfg.Drain = 4*time.Second, 200*time.Millisecond
	delivered := make(chan struct{})
	notify := sync.OnceFunc(func() { close(delivered) })
	cfg.Progress = func(s Snapshot) {
		if s.Chat.Count > 0 {
			notify()
		}
	}
	cfg.Beside = func(ctx context.Context, _ *Live) {
		select {
		case <-delivered:
			target.Process.Kill()
		case <-ctx.Done():
		}
	}
	r, err := cfg.Run(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(&report.Limits{}); err != nil {
		t.Fatal(err)
	}
	if r.Deliveries == 0 || r.ExitCode() != report.ExitFailed || !slices.ContainsFunc(r.Faults, func(f string) bool { return strings.Contains(f, "read back") }) {
		t.Errorf("the run ended with %d, %d deliveries, %q", r.ExitCode(), r.Deliveries, r.Verdict.Failures)
	}
}
