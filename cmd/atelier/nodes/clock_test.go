package nodes

import (
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
)

func ms(d time.Duration) *int64 { n := d.Milliseconds(); return &n }

// A node with a wrong clock leaves serving to a node with a right clock. If no clock is right, the
// database's clock can be the wrong one, and all nodes continue to serve.
func TestANodeWithAWrongClockLeavesServingToOthers(t *testing.T) {
	for _, c := range []struct {
		what   string
		own    *int64
		others []*int64
		leaves bool
	}{
		{"right", ms(0), []*int64{ms(0), ms(0)}, false},
		{"differs", ms(29 * time.Second), []*int64{ms(0), ms(0)}, false},
		{"behind", ms(31 * time.Second), []*int64{ms(0), ms(0)}, true},
		{"ahead", ms(-31 * time.Second), []*int64{ms(-40 * time.Second), ms(0)}, true},
		{"no right clock", ms(-31 * time.Second), []*int64{ms(-40 * time.Second), ms(30 * time.Second)}, false},
		{"other clocks unknown", ms(-31 * time.Second), []*int64{nil, nil}, false},
		{"own clock unknown", nil, []*int64{ms(0), ms(0)}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			x := newTrio(t)
			x.turn()
			n := x.nodes[0]
			n.figures.Store(&Figures{ClockMillis: c.own})
			n.reach.mu.Lock()
			for i, o := range c.others {
				n.reach.peers[x.nodes[i+1].Store.Node()].figures = &Figures{ClockMillis: o}
			}
			n.reach.mu.Unlock()
			n.lookAtClock(x.members)
			trouble := n.Trouble()
			if (trouble != nil) != c.leaves || trouble != nil && trouble.Reason != Clock {
				t.Errorf("the trouble is %+v", trouble)
			}
			for i := range x.members {
				x.members[i].Left = min(x.members[i].Left, 0)
			}
			if n.lookAtClock(x.members); n.Trouble() != nil {
				t.Error("the node leaves although no other node is alive")
			}
		})
	}
}

func TestClockDifferencesAreReported(t *testing.T) {
	node := func(name string, alive bool, offset *int64) NodeStatus {
		return NodeStatus{Node: name, Alive: alive, Figures: &Figures{ClockMillis: offset}}
	}
	for _, c := range []struct {
		all  []NodeStatus
		want string
	}{
		{[]NodeStatus{node("a", true, ms(1900*time.Millisecond)), node("b", true, nil), {Node: "c", Alive: true}}, ""},
		{[]NodeStatus{node("a", true, ms(2*time.Second)), node("b", true, ms(0))}, "the clock of node a is 2.0 s behind the database's"},
		{[]NodeStatus{node("a", true, ms(-2500*time.Millisecond)), node("b", false, ms(-9*time.Second)), node("c", true, ms(0))}, "the clock of node a is 2.5 s ahead of the database's"},
		{[]NodeStatus{node("a", true, ms(-3*time.Second)), node("b", true, ms(-3*time.Second))}, "the clock of node a is 3.0 s ahead of the database's; the clock of node b is 3.0 s ahead of the database's; no node agrees with the database's clock: check the database's clock first"},
	} {
		if got := strings.Join(clockProblems(c.all), "; "); got != c.want {
			t.Errorf("%v: %q, want %q", c.all, got, c.want)
		}
	}
}

// An owner's times are corrected by the difference of the clocks, if both offsets are known.
func TestTimesOfAnOwnerAreCorrectedByTheClockDifference(t *testing.T) {
	x := newTrio(t)
	x.turn()
	n, owner, now := x.nodes[0], x.nodes[1].Store.Node(), time.UnixMilli(1_000_000)
	n.Store = offset{n.Store, 3 * time.Second}
	setFigures := func(f *Figures) {
		n.reach.mu.Lock()
		defer n.reach.mu.Unlock()
		n.reach.peers[owner].figures = f
	}
	for _, c := range []struct {
		owner   string
		figures *Figures
		want    time.Duration
	}{
		{owner, &Figures{ClockMillis: ms(-2 * time.Second)}, 5 * time.Second},
		{owner, &Figures{}, 0},
		{owner, nil, 0},
		{n.Store.Node(), nil, 0},
		{"", nil, 0},
	} {
		setFigures(c.figures)
		if got := n.OwnersTime(c.owner, now).Sub(now); got != c.want {
			t.Errorf("with the figures %+v, the correction is %v, want %v", c.figures, got, c.want)
		}
	}
	var alone *Node
	if alone.OwnersTime(owner, now) != now {
		t.Error("a single server corrects the time")
	}
}

// offset is the store of a node with a clock that differs from the database's clock.
type offset struct {
	durable.Shared
	by time.Duration
}

func (o offset) ClockOffset() (time.Duration, bool) { return o.by, true }
