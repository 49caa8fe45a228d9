//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/bench/audit"
	"atelier/bench/nodes"
)

// Two nodes run a workshop, and one of them is killed. Every acknowledged write is stored once. The
// test does not limit how long the recovery takes.
func TestAWorkshopSurvivesTheLossOfANode(t *testing.T) {
	long(t, "bench/workshop proves what is counted after a fault")
	binary, out := serverForNodes(t), filepath.Join(t.TempDir(), "report.json")
	code := run([]string{
		"workshop", "--spawn", "--server", binary, "--nodes", "2", "--attendees", "20", "--join", "1s", "--warmup", "500ms", "--duration", "6s",
		"--step-every", "2s", "--help-rate", "2", "--comments", "2", "--churn", "2", "--kill-node", "2500ms", "--allow-lag", "--json", out,
	})
	r := survived(t, code, out)
	if len(r.Nodes) != 2 || r.Nodes[1].Name != "n2" || len(r.Restarts) == 0 || r.Restarts[0].What != "kill:1" || !r.Restarts[0].AllResumed {
		t.Errorf("the nodes are %+v, the restarts %+v", r.Nodes, r.Restarts)
	}
}

// While a workshop runs, three nodes are replaced one by one by the next patch version, and then by
// the first version again.
func TestARollingUpdateLosesNothing(t *testing.T) {
	long(t, "bench/faults and TestAWorkshopSurvivesTheLossOfANode prove its parts")
	now, next := serverOf(t, "1.0.1"), serverOf(t, "1.0.2")
	out := filepath.Join(t.TempDir(), "report.json")
	code := run([]string{
		"chaos", "--spawn", "--server", now, "--upgrade-to", next, "--nodes", "3", "--attendees", "20", "--join", "1s", "--warmup", "500ms",
		"--stages", "12s@upgrade,12s@upgrade", "--step-every", "2s", "--help-rate", "2", "--comments", "2", "--allow-lag", "--json", out,
	})
	r := survived(t, code, out)
	if len(r.Restarts) != 2 || r.Restarts[0].What != "upgrade" || !r.Restarts[0].AllResumed || !r.Restarts[1].AllResumed {
		t.Errorf("the restarts are %+v", r.Restarts)
	}
}

// workshopReport is a part of the report of a workshop.
type workshopReport struct {
	Joined, Lost, Duplicated, Reordered int
	Failures                            []string
	Nodes                               []struct{ Name string }
	Restarts                            []struct {
		What       string
		AllResumed bool `json:"all_resumed"`
	}
	Audit struct {
		Writes map[string]audit.Writes
	}
}

// survived reads the report of a workshop of 20 people, and verifies that nothing was lost.
func survived(t *testing.T, code int, path string) (r workshopReport) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 || r.Joined != 20 || r.Lost+r.Duplicated+r.Reordered > 0 || r.Audit.Writes["chat"].Acknowledged == 0 {
		t.Errorf("the run ended with %d: %+v", code, r)
	}
	return r
}

// serverForNodes builds the server. See serverOf.
func serverForNodes(t *testing.T) string { return serverOf(t, "") }

// serverOf builds a version of the server. Without the programs of PostgreSQL, it skips the test,
// or fails it if NEED_PROGRAMS is set.
func serverOf(t *testing.T, version string) string {
	t.Helper()
	if _, err := nodes.Programs(); err != nil {
		if os.Getenv("NEED_PROGRAMS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	binary := filepath.Join(t.TempDir(), "atelier")
	if b, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X atelier/cmd/internal/process.version="+version, "-o", binary, "atelier/cmd/atelier").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, b)
	}
	return binary
}

// The user of a demo kills a node and starts it again. Meanwhile the other node responds, and
// people continue to work.
func TestADemoSurvivesTheLossOfANode(t *testing.T) {
	t.Parallel()
	d, err := startNodes(t.Context(), serverForNodes(t), "", 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	first := d.cluster.Processes[0]
	workshop, err := prepareDemo(demoTarget{d.balancer.URL(), first.AdminID, first.AdminPW})
	if err != nil {
		t.Fatal(err)
	}
	if err := workshop.rehearse(ctx, 5); err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	out, shown := io.Pipe()
	d.out, d.screen = shown, false
	var running sync.WaitGroup
	running.Go(func() {
		d.run(ctx, in)
		_ = shown.Close()
	})
	running.Go(func() { workshop.keep(ctx, 5) })
	lines := bufio.NewScanner(out)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			// The state is followed by the number of the node's connections.
			if strings.HasPrefix(strings.Join(strings.Fields(lines.Text()), " "), want+" ") {
				return
			}
		}
		t.Fatalf("%q was not shown", want)
	}
	// The output must be read to its end. Otherwise the program would block.
	for _, step := range []struct{ typed, shown string }{{"", "2 up"}, {"7", ""}, {"no", ""}, {"1", "1 killed"}, {"1", "1 up"}} {
		if step.typed != "" {
			go func() { _, _ = io.WriteString(typed, step.typed+"\n") }()
		}
		if step.shown != "" {
			until(step.shown)
		}
		// On a busy machine a node sometimes loses its lease, or responds to the balancer late.
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		for responds, until := false, time.Now().Add(time.Minute); !responds; {
			res, err := client.Get(d.balancer.URL() + "/api/codelabs")
			if err == nil {
				_ = res.Body.Close()
				responds = res.StatusCode == http.StatusOK
			}
			if !responds && time.Now().After(until) {
				t.Fatalf("after %q was typed, a request returned %v, %v", step.typed, res, err)
			}
			if !responds {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	works := func() {
		t.Helper()
		for running, until := false, time.Now().Add(time.Minute); !running; running, _ = workshop.running() {
			if time.Now().After(until) {
				t.Fatal("no simulated attendee works")
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	works()
	if err := workshop.client.Send(workshop.admin, "DELETE", "/codelabs/"+workshop.lab.ID+"/rehearsal", nil); err != nil {
		t.Error(err)
	}
	works()
	end()
	running.Wait()
	workshop.client.Close()
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

func TestWrongUsageOfNodesIsReported(t *testing.T) {
	t.Setenv("ADMIN_PW", "")
	for _, args := range [][]string{
		{"workshop", "--spawn", "--nodes", "10"},
		{"workshop", "--spawn", "--nodes", "-1"},
		{"workshop", "--spawn", "--postgres", "postgres://x@localhost/x"},
		{"workshop", "--spawn", "--nodes", "2", "--postgres", "mysql://x@localhost/x"},
		{"workshop", "--url", "http://127.0.0.1:1", "--admin-pw", "x", "--nodes", "2"},
		{"workshop", "--url", "http://127.0.0.1:1", "--url", "ftp://127.0.0.1:2", "--admin-pw", "x"},
		{"workshop", "--url", "http://127.0.0.1:1", "--url", "http://127.0.0.1:2", "--internal-url", "http://127.0.0.1:3", "--admin-pw", "x"},
		{"workshop", "--spawn", "--kill-node", "5s"},
		{"workshop", "--spawn", "--nodes", "2", "--cut", "1-3"},
		{"workshop", "--spawn", "--nodes", "2", "--cut", "1-2", "--cut-way", "up"},
		{"workshop", "--spawn", "--roll"},
		{"chaos", "--spawn", "--nodes", "2", "--faults", "cut:1-3"},
		{"chaos", "--spawn", "--faults", "roll"},
		{"chaos", "--spawn", "--nodes", "2", "--stages", "10s"},
		{"tokens", "--spawn", "--restart-db", "5s"},
		{"tokens", "--spawn", "--nodes", "2", "--live", "1000"},
		{"uploads", "--spawn", "--nodes", "2"},
		{"clones", "--spawn", "--nodes", "2"},
		{"selftest", "--spawn", "--nodes", "2"},
	} {
		if code := run(args); code != exitUsage {
			t.Errorf("%q ended with %d, want %d", args, code, exitUsage)
		}
	}
}
