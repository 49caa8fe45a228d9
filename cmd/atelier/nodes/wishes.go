package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/postgres"
)

// wishes is the table of an operator's requests to the nodes. Its keys include the stream of the
// database. It records which nodes are drained, and which codelabs stay on a node for a while.
const wishes = "nodewishes"

// moveStays is the time for which balance leaves a moved codelab on its node.
const moveStays = 10 * time.Minute

// wanted contains the table's data.
type wanted struct {
	drained map[string]bool   // by node
	moves   map[string]string // target nodes, by codelab id
}

const drainWish, moveWish = "drain/", "move/"

func (n *Node) wish(kind, name string) []byte { return ofStream(n.Store, kind+name) }

func (n *Node) readWishes() (wanted, error) {
	w := wanted{map[string]bool{}, map[string]string{}}
	prefix := n.wish("", "")
	err := n.Store.Scan(durable.Scan{Table: wishes, Prefix: prefix}, func(key, value []byte) bool {
		name := string(key[len(prefix):])
		if node, ok := strings.CutPrefix(name, drainWish); ok {
			w.drained[node] = true
		}
		if id, ok := strings.CutPrefix(name, moveWish); ok {
			w.moves[id] = string(value)
		}
		return true
	})
	return w, err
}

// standing returns the nodes and the operator's requests to them.
func (n *Node) standing() ([]durable.Member, wanted, error) {
	members, err := n.Store.Members()
	if err != nil {
		return nil, wanted{}, err
	}
	w, err := n.readWishes()
	return members, w, err
}

// Drain makes a node release everything it owns and accept nothing, even after a restart, until
// Undrain. The last node that serves cannot be drained.
func (n *Node) Drain(node string) error {
	members, w, err := n.standing()
	if err != nil {
		return err
	}
	_, err = n.Store.Get(addresses, ofStream(n.Store, node)) // the node may have stopped long ago
	known := err == nil || slices.ContainsFunc(members, func(m durable.Member) bool { return m.Node == node })
	none := fmt.Errorf("node %s cannot be drained: no other undrained node is alive", node)
	switch {
	case err != nil && !errors.Is(err, durable.ErrNotFound):
		return err
	case !known:
		return fmt.Errorf("there is no node %s: atelier cluster status lists the nodes", node)
	case w.drained[node]:
		return nil
	case !serves(members, w, node):
		return none
	}
	err = durable.Commit(n.Store, []durable.Row{{Table: wishes, Key: n.wish(drainWish, node), Value: []byte("drained")}})
	if err != nil {
		return err
	}
	// Another call may have drained the other nodes at the same moment.
	if w, err = n.readWishes(); err == nil && !serves(members, w, node) {
		return errors.Join(none, n.undrain(node))
	}
	return err
}

// serves reports whether a node other than the given one is alive and not drained.
func serves(members []durable.Member, w wanted, but string) bool {
	return slices.ContainsFunc(members, func(m durable.Member) bool { return m.Node != but && m.Left > 0 && !w.drained[m.Node] })
}

// Undrain reverts Drain.
func (n *Node) Undrain(node string) error {
	w, err := n.readWishes()
	if err == nil && !w.drained[node] {
		err = fmt.Errorf("there is no node %s that is drained", node)
	}
	if err != nil {
		return err
	}
	return n.undrain(node)
}

func (n *Node) undrain(node string) error {
	return durable.Commit(n.Store, []durable.Row{{Table: wishes, Key: n.wish(drainWish, node), Delete: true}})
}

// moveTime is the maximum time that Move waits for a move.
const moveTime = 20 * time.Second

// Move moves a codelab to a node, and waits for at most moveTime until that node owns the codelab.
// For ten minutes after the request, balance leaves the codelab on that node.
func (n *Node) Move(id, to string) error {
	members, w, err := n.standing()
	if err != nil {
		return err
	}
	switch {
	case !slices.ContainsFunc(members, func(m durable.Member) bool { return m.Node == to && m.Left > 0 }):
		return fmt.Errorf("no node %s is alive: atelier cluster status lists the nodes", to)
	case w.drained[to]:
		return fmt.Errorf("node %s is drained: atelier cluster undrain %s first", to, to)
	case !n.figuresOf(to).takes():
		return fmt.Errorf("node %s accepts no codelabs now: %s", to, n.figuresOf(to).Trouble.Text)
	}
	err = durable.Commit(n.Store, []durable.Row{{Table: wishes, Key: n.wish(moveWish, id), Value: []byte(to), TTL: moveStays}})
	if err != nil {
		return err
	}
	for until := time.Now().Add(moveTime); ; time.Sleep(100 * time.Millisecond) {
		owner, err := n.Store.Owner("codelab/" + id)
		if err != nil || owner == to {
			return err
		}
		if time.Now().After(until) {
			return errors.New("the codelab has not moved yet, and moves as soon as it can; look at atelier cluster status")
		}
	}
}

// Forget removes a stopped or dead node from the list of nodes. If the node starts again, it is
// listed again.
func (n *Node) Forget(url, node string) error {
	forgotten, err := postgres.Forget(url, node)
	if err != nil {
		return err
	}
	if !forgotten {
		return fmt.Errorf("no stopped or dead node is called %s", node)
	}
	return n.undrain(node)
}

// Drained reports whether an operator has asked this node to serve nobody.
func (n *Node) Drained() bool { return n != nil && n.drained.Load() }

// drainTurns is the number of Watch's turns, one per second, after which a drained node releases
// everything that no other node has taken.
const drainTurns = 20

// obey carries out an operator's requests to this node. others are the nodes that accept codelabs.
// If there are any, obey also drains a node in trouble. obey reports whether this node now serves
// nobody.
func (n *Node) obey(w wanted, others []string, server Duties) (aside bool) {
	me := n.Store.Node()
	for id, to := range w.moves {
		// A node that is drained or in trouble would return the codelab immediately. A node that
		// does not respond would make the codelab's people wait every second.
		if to == me && !w.drained[me] && n.Trouble() == nil || slices.Contains(others, to) {
			server.Move(id, to)
		}
	}
	n.drained.Store(w.drained[me])
	trouble := n.Trouble()
	if !w.drained[me] && (trouble == nil || len(others) == 0) {
		if n.draining > 0 {
			n.log.Info("this node serves again")
			n.draining = 0
			server.Undrain()
		}
		return false
	}
	if n.draining == 0 {
		why := "it is drained"
		if !w.drained[me] {
			why = trouble.Text
		}
		n.log.Info("this node gives its codelabs to other nodes, and takes no new ones", "why", why)
		server.Drain()
	}
	n.draining++
	if n.draining <= drainTurns && len(others) > 0 && server.GiveAll(others) > 0 {
		return false
	}
	n.draining = drainTurns + 1 // a codelab that arrives by mistake is released immediately
	return true
}
