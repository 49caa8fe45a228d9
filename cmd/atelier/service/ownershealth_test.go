package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/transport/server"
)

func TestNodesHealthMatchesTheClusterStatus(t *testing.T) {
	st := &nodes.Status{Node: "a", Problems: []string{}, Nodes: []nodes.NodeStatus{
		{Node: "a", Alive: true, LeaseLeftSeconds: 2, Protocol: 5, Owns: 3},
		{Node: "b", Alive: true, Reached: "1ms"},
	}}
	h := toNodesHealth(st)
	if !*h.OK || h.Remedy != "" || h.Node != "a" || len(h.List) != 2 || h.List[0].Owns != 3 || h.List[1].Reached != "1ms" {
		t.Errorf("with all nodes well, health is %+v", h)
	}
	st.Problems = []string{"node b is dead", "this node is not ready"}
	if h := toNodesHealth(st); *h.OK || h.Text != "node b is dead; this node is not ready" || h.Remedy == "" {
		t.Errorf("with a dead node, health is %+v", h)
	}
	st.Unlisted, st.Nodes = true, nil
	if h := toNodesHealth(st); *h.OK || h.List != nil {
		t.Errorf("without an answer from the database, health is %+v", h)
	}
}

func TestCommitLatencyIsJudgedByTheStore(t *testing.T) {
	quick, slow := server.Recent{N: 1, P50: time.Millisecond, P99: time.Millisecond}, server.Recent{N: 1, P50: time.Second, P99: time.Second}
	for _, c := range []struct {
		what    string
		recent  server.Recent
		backend string
		failed  error
		ok      bool
		text    string // contained in the text or the remedy
	}{
		{"quick", quick, config.Badger, nil, true, "after 1ms"},
		{"slow", slow, config.Badger, nil, false, "local SSD"},
		{"slow, in a database", slow, config.Postgres, nil, false, "PostgreSQL"},
		{"none", server.Recent{}, config.Badger, nil, true, "nothing was written"},
		{"failed", quick, config.Badger, errors.New("no disk"), false, "restart the server"},
	} {
		f := judgeCommits(c.recent, c.backend, c.failed)
		if f.OK != c.ok || (f.Remedy == "") != c.ok || !strings.Contains(f.Text+f.Remedy, c.text) {
			t.Errorf("%s: the finding is %+v", c.what, f)
		}
	}
	if f := judgeWaits(slow); f.OK || f.Remedy == "" {
		t.Errorf("the finding for long waits is %+v", f)
	}
	if f := judgeWaits(server.Recent{}); !f.OK || !strings.Contains(f.Text, "no command") {
		t.Errorf("without waits, the finding is %+v", f)
	}
}

// The owner gets a response within one second, no matter how many disks hang. It lists the unknown
// values.
func TestHangingChecksAreReportedAsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := unstarted(config.Default())
		s.pair = new(server.KeyPair)
		hangs := make(chan struct{})
		s.probes.space = newProbe(probeMaxAge, func(context.Context) (f space) { <-hangs; return f })
		s.probes.size = newProbe(probeMaxAge, func(context.Context) (f folderSize) { <-hangs; return f })
		s.probes.backup = newProbe(probeMaxAge, func(context.Context) (f lastBackup) { <-hangs; return f })
		s.probes.certificate = newProbe(probeMaxAge, func(context.Context) (f time.Time) { <-hangs; return f })
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), healthTimeout)
		defer cancel()
		disk, backup, certificate := s.diskHealth(ctx), s.backupHealth(ctx), s.certificateHealth(ctx)
		if took := time.Since(began); took != healthTimeout {
			t.Errorf("the checks took %s, want %s", took, healthTimeout)
		}
		for _, text := range []string{disk.Text, backup.Text, certificate.Text} {
			if !strings.Contains(text, "not known") {
				t.Errorf("the finding is %q, want not known", text)
			}
		}
		if disk.OK != nil || disk.Free != nil || disk.Data != nil || backup.OK != nil || backup.At != nil || certificate.OK != nil || certificate.DaysLeft != nil {
			t.Errorf("unknown parts have values: %+v %+v %+v", disk, backup, certificate)
		}
		close(hangs)
	})
}
