package durable

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// interconnect is the part of a handle that is needed only in a cluster.
type interconnect struct {
	// up means that the actor accepts messages. The library registers an actor's name before its
	// mailbox works, and a message sent in between causes a panic.
	up atomic.Bool
	// owns means that this node owns the actor, and its runtime has recovered.
	owns atomic.Bool
	// owner is the node that this node follows.
	owner atomic.Pointer[string]
	// followed is set while at least one node receives the events.
	followed atomic.Bool
	// fresh is the Clock's uptime at which the replica last included everything acknowledged, or 0
	// if it never did. The uptime stops while the machine sleeps, but the lease also expires during
	// sleep, so Fresh checks both.
	fresh atomic.Int64
	// ownerUnreachable means that another living node owns the actor, but has been silent for so
	// long that this node sends it no more requests.
	ownerUnreachable atomic.Bool
	// head is the last position announced by the owner.
	head atomic.Uint64
	// distrusted means that this replica differed from its owner twice within a minute. The replica
	// is now built only from the store.
	distrusted atomic.Bool

	listening     sync.Mutex
	stopListening func() // ends the subscription; guarded by listening
}

// answer sends a reply to a waiting caller.
func (h *Handle[C, E, V]) answer(to Replier, r Reply) {
	h.pending.Add(-1)
	if to != nil {
		to.Reply(r)
	}
}

// Owns reports whether this node owns the actor; always true without a cluster.
func (h *Handle[C, E, V]) Owns() bool { return h.host.opts.Cluster == nil || h.owns.Load() }

// Owner returns the other node that owns the actor; "" if the owner is this node or unknown.
func (h *Handle[C, E, V]) Owner() string {
	if name := h.owner.Load(); name != nil && !h.Owns() {
		return *name
	}
	return ""
}

// OwnerUnreachable reports whether the actor's owner is another node that is alive but cannot be
// reached. If so, clients of this node should connect to another node.
func (h *Handle[C, E, V]) OwnerUnreachable() bool { return !h.Owns() && h.ownerUnreachable.Load() }

// Fresh reports whether the view includes everything that was acknowledged longer ago than within.
// On the owner, Fresh is true while the lease is valid.
func (h *Handle[C, E, V]) Fresh(within time.Duration) bool {
	c := h.host.opts.Cluster
	switch {
	case c == nil:
		return true
	case !c.Store.Holds(): // checked first: after the other checks, a new lease could be valid
		return false
	case h.owns.Load():
		return true
	}
	at := h.fresh.Load()
	return at != 0 && h.host.opts.Clock.Uptime() <= time.Duration(at)+within
}

// Broadcast sends a message to the other nodes with a replica, where Kind.Receive receives it.
// Messages are not ordered with commits, and a lost message is not repeated.
func (h *Handle[C, E, V]) Broadcast(data []byte) {
	if c := h.host.opts.Cluster; c != nil {
		_ = c.Bus.Publish(h.subject(), append([]byte{kindAside}, data...))
	}
}

func (h *Handle[C, E, V]) subject() string { return "actor." + h.host.kind.Name + "." + h.id }

func (h *Host[C, E, V]) askSubject() string { return "ask." + h.kind.Name }

// listen receives the messages from other nodes about the actor until unlisten.
func (h *Handle[C, E, V]) listen() error {
	h.listening.Lock()
	defer h.listening.Unlock()
	if h.stopListening != nil {
		return nil
	}
	root := h.host.system.Root
	stop, err := h.host.opts.Cluster.Bus.Listen(h.subject(), func(from string, data []byte) {
		if len(data) > 0 && data[0] == kindAside {
			if h.host.kind.Receive != nil {
				h.host.kind.Receive(h.id, from, data[1:])
			}
			return
		}
		if t, ok := parseReplication(data); ok {
			root.Send(h.pid, ownerMessage{from, t})
		}
	})
	h.stopListening = stop
	return err
}

func (h *Handle[C, E, V]) unlisten() {
	h.listening.Lock()
	defer h.listening.Unlock()
	if h.stopListening != nil {
		h.stopListening()
		h.stopListening = nil
	}
}

// current waits until the view includes everything that any node acknowledged before the call.
func (h *Handle[C, E, V]) current() error {
	if h.owns.Load() {
		if !h.host.opts.Cluster.Store.Holds() {
			return ErrUnavailable
		}
		return nil
	}
	if h.pending.Add(1) > int64(h.host.opts.MaxPending) {
		h.pending.Add(-1)
		return ErrBusy
	}
	if c := h.Condition(); c != Running {
		h.pending.Add(-1)
		return ErrUnavailable
	}
	sl := h.host.replies.get()
	h.host.system.Root.Send(h.pid, readHere{sl})
	return h.host.replies.await(sl).Err
}

// Await waits until the view includes a position that a client has read elsewhere, and returns the
// view's position at that time. On the owner it does not wait, because the owner has acknowledged
// nothing after its view. On other nodes it asks the owner repeatedly, for at most readTimes times
// OwnerTimeout. If the result is lower than seq, the owner itself did not have seq at the end of
// the wait. If the owner could not be reached, the actor is not running, or this node has no valid
// lease, Await fails with ErrUnavailable. If too many callers wait for the actor, it fails with
// ErrBusy. Without a cluster, Await returns immediately.
func (h *Handle[C, E, V]) Await(seq uint64) (uint64, error) {
	at := func() uint64 { _, at := h.ViewAt(); return at }
	c := h.host.opts.Cluster
	if c == nil || at() >= seq {
		return at(), nil
	}
	until := h.host.opts.Clock.Uptime() + readTimes*c.OwnerTimeout
	tick := h.host.opts.Clock.NewTicker(c.Beat)
	defer tick.Stop()
	for {
		late := h.host.opts.Clock.Uptime() >= until
		if err := h.current(); err != nil {
			return 0, err
		}
		if at() >= seq || h.owns.Load() || late {
			return at(), nil
		}
		<-tick.C()
	}
}

// readTimes bounds how long Await asks the owner, as a multiple of Cluster.OwnerTimeout.
const readTimes = 3

// Near returns an actor's handle with a view that includes everything acknowledged longer ago than
// within. If the view on this node already does, Near asks no other node.
func (h *Host[C, E, V]) Near(id string, within time.Duration) (*Handle[C, E, V], error) {
	if h.opts.Cluster != nil {
		if hd := h.Peek(id); hd != nil && hd.Condition() == Running && hd.Fresh(within) {
			return hd, nil
		}
	}
	return h.Get(id)
}

// join starts serving other nodes, and starts the beats.
func (h *Host[C, E, V]) join() error {
	c := h.opts.Cluster
	stop, err := c.Bus.Serve(h.askSubject(), h.serve)
	if err != nil {
		return fmt.Errorf("serve other nodes: %w", err)
	}
	h.beating.Go(func() {
		defer stop()
		tick := h.opts.Clock.NewTicker(c.Beat)
		defer tick.Stop()
		for {
			select {
			case <-h.rested:
				return
			case <-tick.C():
			}
			for _, hd := range h.Active() {
				if hd.up.Load() && (hd.followed.Load() || !hd.owns.Load()) {
					h.system.Root.Send(hd.pid, beat{})
				}
			}
		}
	})
	return nil
}

// serve answers another node's request. It does not block.
func (h *Host[C, E, V]) serve(from string, data []byte, reply func([]byte)) {
	a, ok := parseAsk(data)
	if !ok {
		reply(elsewhere)
		return
	}
	if a.op == askTake {
		go func() { // on another goroutine, because Get reads the log
			_, _ = h.Get(a.id)
			reply(answer{kind: answerDone}.encode())
		}()
		return
	}
	// Without a lease the state can be stale. A caller that found the actor here could continue
	// under the next lease, and would then treat the stale state as current.
	if !h.opts.Cluster.Store.Holds() {
		reply(elsewhere)
		return
	}
	hd := h.Peek(a.id)
	if hd == nil || !hd.owns.Load() || hd.Condition() != Running {
		reply(elsewhere)
		return
	}
	switch a.op {
	case askPosition:
		at := hd.view.Load()
		// The lease is checked after the position was read. If the lease is valid now, no other
		// node had taken the actor and acknowledged more when the position was read.
		if !h.opts.Cluster.Store.Holds() {
			reply(elsewhere)
			return
		}
		reply(answer{kind: answerDone, seq: at.seq, body: encodeChain(at.chain)}.encode())
	case askFollow:
		h.system.Root.Send(hd.pid, followed{from, reply})
	case askLeave:
		h.system.Root.Send(hd.pid, unfollowed{from})
		reply(answer{kind: answerDone}.encode())
	case askCommand:
		cmd, err := h.kind.Codec.Decode(a.body)
		if err != nil {
			h.log.Error("cannot decode a command from another node, which may run a newer program", "node", from, "error", err)
			if !errors.Is(err, ErrUnknownCommand) {
				err = ErrInternal
			}
			reply(answer{kind: answerRefused, body: encodeRefusal(err)}.encode())
			return
		}
		err = hd.Submit(cmd, &remoteReplier[C]{cmd, h.kind.Codec, reply})
		switch {
		case err == nil:
		case errors.Is(err, ErrUnavailable): // the actor has just stopped, and did not receive the command
			reply(elsewhere)
		default:
			reply(answer{kind: answerRefused, body: encodeRefusal(err)}.encode())
		}
	default:
		reply(elsewhere)
	}
}

// GiveTo starts to move a running actor that this node owns to another node. The actor
// moves once everything in flight is committed. If the actor is not running here, or node
// is this node, GiveTo does nothing.
func (h *Host[C, E, V]) GiveTo(hd *Handle[C, E, V], node string) {
	if hd.owns.Load() && hd.Condition() == Running && node != h.opts.Cluster.Store.Node() {
		h.system.Root.Send(hd.pid, handOver{node})
	}
}

// Drop stops all actors immediately, without a snapshot. It is called after this node's lease has
// expired, so commits in progress can only fail. Drop waits until the actors have stopped.
func (h *Host[C, E, V]) Drop() {
	for _, hd := range h.Active() {
		hd.condition.Store(int32(Resting))
		hd.owns.Store(false)
		hd.readyOnce.Do(func() { close(hd.ready) })
		if hd.up.Load() { // an actor that is not up checks its condition when it starts
			h.system.Root.Send(hd.pid, drop{})
		}
		<-hd.done
		h.forget(hd) // a quarantined actor does not remove its own handle
	}
}
