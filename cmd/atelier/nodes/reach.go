package nodes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"atelier/actors/durable"
)

// reach records which other nodes this node can reach. The database lists the living nodes, but
// only a request shows whether messages arrive.
type reach struct {
	mu    sync.Mutex
	peers map[string]*peer // guarded by mu; the other living nodes
	// lonely means that this node cannot reach any other node. aside means that another node serves
	// meanwhile, so that this node must not serve. See checkPeers.
	lonely, aside bool // guarded by mu

	// silent contains the nodes that were last logged as silent. The goroutine of checkPeers owns
	// it.
	silent []string
	// row is this node's row as it was last written. The goroutine of checkPeers owns it.
	row *reachRow
}

// reachRow is a node's row in lonelyNodes. It states whether the node reaches no other node.
type reachRow struct {
	Incarnation uint64 `json:"incarnation"`
	Lonely      bool   `json:"lonely"`
}

type peer struct {
	lease   time.Time     // the latest known end of the node's lease
	owes    time.Time     // the time of the first unanswered request, or zero if no request is open
	silent  time.Duration // how long a response had been due when the last request was sent
	took    time.Duration // the duration of the last response, or 0 before the first
	figures *Figures      // nil if the node has not sent them
}

// unreachable reports whether the node is alive and does not respond. It is alive if its lease was
// renewed after a request to which it could have responded. Otherwise it may have died, and its
// codelabs are free once its lease has expired.
func (p *peer) unreachable(lease time.Duration) bool {
	return p.silent >= silence && p.lease.Add(-lease).After(p.owes.Add(answerTime))
}

const (
	// reachSubject is the subject on which nodes respond that they are alive.
	reachSubject = "reach"
	// silence is the time without responses after which a living node counts as unreachable. A node
	// with a shorter delay (a long garbage collection, a busy machine) keeps its people. People on
	// a node that is cut off wait for this time.
	silence = 2400 * time.Millisecond
	// answerTime is longer than a node needs for an undelayed response.
	answerTime = 500 * time.Millisecond
	// lonelyNodes is the table in which each node records whether it reaches any other node.
	lonelyNodes = "nodereach"
)

// serveReach responds to the other nodes with this node's figures. Later versions can add fields to
// the response.
func (n *Node) serveReach() error {
	_, err := n.Bus.Serve(reachSubject, func(_ string, _ []byte, answer func([]byte)) {
		data := []byte("{}")
		if f := n.figures.Load(); f != nil {
			data, _ = json.Marshal(f) // numbers never fail
		}
		answer(data)
	})
	return err
}

// meetQuiet is the time for which waiting is not logged.
const meetQuiet = 2 * time.Second

// meetTurns is the maximum time for which a start waits for other nodes, as a multiple of
// ownerTimeout.
const meetTurns = 10

// meet waits until every living node has responded. A node that reaches the database but not the
// other nodes could serve little, and would notice this only when a request needs one of them.
func (n *Node) meet(limit time.Duration, stop <-chan struct{}) error {
	answered := map[string]bool{n.Store.Node(): true}
	began, warned := time.Now(), false
	for until := time.Now().Add(limit); ; {
		members, err := n.Store.Members()
		if err != nil {
			return err
		}
		missing := ""
		for _, m := range members {
			if m.Left <= 0 || answered[m.Node] {
				continue
			}
			done := make(chan error, 1)
			n.Bus.Request(m.Node, reachSubject, []byte("{}"), askTime, func(_ []byte, err error) { done <- err })
			if answered[m.Node] = <-done == nil; !answered[m.Node] {
				missing = m.Node
			}
		}
		switch {
		case missing == "":
			return nil
		case !warned && time.Since(began) > meetQuiet:
			warned = true
			n.log.Warn("a live node does not answer this node yet; the start waits for it", "other", missing, "at_most", limit)
		case time.Now().After(until):
			return fmt.Errorf("cluster: node %s is alive and does not answer this one: %s", missing, whereToLook)
		}
		select {
		case <-stop:
			return errStopped
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// whereToLook is the advice to operators if nodes cannot reach each other.
const whereToLook = "check cluster.listen, cluster.peers, cluster.secret and the certificates of both, and the network between them"

// errStopped is returned when a start was cancelled.
var errStopped = errors.New("stopped while it waited for the other nodes")

// checkPeers asks the other nodes whether they are alive, and decides whether this node stops
// serving and leaves it to them.
func (n *Node) checkPeers(now time.Time, members []durable.Member) {
	me := slices.IndexFunc(members, func(m durable.Member) bool { return m.Node == n.Store.Node() })
	if me < 0 {
		return
	}
	others := slices.DeleteFunc(slices.Clone(members), func(m durable.Member) bool { return m.Left <= 0 || m.Node == n.Store.Node() })
	n.meetAgain(now, others)
	n.ask(now)
	unreachable := n.Unreachable()
	n.logUnreachable(unreachable, others)
	lonely := len(others) > 0 && len(unreachable) == len(others)
	aside, err := n.standAside(members[me], others, lonely)
	if err != nil {
		return // if this lasts, the lease is lost
	}
	n.reach.mu.Lock()
	changed := n.reach.aside != aside
	n.reach.lonely, n.reach.aside = lonely, aside
	n.reach.mu.Unlock()
	switch {
	case changed && aside:
		n.log.Error("this node reaches no other live node, so the others serve instead; check cluster.listen, cluster.peers and the network", "unreachable", unreachable)
	case changed:
		n.log.Info("this node serves again: it reaches other nodes, or is the node that serves alone")
	}
}

// logUnreachable logs which living nodes have stopped responding, and which respond again.
func (n *Node) logUnreachable(unreachable []string, others []durable.Member) {
	for _, name := range unreachable {
		if !slices.Contains(n.reach.silent, name) {
			n.log.Warn("a live node does not answer this node: "+whereToLook, "other", name)
		}
	}
	for _, name := range n.reach.silent {
		if !slices.Contains(unreachable, name) && slices.ContainsFunc(others, func(m durable.Member) bool { return m.Node == name }) {
			n.log.Info("a node answers again", "other", name)
		}
	}
	n.reach.silent = unreachable
}

// meetAgain updates the list of living nodes.
func (n *Node) meetAgain(now time.Time, others []durable.Member) {
	r := &n.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.peers
	r.peers = map[string]*peer{}
	for _, m := range others {
		p := cmp.Or(before[m.Node], new(peer))
		p.lease = now.Add(m.Left)
		r.peers[m.Node] = p
	}
}

// ask sends one request to each of the other nodes. It returns true if a node has newly become
// silent, so that checkPeers must check that node with the current list of living nodes.
func (n *Node) ask(now time.Time) (due bool) {
	r := &n.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, p := range r.peers {
		if p.silent = 0; p.owes.IsZero() {
			p.owes = now
		} else {
			p.silent = now.Sub(p.owes)
		}
		due = due || p.silent >= silence && !slices.Contains(r.silent, name)
		began := time.Now()
		n.Bus.Request(name, reachSubject, []byte("{}"), silence, func(data []byte, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if err == nil {
				p.owes, p.silent, p.took, p.figures = time.Time{}, 0, time.Since(began), parseFigures(data)
			}
		})
	}
	return due
}

// leaseTime is the lease duration of all nodes.
func (n *Node) leaseTime() time.Duration { return 3 * cmp.Or(n.OwnerTimeout, askTime) }

// Unreachable returns the names of the living nodes that do not respond.
func (n *Node) Unreachable() []string {
	n.reach.mu.Lock()
	defer n.reach.mu.Unlock()
	out := []string{}
	for name, p := range n.reach.peers {
		if p.unreachable(n.leaseTime()) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// standAside decides whether this node stops serving because it reaches no other node. Such a node
// could not serve the codelabs of other nodes. If other nodes reach each other, it therefore leaves
// everything to them. If no node reaches another, all nodes would stop, so the first by name
// continues. Each node records in the database whether it is lonely. All nodes reach the database,
// or they would have lost their leases. A node without a record is ignored: it is starting, and
// serves nobody yet. It may never serve, if its secret or its certificate is wrong.
func (n *Node) standAside(me durable.Member, others []durable.Member, lonely bool) (bool, error) {
	now := reachRow{me.Incarnation, lonely}
	if n.reach.row == nil || *n.reach.row != now {
		value, _ := json.Marshal(now) // a number and a flag never fail
		if err := durable.Commit(n.Store, []durable.Row{{Table: lonelyNodes, Key: []byte(me.Node), Value: value}}); err != nil {
			return false, err
		}
		n.reach.row = &now
	}
	if !lonely {
		return false, nil
	}
	first := me.Node
	for _, m := range others {
		value, err := n.Store.Get(lonelyNodes, []byte(m.Node))
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return false, err
		}
		var t reachRow
		switch {
		case err != nil, json.Unmarshal(value, &t) != nil, t.Incarnation != m.Incarnation:
		case !t.Lonely:
			return true, nil // that node reaches another node
		default:
			first = min(first, m.Node)
		}
	}
	return first != me.Node, nil
}

// People counts the people connected to the living nodes, as reported by these nodes at most some
// seconds ago. A person with pages on two nodes counts twice. People returns false while one of the
// nodes does not respond, or does not report its number.
func (n *Node) People() (sum int, all bool) {
	n.reach.mu.Lock()
	defer n.reach.mu.Unlock()
	all = true
	if own := n.figures.Load(); own != nil {
		sum = own.People
	}
	for _, p := range n.reach.peers {
		if p.figures == nil || p.unreachable(n.leaseTime()) {
			all = false
			continue
		}
		sum += p.figures.People
	}
	return sum, all
}

// StandsAside reports whether this node leaves serving to others.
func (n *Node) StandsAside() bool {
	n.reach.mu.Lock()
	defer n.reach.mu.Unlock()
	return n.reach.aside
}

// figuresOf returns a node's figures, or nil if they are unknown.
func (n *Node) figuresOf(name string) *Figures {
	if name == n.Store.Node() {
		return n.figures.Load()
	}
	n.reach.mu.Lock()
	defer n.reach.mu.Unlock()
	if p := n.reach.peers[name]; p != nil {
		return p.figures
	}
	return nil
}

// reached describes whether a node responds, and how fast.
func (n *Node) reached(name string) (text string, ok bool) {
	n.reach.mu.Lock()
	defer n.reach.mu.Unlock()
	switch p := n.reach.peers[name]; {
	case p != nil && p.unreachable(n.leaseTime()):
		return "no answer for " + strconv.Itoa(int(p.silent.Seconds())) + " s", false
	case p == nil || p.took == 0:
		return "not asked yet", true
	default:
		return p.took.Round(10 * time.Microsecond).String(), true
	}
}

// Answers reports whether a node has responded before, and has been silent for less than twice
// lookEvery.
func (n *Node) Answers(name string) bool {
	n.reach.mu.Lock()
	defer n.reach.mu.Unlock()
	p := n.reach.peers[name]
	return p != nil && p.took > 0 && p.silent < 2*lookEvery
}
