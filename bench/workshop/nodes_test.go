//go:build linux

package workshop

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/faults"
	"atelier/bench/frames"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/sockets"
)

// holdOn runs a workshop on several nodes.
func holdOn(t *testing.T, cfg *Config, nodes ...http.Handler) *report.Result {
	t.Helper()
	var all []server.Node
	for i, h := range nodes {
		srv := httptest.NewServer(h)
		defer srv.Close()
		all = append(all, server.Node{Name: "n" + string(rune('1'+i)), URL: srv.URL})
	}
	target := server.Join(all)
	target.AdminID, target.AdminPW = "a", "b"
	r, err := cfg.Run(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(&report.Limits{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// counted counts the connections that a node accepts.
func counted(h http.Handler, n *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/ws/") {
			n.Add(1)
		}
		h.ServeHTTP(w, r)
	})
}

func TestClientsAreSpreadEvenly(t *testing.T) {
	f := newFake("")
	var took [3]atomic.Int32
	r := holdOn(t, small(), counted(f.handler(), &took[0]), counted(f.handler(), &took[1]), counted(f.handler(), &took[2]))
	if code := r.ExitCode(); code != report.ExitPassed {
		t.Errorf("the run ended with %d: %v", code, r.Verdict)
	}
	// The run has 22 people.
	for i := range took {
		if n := took[i].Load(); n < 7 || n > 8 {
			t.Errorf("node %d got %d clients", i+1, n)
		}
	}
}

// Clients of a node that answers connections and requests with 503 move to the other nodes.
func TestClientsLeaveAnUnavailableNode(t *testing.T) {
	f := newFake("")
	unavailable := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Requests at the end are served, because the node is available again by then.
		if strings.HasPrefix(r.URL.Path, "/api/ws/") || strings.HasSuffix(r.URL.Path, "/overview") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		f.handler().ServeHTTP(w, r)
	})
	cfg := small()
	cfg.FacilitatorReads, cfg.Facilitators = 50, 2
	r := holdOn(t, cfg, f.handler(), unavailable)
	if code := r.ExitCode(); code != report.ExitPassed || r.Joined != 20 || r.Disconnects["refused with status 503"] == 0 {
		t.Errorf("the run ended with %d: %v, %v", code, r.Verdict, r.Disconnects)
	}
}

func TestNodesWithDifferentStatesAreFound(t *testing.T) {
	f, other := newFake(""), newFake("")
	stale := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/chat") {
			other.handler().ServeHTTP(w, r)
			return
		}
		f.handler().ServeHTTP(w, r)
	})
	r := holdOn(t, small(), f.handler(), stale)
	if len(r.Faults) != 1 || r.Faults[0] != "node n2 returns a different state than node n1: chat" || r.ExitCode() != report.ExitFailed {
		t.Errorf("the faults are %q, the run ended with %d", r.Faults, r.ExitCode())
	}
}

// If it is unknown whether a node stored a message, the client sends the message again. A refused
// message is not sent again.
func TestOnlyUncertainMessagesAreRepeated(t *testing.T) {
	const unknown, refused = "this cannot be recorded right now; try again", "message is too long"
	for name, c := range map[string]struct {
		nodes      int
		ref, error string
		again      bool
	}{
		"unknown":              {2, "c1", unknown, true},
		"refused":              {2, "c1", refused, false},
		"an unknown reference": {2, "c2", unknown, false},
		"to a single server":   {1, "c1", unknown, false},
	} {
		clock := pacing.NewClock()
		crowd := &crowd{addresses: make([]unix.Sockaddr, c.nodes), clock: clock, measurements: newMeasurements(0, clock)}
		var err error
		if crowd.loop, err = sockets.New(crowd.clock, 1, crowd); err != nil {
			t.Fatal(err)
		}
		p := &person{unacked: []pending{{ref: "c1", op: opChat}}}
		if got := crowd.sayAgain(p, &message{Ref: []byte(c.ref), Error: []byte(c.error)}); got != c.again || len(p.unacked) != 1 {
			t.Errorf("%s: repeated: %v, %d unacknowledged", name, got, len(p.unacked))
		}
		if got := crowd.tallies[opChat].Repeated; (got == 1) != c.again {
			t.Errorf("%s: %d repetitions are counted", name, got)
		}
		go crowd.loop.Run()
		crowd.loop.Stop()
	}
}

// Acknowledgements in another order do not change which step was sent last. A repeated step may
// have been applied later.
func TestTheLastStepIsTheStepSentLast(t *testing.T) {
	var p progress
	p.ack(3, 2, false)
	p.ack(2, 1, false)
	if p.last != 3 || p.furthest != 3 || p.acked != 2 || len(p.doubtful) != 0 {
		t.Errorf("the progress is %+v", p)
	}
	p.ack(5, 4, false)
	p.ack(4, 3, true)
	p.ack(4, 5, true)
	if p.last != 4 || p.furthest != 5 || !slices.Equal(p.doubtful, []int{4}) {
		t.Errorf("the progress is %+v", p)
	}
}

func TestClientsMoveToTheOtherNodesInTurn(t *testing.T) {
	c := &crowd{addresses: make([]unix.Sockaddr, 4)}
	took := map[int]int{}
	for range 30 {
		took[c.elsewhere(2, 0)]++
	}
	if took[2] != 0 || took[0] != 10 || took[1] != 10 || took[3] != 10 {
		t.Errorf("the moves to the nodes are %v", took)
	}
	c.standing, c.refusing = []int{1}, map[int]time.Duration{3: time.Second}
	for range 30 {
		if to := c.elsewhere(2, time.Second/2); to != 0 {
			t.Fatalf("a client is moved to node %d, which is paused or has just refused", to)
		}
	}
	if to := []int{c.elsewhere(2, time.Second), c.elsewhere(2, time.Second)}; !slices.Contains(to, 3) {
		t.Errorf("no client is moved to a node that refused a second ago: %v", to)
	}
	if c.addresses = c.addresses[:1]; c.elsewhere(0, 0) != 0 {
		t.Error("a client leaves the only node")
	}
}

// A node is avoided only if it reports that it is not ready. It is not avoided if it refuses one
// person, or if the connection was lost.
func TestOnlyNodesThatAreNotReadyAreAvoided(t *testing.T) {
	for name, ask := range map[string]struct {
		err  error
		left bool
	}{
		"not ready": {&frames.RefusedError{Status: 503}, true},
		"forbidden": {&frames.RefusedError{Status: 403}, false},
		"lost":      {io.EOF, false},
	} {
		crowd := newCrowd(&Config{Attendees: 1}, pacing.NewClock(), nil, nil, make([]unix.Sockaddr, 3))
		var err error
		if crowd.loop, err = sockets.New(crowd.clock, 1, crowd); err != nil {
			t.Fatal(err)
		}
		crowd.lost(&person{node: 1}, sockets.End{Err: ask.err})
		if got := crowd.refusing[1] > crowd.clock.Now(); got != ask.left {
			t.Errorf("%s: the node is avoided: %v, want %v", name, got, ask.left)
		}
		crowd.closing = true // nobody must connect
		go crowd.loop.Run()
		crowd.loop.Stop()
	}
}

// A delivery counts for the fault during which its message was due. Deliveries to and from clients
// of a paused node count separately. Clients that left on their own are excluded.
func TestDeliveriesCountForTheirFault(t *testing.T) {
	const s = time.Second
	first := &harm{began: 10 * s, stuck: []bool{true, false, false}, fault: faults.Fault{Kind: faults.Pause}}
	second := &harm{began: 20 * s, stuck: make([]bool, 3)}
	for name, c := range map[string]struct {
		receiver, sender int
		due              time.Duration
		left             bool // the receiver left, at 15 s
		first, late      bool
		second           bool
	}{
		"before the first":          {receiver: 1, sender: 2, due: 9 * s},
		"in its time":               {receiver: 1, sender: 2, due: 10 * s, first: true},
		"to a paused client":        {receiver: 0, sender: 2, due: 11 * s, late: true},
		"from a paused client":      {receiver: 1, sender: 0, due: 11 * s, late: true},
		"in the time of the second": {receiver: 0, sender: 2, due: 20 * s, second: true},
		"while away":                {receiver: 1, sender: 2, due: 15*s + s/2, left: true},
		"after reconnecting":        {receiver: 1, sender: 2, due: 17 * s, left: true, first: true},
		"after the load":            {receiver: 1, sender: 2, due: 30 * s},
	} {
		first.well, first.late, second.well = faults.Recovery{}, faults.Recovery{}, faults.Recovery{}
		crowd := &crowd{cfg: &Config{Attendees: 3}, people: []*person{{}, {index: 1}, {index: 2}}, faults: []*harm{first, second}}
		crowd.until = 30 * s
		if c.left {
			crowd.people[1].leaver, crowd.people[1].left = true, 15*s
		}
		crowd.charge(crowd.people[c.receiver], &chatMessage{due: c.due, by: c.sender}, s)
		if first.well.Empty() == c.first || first.late.Empty() == c.late || second.well.Empty() == c.second {
			t.Errorf("%s: counted for the first fault %v, for its paused clients %v, for the second %v", name,
				!first.well.Empty(), !first.late.Empty(), !second.well.Empty())
		}
	}
}
