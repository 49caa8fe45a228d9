package nodes

import (
	"context"
	"errors"
	"time"

	"atelier/actors/durable"
)

// Duties are what a server does for its node.
type Duties interface {
	// EndGrants ends what stands on sessions that another node has ended.
	EndGrants()
	// SendAway closes the connections of everybody, who connect again elsewhere.
	SendAway(why string)
	// Drop ends all actors at once.
	Drop()
	// CloseUnheard closes the rooms of codelabs whose owner this node cannot reach.
	CloseUnheard()
	// Compare compares the copies of actors here with their owners.
	Compare(alive []string)
	// People is how many are connected to this node.
	People() int
	// Give gives a codelab that this node owns, if there is one, to another.
	Give(to string)
}

// Watch looks after this node's place among the others until ctx ends.
func (n *Node) Watch(ctx context.Context, server Duties) {
	tick := time.NewTicker(time.Second)
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
		server.EndGrants()
		members, err := n.Store.Members()
		if err != nil {
			continue // the lease tells when that lasts
		}
		var alive []string
		for _, m := range members {
			if m.Left > 0 {
				alive = append(alive, m.Node)
			}
		}
		n.alive.Store(int64(max(len(alive), 1)))
		n.look(members)
		if aside := n.StandsAside(); n.Aside.Swap(aside) != aside && aside {
			n.startOver(ctx, server, "this server reaches no other; connect again")
		}
		n.people.Store(int64(server.People()))
		server.CloseUnheard()
		if turn%2 == 0 {
			server.Compare(alive)
		}
		if turn%10 == 0 {
			if to := n.ownsLess(members); to != "" {
				server.Give(to) // one at a time: each costs its people a moment
			}
		}
	}
}

// comeBack starts over after a lost lease: others may own by now what this node
// owned, and what its clients were told last may not be the newest. So they are
// sent away, and everything in memory goes.
func (n *Node) comeBack(ctx context.Context, server Duties) {
	n.lost.Add(1)
	n.log.Warn("this node has lost its lease; it starts over")
	n.startOver(ctx, server, "this server starts over; connect again")
}

// startOver sends everybody away, drops everything in memory, and comes back as a
// new incarnation, which owns nothing: what this node owned is free at once.
func (n *Node) startOver(ctx context.Context, server Duties, why string) {
	n.away.Store(true)
	returns := n.returns.Add(1)
	server.SendAway(why)
	server.Drop()
	for ctx.Err() == nil {
		err := n.Store.Rejoin(ctx)
		if err == nil {
			n.log.Info("this node is back")
			n.away.Store(false)
			for _, catchUp := range n.catchUps {
				n.catching.Go(func() { catchUp(ctx, returns) })
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			n.log.Warn("coming back failed", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// ownsLess names the living node that owns least, if a codelab more there and one
// less here makes the two more alike; else "".
func (n *Node) ownsLess(members []durable.Member) string {
	var mine, least *durable.Member
	for i := range members {
		switch m := &members[i]; {
		case m.Left <= 0:
		case m.Node == n.Store.Node():
			mine = m
		case !n.Answers(m.Node): // it may be one that cannot start
		case least == nil || m.Owns < least.Owns:
			least = m
		}
	}
	if mine == nil || least == nil || mine.Owns-least.Owns < 2 {
		return ""
	}
	return least.Node
}
