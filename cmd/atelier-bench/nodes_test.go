//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"atelier/bench/audit"
	"atelier/bench/nodes"
)

// Two nodes hold a workshop, one of them is killed, and everything is there that
// was acknowledged, once. How long that takes is another matter.
func TestAWorkshopOutlivesANode(t *testing.T) {
	if _, err := nodes.Programs(); err != nil {
		if os.Getenv("NEED_PROGRAMS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	binary, out := filepath.Join(dir, "atelier"), filepath.Join(dir, "report.json")
	if b, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "atelier/cmd/atelier").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, b)
	}
	code := run([]string{
		"workshop", "--spawn", "--server", binary, "--nodes", "2", "--attendees", "20", "--join", "1s", "--warmup", "500ms", "--duration", "6s",
		"--step-every", "2s", "--help-rate", "2", "--comments", "2", "--churn", "2", "--kill-node", "2500ms", "--allow-lag", "--json", out,
	})
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
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
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if code != 0 || r.Joined != 20 || r.Lost+r.Duplicated+r.Reordered > 0 || r.Audit.Writes["chat"].Acknowledged == 0 {
		t.Errorf("ends with %d: %+v", code, r)
	}
	if len(r.Nodes) != 2 || r.Nodes[1].Name != "n2" || len(r.Restarts) == 0 || r.Restarts[0].What != "kill:1" || !r.Restarts[0].AllResumed {
		t.Errorf("%+v, %+v", r.Nodes, r.Restarts)
	}
}

func TestWrongUsageOfNodes(t *testing.T) {
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
			t.Errorf("%q ends with %d", args, code)
		}
	}
}
