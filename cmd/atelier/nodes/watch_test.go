package nodes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
)

// away is a server without connected people.
type away struct{ Duties }

func (away) SendAway(string) {}
func (away) Drop()           {}

// A node that was away and has its lease again must not serve too early. Other nodes may have
// created tokens under a new key in the meantime, and this node would report them as unknown.
func TestAReturningNodeServesOnlyOnceItHasReadWhatChanged(t *testing.T) {
	n := newTrio(t).nodes[0]
	serves := func() bool { return n.Serves() && n.Valid()() == nil }
	tried := 0
	n.OnReturn(func() error {
		if !n.Store.Holds() || serves() {
			t.Error("the node serves already, or has no lease")
		}
		if tried++; tried == 1 {
			return errors.New("the database has hiccups")
		}
		return nil
	})
	n.startOver(t.Context(), away{}, "")
	if tried != 2 || !serves() {
		t.Errorf("after %d attempts the node serves: %v", tried, serves())
	}

	// A node that cannot read what changed does not serve. It serves once the read succeeds.
	ctx, stop := context.WithCancel(t.Context())
	broken := true
	n.OnReturn(func() error {
		if broken {
			stop()
			return durable.ErrUnavailable
		}
		return nil
	})
	if n.startOver(ctx, away{}, ""); serves() {
		t.Error("the node serves before it has read what changed")
	}
	broken = false
	if n.startOver(t.Context(), away{}, ""); !serves() {
		t.Error("the node does not come back")
	}
}

// duties is a server that never runs out of actors to give away. mu guards its fields.
type duties struct {
	mu        sync.Mutex
	receivers []string // the nodes that were asked to take its actors
	compared  []string // the nodes alive when its replicas were compared
	compares  int
	sentAway  []string
	drops     int
}

func (d *duties) EndGrants()            {}
func (d *duties) CloseUnreachable()     {}
func (d *duties) Owned() []Owned        { return nil }
func (d *duties) Made(string) time.Time { return time.Time{} }
func (d *duties) Move(string, string)   {}
func (d *duties) Counts() Counts        { return Counts{} }
func (d *duties) Drain()                {}
func (d *duties) Undrain()              {}

func (d *duties) SendAway(why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sentAway = append(d.sentAway, why)
}

func (d *duties) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drops++
}

func (d *duties) Compare(alive []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compared = slices.Sorted(slices.Values(alive))
	d.compares++
}

func (d *duties) GiveAll(to []string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.receivers = append(d.receivers, strings.Join(to, " "))
	return 1
}

// distant is a bus whose responses take a moment, as they do outside of a test bubble.
type distant struct{ durable.Bus }

func (d distant) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	time.AfterFunc(time.Millisecond, func() { d.Bus.Request(node, subject, data, timeout, done) })
}

// watched runs Watch on all nodes of a trio in a test bubble while do runs.
func watched(t *testing.T, do func(x *trio, all []*duties)) {
	synctest.Test(t, func(t *testing.T) {
		x := newTrio(t)
		ctx, stop := context.WithCancel(t.Context())
		var all []*duties
		var watching sync.WaitGroup
		for _, n := range x.nodes {
			d := &duties{}
			n.Bus = distant{n.Bus}
			all = append(all, d)
			watching.Go(func() { n.Watch(ctx, d) })
		}
		do(x, all)
		stop()
		watching.Wait()
	})
}

// A drained node gives its actors to nodes that are not drained. During this time, each node
// continues to compare its replicas with their owners.
func TestADrainedNodeGivesNothingToADrainedNode(t *testing.T) {
	watched(t, func(x *trio, all []*duties) {
		var names []string
		for _, n := range x.nodes {
			names = append(names, n.Store.Node())
		}
		time.Sleep(3 * time.Second)
		for _, name := range names[:2] {
			if err := x.nodes[2].Drain(name); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for i, d := range all {
			d.mu.Lock()
			if i < 2 && (len(d.receivers) < 3 || slices.ContainsFunc(d.receivers, func(to string) bool { return to != names[2] })) {
				t.Errorf("node %d moves its actors to %q", i+1, d.receivers)
			}
			if i == 2 && len(d.receivers) > 0 {
				t.Errorf("the serving node moves its actors to %q", d.receivers)
			}
			if d.compares < 3 || !slices.Equal(d.compared, names) {
				t.Errorf("node %d compared its replicas %d times, with %q", i+1, d.compares, d.compared)
			}
			if len(d.sentAway) > 0 || d.drops > 0 {
				t.Errorf("node %d disconnects people: %q", i+1, d.sentAway)
			}
			d.mu.Unlock()
		}
	})
}

// A node that reaches no other node leaves serving to the nodes that reach each other, and its
// people connect to them.
func TestAnIsolatedNodeStepsAside(t *testing.T) {
	watched(t, func(x *trio, all []*duties) {
		time.Sleep(3 * time.Second)
		x.cut(0, 1)
		x.cut(0, 2)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for i, d := range all {
			d.mu.Lock()
			if lonely := i == 0; x.nodes[i].Aside.Load() != lonely || len(d.sentAway) > 0 != lonely || d.drops > 0 != lonely {
				t.Errorf("node %d is aside: %v; it disconnects people: %q", i+1, x.nodes[i].Aside.Load(), d.sentAway)
			}
			if i == 0 && (len(d.sentAway) != 1 || !strings.Contains(d.sentAway[0], "reaches no other")) {
				t.Errorf("the reason is %q", d.sentAway)
			}
			d.mu.Unlock()
		}
		for _, ways := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}} {
			x.net.Repair(x.nodes[ways[0]].Store.Node(), x.nodes[ways[1]].Store.Node())
		}
		time.Sleep(20 * time.Second)
		if x.nodes[0].Aside.Load() {
			t.Error("the node stays aside")
		}
	})
}

// A node that loses its lease disconnects its people, drops everything in memory, and comes back as
// a new incarnation. The other nodes are not affected.
func TestANodeThatLostItsLeaseStartsOver(t *testing.T) {
	watched(t, func(x *trio, all []*duties) {
		time.Sleep(3 * time.Second)
		x.nodes[0].Store.(interface{ Lose() }).Lose()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		for i, d := range all {
			d.mu.Lock()
			want := 0
			if i == 0 {
				want = 1
			}
			if len(d.sentAway) != want || d.drops != want || int(x.nodes[i].lost.Load()) != want {
				t.Errorf("node %d disconnected its people %d times (%q) and dropped its memory %d times, want %d", i+1, len(d.sentAway), d.sentAway, d.drops, want)
			}
			if !x.nodes[i].Serves() {
				t.Errorf("node %d does not serve", i+1)
			}
			d.mu.Unlock()
		}
	})
}

// If a node loses its lease again while it rejoins, the attempt ends, because the other nodes
// have taken over again.
func TestARejoinEndsWithTheLease(t *testing.T) {
	n := newTrio(t).nodes[0]
	ctx, stop := context.WithCancel(t.Context())
	tried := 0
	n.OnReturn(func() error {
		if tried++; tried > 1 {
			stop()
		} else {
			n.Store.(interface{ Lose() }).Lose()
		}
		return durable.ErrUnavailable
	})
	if n.startOver(ctx, away{}, ""); n.Serves() || tried != 1 {
		t.Errorf("without a lease the node serves: %v, after %d attempts", n.Serves(), tried)
	}
	stop()
}
