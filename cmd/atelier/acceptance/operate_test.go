package acceptance

import (
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres"
	"atelier/persistence/postgres/postgrestest"
	"atelier/transport/control"
)

// versioned is a node with a given version of the program. Only the first call of stop stops it.
type versioned struct {
	*service.Service
	stop func() error
}

// startVersion starts a node that uses the given version of the messages between nodes.
func startVersion(t *testing.T, c config.Config, version int, program string) (versioned, error) {
	t.Helper()
	if _, err := c.Check(); err != nil {
		t.Fatal(err)
	}
	var s *service.Service
	err := onceItCan(func() (err error) {
		s, err = service.Start(c, service.Options{Protocol: version, Version: program, Lease: lastingLease}, slog.New(slog.NewTextHandler(&suiteLog, nil)))
		return err
	})
	if err != nil {
		return versioned{}, err
	}
	v := versioned{s, sync.OnceValue(s.Stop)}
	t.Cleanup(func() { _ = v.stop() })
	return v, nil
}

// Nodes are replaced one by one, and each version works with the next. A node two versions away
// is refused, and does not affect the running nodes.
func TestAdjacentVersionsWorkTogether(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 3, dsn, testConfig(t))
	a, err := startVersion(t, cfgs[0], 1, "1.0")
	if err != nil {
		t.Fatal(err)
	}
	b, err := startVersion(t, cfgs[1], 2, "1.1")
	if err != nil {
		t.Fatalf("a node of the next version does not start: %v", err)
	}
	_, err = startVersion(t, cfgs[2], 3, "1.2")
	if !errors.Is(err, postgres.ErrRefused) || !strings.Contains(err.Error(), "node1 (program 1.0)") || !strings.Contains(err.Error(), "one version at a time") {
		t.Errorf("starting a node two versions ahead returned %v", err)
	}
	for _, s := range []versioned{a, b} {
		eventual(t, "a running node is ready", func() bool { // on a busy machine, a lease can be lost
			status, _ := internal(s.InternalAddr(), "/readyz")
			return status == 200
		})
	}
	onA, onB := facilitator(t, a.Addr(), ""), facilitator(t, b.Addr(), "")
	for i, pair := range [][2]*browser{{onA, onB}, {onB, onA}} {
		id := pair[0].post("/codelabs", record{"title": "an update"}).object().text("id")
		pair[1].put("/codelabs/"+id, record{"title": "through the other"}).want(200)
		if got := pair[0].get("/codelabs/" + id).want(200); !strings.Contains(string(got.body), "through the other") {
			t.Errorf("codelab %d is %.200s", i, got.body)
		}
	}
	// No node of the first version is alive now, so a node of the third can start.
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := startVersion(t, cfgs[2], 3, "1.2"); err != nil {
		t.Error(err)
	}
}

// Nodes of the first version did not seal their messages, and could not receive sealed ones. A
// node that seals and a node that does not therefore refuse to start next to each other.
func TestNodesWithIncompatibleMessagesAreRefused(t *testing.T) {
	t.Parallel()
	for name, versions := range map[string][2]int{"an earlier version joins": {0, 1}, "this version joins": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
			if _, err := startVersion(t, cfgs[0], versions[0], "first"); err != nil {
				t.Fatal(err)
			}
			if _, err := startVersion(t, cfgs[1], versions[1], "second"); !errors.Is(err, postgres.ErrRefused) || !strings.Contains(err.Error(), "stop all of them first") {
				t.Errorf("starting the second node returned %v", err)
			}
		})
	}
}

// The command, the probe and the metrics show the nodes to an operator.
func TestAnOperatorSeesTheNodes(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 2, dsn, testConfig(t))
	var st nodes.Status
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the last status is %+v %+v", st, st.This)
		}
	})
	// On a busy machine, nodes respond to each other late, and the status reports that.
	shows := func(what string, is func() bool) {
		t.Helper()
		client, err := control.Dial(cfgs[0].Server.Data)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		eventual(t, "the status of "+what, func() bool {
			st = nodes.Status{}
			if err := client.Cluster(&st); err != nil {
				t.Fatal(err)
			}
			return is()
		})
	}
	a, err := startVersion(t, cfgs[0], 0, "1.0")
	if err != nil {
		t.Fatal(err)
	}
	shows("one node", func() bool {
		return len(st.Problems) == 0 && len(st.Nodes) == 1 && st.Nodes[0].Alive && st.Nodes[0].Program == "1.0" && st.This.Lease && st.This.Ready
	})
	b, err := startVersion(t, cfgs[1], 0, "1.0")
	if err != nil {
		t.Fatal(err)
	}
	onA, onB := facilitator(t, a.Addr(), ""), facilitator(t, b.Addr(), "")
	for range 2 { // the second node owns two codelabs, because otherwise the first node would give its codelab to the second
		onB.post("/codelabs", record{"title": "at home"}).want(200)
	}
	id := onA.post("/codelabs", record{"title": "seen"}).object().text("id")
	onB.put("/codelabs/"+id, record{"title": "from the other"}).want(200)
	shows("two nodes", func() bool {
		return len(st.Problems) == 0 && len(st.Nodes) == 2 && st.Nodes[1].Alive && st.Nodes[1].Reached != "" && st.This.Messages.Routes == 1 && st.This.Messages.Sent > 0
	})
	shows("a shared codelab", func() bool { return st.This.Actors["codelab"] == nodes.ActorsOfKind{Owned: 1, Shared: 1} })
	code, body := internal(b.InternalAddr(), "/readyz")
	var health struct {
		Cluster struct {
			Node        string
			Lease       bool
			Alive       int
			Unreachable []string
		}
	}
	if err := json.Unmarshal([]byte(body), &health); err != nil || code != 200 || health.Cluster.Node != "node2" || !health.Cluster.Lease || health.Cluster.Unreachable == nil {
		t.Errorf("readyz returned %d %s", code, body)
	}
	for _, line := range []string{
		"atelier_lease_held 1", "atelier_lease_lost_total 0", `atelier_actors_followed{kind="codelab"} 1`, `atelier_actors_owned{kind="codelab"} 2`,
		"atelier_follower_lag_records 0", `atelier_bus_rejected_total{reason="forged"} 0`, "atelier_bus_connected 1", "atelier_bus_routes 1",
		"atelier_commands_forwarded_total [1-9]", // a command without a timely answer is forwarded again
	} {
		pattern := regexp.MustCompile("\n" + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line) + "\n")
		eventual(t, "the metrics have "+line, func() bool {
			_, metrics := internal(b.InternalAddr(), "/metrics")
			return pattern.MatchString(metrics)
		})
	}
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	stopped, err := nodes.StoppedStatus(cfgs[1])
	if err != nil || len(stopped.Nodes) != 2 || !stopped.Nodes[0].Alive || stopped.Nodes[1].Alive || stopped.This != nil || len(stopped.Problems) != 1 {
		t.Errorf("with the second node stopped, its status is %+v, %v", stopped, err)
	}
	if _, err := nodes.StoppedStatus(testConfig(t)); err == nil {
		t.Error("a single server has the status of a cluster")
	}
	// The other node reports an orderly stop, which is not a problem. A node that died is a
	// problem.
	shows("a node that stopped", func() bool {
		return len(st.Problems) == 0 && len(st.Nodes) == 2 && !st.Nodes[1].Alive && st.Nodes[1].Stopped && st.Nodes[1].Protocol != 0
	})
	postgrestest.Exec(t, dsn, "insert into atelier.nodes values ('dead', 5, clock_timestamp() - interval '1 minute', 3, '1.0', now())")
	shows("a node that died", func() bool {
		return len(st.Problems) == 1 && strings.Contains(st.Problems[0], "node dead is dead") && st.Nodes[0].Node == "dead" && !st.Nodes[0].Stopped
	})
	if stopped, err := nodes.StoppedStatus(cfgs[1]); err != nil || len(stopped.Problems) != 2 {
		t.Errorf("with the second node stopped and a node dead, the status is %+v, %v", stopped, err)
	}
	if b, err = startVersion(t, cfgs[1], 0, "1.0"); err != nil {
		t.Fatal(err)
	}
	shows("a node that came back", func() bool { return st.Nodes[2].Alive && !st.Nodes[2].Stopped })
}

// The password changes while no node is alive. The first node that starts sets the password, and a
// node that still has the old one is refused. (In an earlier version, nodes that had agreed on a
// password never accepted another.)
func TestAPasswordCanBeChangedWithAllNodesStopped(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
	a, err := startVersion(t, cfgs[0], 0, "")
	if err != nil {
		t.Fatal(err)
	}
	old := cfgs[1]
	cfgs[0].Admin.Password, cfgs[1].Admin.Password = "another password", "another password"
	if _, err := startVersion(t, cfgs[1], 0, ""); err == nil || !strings.Contains(err.Error(), "admin.password is not the one") {
		t.Errorf("starting a node with a new password next to one with the old password returned %v", err)
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := startVersion(t, cfgs[0], 0, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := startVersion(t, old, 0, ""); err == nil || !strings.Contains(err.Error(), "admin.password is not the one") {
		t.Errorf("starting a node with the old password returned %v", err)
	}
	if _, err := startVersion(t, cfgs[1], 0, ""); err != nil {
		t.Error(err)
	}
}
