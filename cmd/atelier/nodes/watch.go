package nodes

import (
	"context"
	"errors"
	"time"
)

// Duties lists a server's operations for its node.
type Duties interface {
	// EndGrants ends connections and responses whose grant has expired or was ended, even by
	// another node.
	EndGrants()
	// SendAway closes all connections. Clients reconnect to another node.
	SendAway(why string)
	// Drop ends all actors immediately.
	Drop()
	// CloseUnreachable closes the rooms of codelabs whose owner this node cannot reach.
	CloseUnreachable()
	// Compare compares this node's replicas with their owners.
	Compare(alive []string)
	// Owned returns the codelabs that this node owns. It is called every second.
	Owned() []Owned
	// Made returns when a codelab was created on any node, or zero if that is unknown.
	Made(id string) time.Time
	// GiveAll gives all codelabs that this node owns to other nodes, and returns how many it still
	// owns.
	GiveAll(to []string) int
	// Move moves a codelab to a node, if this node owns it, or if this node is the target and
	// nobody owns the codelab.
	Move(id, to string)
	// Counts returns the node's own counts.
	Counts() Counts
	// Drain starts to close all connections, in batches. Until Undrain nobody can connect.
	Drain()
	Undrain()
}

// lookEvery is the interval at which this node checks whether the other nodes are alive. The rest
// of a turn of Watch reads the database. It therefore runs only at every second interval, and
// immediately when a node becomes silent.
const lookEvery = 500 * time.Millisecond

// Watch maintains this node's membership until ctx ends.
func (n *Node) Watch(ctx context.Context, server Duties) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	defer n.catching.Wait()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-n.Store.Lost():
			n.comeBack(ctx, server)
			continue
		case <-tick.C:
		}
		if turn%2 == 1 && !n.ask(time.Now()) {
			continue
		}
		server.EndGrants()
		figures := n.meter.figures(time.Now(), server.Counts())
		figures.ClockMillis, figures.Trouble = n.millisOf(), n.Trouble()
		n.figures.Store(&figures)
		members, err := n.Store.Members()
		if err != nil {
			continue // if this lasts, the lease is lost
		}
		var alive []string
		for _, m := range members {
			if m.Left > 0 {
				alive = append(alive, m.Node)
			}
		}
		n.alive.Store(int64(max(len(alive), 1)))
		now := time.Now() // after reading the database, which may have been slow
		n.checkPeers(now, members)
		n.lookAtClock(members)
		w, err := n.readWishes()
		if err != nil {
			continue
		}
		var takers []string
		for _, m := range members {
			if m.Left > 0 && m.Node != n.Store.Node() && !w.drained[m.Node] && n.Answers(m.Node) && n.figuresOf(m.Node).takes() {
				takers = append(takers, m.Node)
			}
		}
		lonely := n.StandsAside()
		if aside := n.obey(w, takers, server) || lonely; n.Aside.Swap(aside) != aside && aside {
			why := "this server is taken out of service; connect again"
			if lonely {
				why = "this server reaches no other; connect again"
			}
			n.startOver(ctx, server, why)
		}
		n.catchUp(ctx)
		server.CloseUnreachable()
		if turn%4 == 0 {
			server.Compare(alive)
		}
		n.balance(now, members, takers, w, server)
	}
}

// comeBack starts over after a lost lease. Other nodes can now own this node's codelabs, and its
// clients may lack the newest events. comeBack therefore closes all connections, and drops all
// state in memory.
func (n *Node) comeBack(ctx context.Context, server Duties) {
	n.lost.Add(1)
	n.log.Warn("this node has lost its lease; it starts over")
	n.startOver(ctx, server, "this server starts over; connect again")
}

// startOver closes all connections, drops everything in memory, and rejoins the cluster as a new
// incarnation that owns nothing. This node's codelabs are therefore free immediately.
func (n *Node) startOver(ctx context.Context, server Duties, why string) {
	n.away.Store(true)
	for _, x := range n.catchUps {
		x.lack()
	}
	server.SendAway(why)
	server.Drop()
	for ctx.Err() == nil {
		err := n.Store.Rejoin(ctx)
		if err == nil {
			if !n.prepare(ctx) {
				return // the lease is lost again, and Watch retries
			}
			n.log.Info("this node has joined the cluster again")
			n.away.Store(false)
			n.catchUp(ctx)
			return
		}
		if !errors.Is(err, context.Canceled) {
			n.log.Warn("joining the cluster again failed; the node tries again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// catchUp starts fetching missing secrets.
func (n *Node) catchUp(ctx context.Context) {
	for _, x := range n.catchUps {
		if x.Lacks() {
			n.catching.Go(func() { x.catchUp(ctx) })
		}
	}
}

// prepare runs the functions that must succeed before this node serves again. It returns false if
// the node loses its lease again, or ctx ends, before they have succeeded.
func (n *Node) prepare(ctx context.Context) bool {
	for _, do := range n.first {
		for err := do(); err != nil; err = do() {
			n.log.Warn("this node is not ready to serve yet; it tries again", "error", err)
			select {
			case <-ctx.Done():
				return false
			case <-n.Store.Lost():
				return false
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
	return true
}
