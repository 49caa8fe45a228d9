package acceptance

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
	"atelier/transport/control"
)

// Each node compares its clock with the database's clock. A node whose clock is far off stops
// serving while a node with a correct clock is alive. The times of a codelab follow the clock of
// the node that set them.
func TestNodesCompareTheirClocksWithTheDatabase(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
	first := startLasting(t, cfgs[:1])[0]
	c := newClassOn(t, first.Addr(), record{})
	start := func(behind time.Duration) *service.Service {
		s := startWith(t, cfgs[1], service.Options{Lease: lastingLease, Clock: func() time.Time { return time.Now().Add(-behind) }})
		t.Cleanup(func() { _ = s.Stop() })
		return s
	}
	second := start(5 * time.Second)
	now := func(s *service.Service) time.Time {
		c.admin.base = "http://" + s.Addr()
		var lab []json.RawMessage
		c.admin.get(c.path).want(200).into(&lab)
		var shown struct{ Now time.Time }
		if err := json.Unmarshal(lab[0], &shown); err != nil {
			t.Fatal(err)
		}
		return shown.Now
	}
	// The second node's system clock is right, but Options.Clock, with which it compares clocks, is
	// five seconds behind. The second node therefore shows a time about five seconds after the
	// first node's. On a busy machine, each comparison can be wrong by half of its round trip.
	var before, after time.Time
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the first node returned %v, the second after it %v", before, after)
			for _, s := range []*service.Service{first, second} {
				c.admin.base = "http://" + s.Addr()
				if got, err := c.admin.try(http.MethodGet, "/api/admin/health", nil); err == nil {
					t.Logf("its nodes: %s", got.body)
				}
			}
		}
	})
	eventual(t, "the clock of the owner is known", func() bool {
		before, after = now(first), now(second)
		return after.Sub(before) >= 3*time.Second
	})
	// The second node now owns the codelab, so its clock counts.
	place(t, operator(t, cfgs[0].Server.Data), control.Placing{Do: "move", Node: "node2", Codelab: c.id})
	eventual(t, "the clock of the new owner is known", func() bool {
		before, after = now(first), now(second)
		return after.Sub(before) >= 3*time.Second
	})
	c.admin.base = "http://" + first.Addr()
	healthText := func() string { return part(t, c.admin, "nodes").text("text") }
	eventual(t, "operators see the reason", func() bool {
		return strings.Contains(healthText(), "the clock of node node2 is 5.0 s behind the database's")
	})
	if status, body := readiness(second); status != 200 {
		t.Errorf("with a clock five seconds off, readyz returned %v", body)
	}
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}

	second = start(40 * time.Second)
	eventual(t, "the node leaves serving to the other node", func() bool {
		status, body := readiness(second)
		return status == 503 && body["reason"] == "clock"
	})
	eventual(t, "the other node reports it", func() bool { return strings.Contains(healthText(), "node node2 serves nobody") })
	// If no other node has a correct clock, the database's clock can be the wrong one.
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	eventual(t, "the node serves when no other node is alive", func() bool { return ready(second) })
}
