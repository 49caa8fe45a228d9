package codelab

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/room"
)

// aside is a message between nodes about a codelab's room that no event contains. It reports the
// people connected to a node, or carries short-lived frames or a signal.
type aside struct {
	Kind asideKind `json:"k"`
	// Person is the person who has connected or left, or the recipient of a signal.
	Person string `json:"p,omitempty"`
	// People lists everybody connected to the node.
	People []string `json:"all,omitempty"`
	// Count and Sum describe the people connected to the node, see room.Count.
	Count int    `json:"n,omitempty"`
	Sum   uint64 `json:"s,omitempty"`
	// Frames are for the sessions of every node.
	Frames []room.Frame `json:"f,omitempty"`
	// Payload is the payload of a signal.
	Payload []byte `json:"m,omitempty"`
}

type asideKind string

const (
	asideArrived asideKind = "arrived"
	asideLeft    asideKind = "left"
	asideAll     asideKind = "all"   // who is connected to the sender
	asideCount   asideKind = "count" // the number of people connected to the sender, to detect lost messages
	asideWho     asideKind = "who"   // asks the node Person, or all nodes, for their asideAll
	asideFrames  asideKind = "frames"
	asideSignal  asideKind = "signal"
)

// AsideKinds returns the names of all kinds, for counters of messages between nodes.
func AsideKinds() []string {
	var all []string
	for _, k := range []asideKind{asideArrived, asideLeft, asideAll, asideCount, asideWho, asideFrames, asideSignal} {
		all = append(all, "aside "+string(k))
	}
	return all
}

func (a aside) encode() []byte {
	b, _ := json.Marshal(a) // cannot fail: the values are texts, numbers and bytes
	return b
}

// nodes connects a room to the other nodes.
type nodes struct {
	h *handle
	w *Codelabs
}

func (l *nodes) Arrived(person string) {
	l.h.Broadcast(aside{Kind: asideArrived, Person: person}.encode())
}

func (l *nodes) Left(person string) { l.h.Broadcast(aside{Kind: asideLeft, Person: person}.encode()) }

func (l *nodes) Passed(frames []room.Frame) {
	l.h.Broadcast(aside{Kind: asideFrames, Frames: frames}.encode())
}

func (l *nodes) Gone(person string) {
	if r := l.w.room(l.h.ID()); r != nil {
		l.w.announce(Codelab{l.h, r, l.w}, person, false)
	}
}

// Signal sends a message to a person's sessions on other nodes. If person is "", it sends the
// message to the sessions of all facilitators.
func (w Codelab) Signal(person string, payload []byte) {
	w.Broadcast(aside{Kind: asideSignal, Person: person, Payload: payload}.encode())
}

// receive handles a message from another node.
func (w *Codelabs) receive(id, node string, data []byte) {
	ws, ok := w.Peek(id)
	var a aside
	if !ok || json.Unmarshal(data, &a) != nil {
		return
	}
	switch a.Kind {
	case asideArrived, asideLeft:
		if ws.Room.Elsewhere(node, a.Person, a.Kind == asideArrived) {
			w.announce(ws, a.Person, true)
		}
	case asideAll:
		w.all(ws, node, a.People)
	case asideCount:
		if n, sum := ws.Room.Count(node); n != a.Count || sum != a.Sum {
			ws.Broadcast(aside{Kind: asideWho, Person: node}.encode())
		}
	case asideWho:
		if a.Person == "" || a.Person == w.Durable.Cluster.Store.Node() {
			ws.Broadcast(aside{Kind: asideAll, People: ws.Room.Here()}.encode())
		}
	case asideFrames:
		ws.Room.Transient(a.Frames...)
	case asideSignal:
		if w.Signal != nil {
			w.Signal(ws, a.Person, a.Payload)
		}
	}
}

func (w *Codelabs) all(ws Codelab, node string, people []string) {
	for _, person := range ws.Room.AllElsewhere(node, people) {
		w.announce(ws, person, true)
	}
}

// A person can connect to another node before this node's replica of the codelab contains their
// record. This node then waits for the record. namelessInterval is its polling interval, and
// namelessLong the timeout.
const (
	namelessInterval = 100 * time.Millisecond
	namelessLong     = 10 * time.Second
)

// announce notifies this node's sessions that a person has connected or left. If the replica does
// not contain an arrived person yet, the notification is postponed until it does. After
// namelessLong, or if the person has left, the notification is dropped.
func (w *Codelabs) announce(ws Codelab, person string, arrived bool) {
	w.announceWithin(namelessLong, ws, person, arrived)
}

func (w *Codelabs) announceWithin(left time.Duration, ws Codelab, person string, arrived bool) {
	if w.Announce == nil {
		return
	}
	if arrived && person != FacilitatorID && ws.View().Attendee(person) == nil {
		if left > 0 {
			w.Durable.Clock.AfterFunc(namelessInterval, func() {
				if again, ok := w.Peek(ws.ID()); ok && again.Room.IsPresent(person) {
					w.announceWithin(left-namelessInterval, again, person, true)
				}
			})
		}
		return
	}
	w.Announce(ws, person, arrived)
}

// Compare sends the number of people connected to this node to the other nodes, so that they detect
// lost messages. It also publishes the counts for Online, removes the people of dead nodes, and
// removes the remaining data of codelabs that other nodes deleted. It is called regularly.
func (w *Codelabs) Compare(alive []string) {
	w.publishCounts(alive)
	for _, ws := range w.Active() {
		if ws.Owns() && ws.View().deleted {
			w.purge(ws)
			continue
		}
		n, sum := ws.Room.Count("")
		ws.Broadcast(aside{Kind: asideCount, Count: n, Sum: sum}.encode())
		for _, node := range ws.Room.Nodes() {
			if !slices.Contains(alive, node) {
				w.all(ws, node, nil)
			}
		}
	}
}

// purge removes the remaining data of a codelab that another node has deleted. That node released
// the codelab before it removed the data. In between, this node took over the codelab, because it
// had a replica.
func (w *Codelabs) purge(ws Codelab) {
	ctx, cancel := clock.WithTimeout(context.Background(), w.Durable.Clock, time.Second)
	defer cancel()
	if !w.host.Rest(ctx, ws.handle, false) {
		return // still in use; retried later
	}
	w.removeLog(ws.ID())
}

// removeLog removes a deleted codelab's stored data, unless another node owns the codelab and
// removes the data.
func (w *Codelabs) removeLog(id string) {
	var owned *durable.Owned
	if err := w.Journal.Purge("codelab/" + id); err != nil && !errors.As(err, &owned) {
		w.Logger.Error("removing the data of a deleted codelab failed; the next start tries again", "codelab", id, "error", err)
	}
}

// elsewhere reports whether another node owns a codelab. In that case the other node does the
// remaining work.
func (w *Codelabs) elsewhere(id string) bool {
	c := w.Durable.Cluster
	if c == nil {
		return false
	}
	node, err := c.Store.Owner("codelab/" + id)
	return err == nil && node != "" && node != c.Store.Node()
}

// counts contains the numbers of connected attendees in other nodes' codelabs, as last reported by
// these nodes.
type counts struct {
	mu     sync.Mutex
	byNode map[string]map[string]int // guarded by mu
}

// CountSubject is the subject on which nodes publish the number of connected attendees of each
// codelab that they own.
const CountSubject = "online"

// listenToCounts receives other nodes' counts for the codelabs that they own.
func (w *Codelabs) listenToCounts() error {
	c := w.Durable.Cluster
	if c == nil {
		return nil
	}
	stop, err := c.Bus.Listen(CountSubject, func(node string, data []byte) {
		byCodelab := map[string]int{}
		if json.Unmarshal(data, &byCodelab) != nil {
			return
		}
		w.counts.mu.Lock()
		defer w.counts.mu.Unlock()
		if w.counts.byNode == nil {
			w.counts.byNode = map[string]map[string]int{}
		}
		w.counts.byNode[node] = byCodelab
	})
	w.stopCounts = stop
	return err
}

// publishCounts publishes the counts of the codelabs that this node owns.
func (w *Codelabs) publishCounts(alive []string) {
	mine := map[string]int{}
	for _, ws := range w.Active() {
		if n := ws.OnlineAttendees(); ws.Owns() && n > 0 {
			mine[ws.ID()] = n
		}
	}
	b, _ := json.Marshal(mine)                         // cannot fail: the values are texts and numbers
	_ = w.Durable.Cluster.Bus.Publish(CountSubject, b) // an error can be ignored, because the next call publishes again
	w.counts.mu.Lock()
	defer w.counts.mu.Unlock()
	for node := range w.counts.byNode {
		if !slices.Contains(alive, node) {
			delete(w.counts.byNode, node)
		}
	}
}

// Online returns the number of connected attendees of each codelab, on any node. For codelabs that
// are not in this node's memory, the number can be some seconds old.
func (w *Codelabs) Online() map[string]int {
	online := map[string]int{}
	w.counts.mu.Lock()
	for _, byCodelab := range w.counts.byNode {
		for id, n := range byCodelab {
			online[id] = n
		}
	}
	w.counts.mu.Unlock()
	for _, ws := range w.Active() {
		online[ws.ID()] = ws.OnlineAttendees()
	}
	return online
}

// SessionNumbers returns the first number for a node's live sessions. Session numbers of different
// nodes must differ, because nodes identify the session that caused an event by its number. The
// upper 24 bits are a hash of node and incarnation, so equal numbers are unlikely.
func SessionNumbers(node string, incarnation uint64) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(binary.BigEndian.AppendUint64([]byte(node), incarnation)) // never fails
	return sum.Sum64() >> 40 << 40
}
