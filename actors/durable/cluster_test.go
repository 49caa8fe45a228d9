package durable_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/persistence/memory"
)

// clan is a cluster of several nodes on one store.
type clan struct {
	*testing.T
	store   *memory.Database
	nodes   []*memory.Node
	net     *bustest.Net
	hosts   []*host
	stops   []func()
	seen    []*sync.Map // of each node: the events of its observer, by seq
	edit    func(*durable.Options)
	kind    func() durable.Kind[string, string, sumView]
	journal func(*memory.Node) durable.Journal // wraps the store of a node that boots
}

func newClan(t *testing.T, n int) *clan { return newClanWith(t, n, func(*durable.Options) {}) }

func newClanWith(t *testing.T, n int, edit func(*durable.Options)) *clan {
	return newClanOf(t, n, kind, edit)
}

func newClanOf(t *testing.T, n int, kind func() durable.Kind[string, string, sumView], edit func(*durable.Options)) *clan {
	c := &clan{T: t, net: bustest.NewNet(), edit: edit, kind: kind, journal: func(n *memory.Node) durable.Journal { return n }}
	c.store, c.nodes = memory.Share(n)
	t.Cleanup(func() { _ = c.store.Close() })
	for i := range c.nodes {
		c.hosts, c.stops, c.seen = append(c.hosts, nil), append(c.stops, nil), append(c.seen, new(sync.Map))
		c.boot(i)
	}
	return c
}

// boot starts a node's host.
func (c *clan) boot(i int) {
	bus, stop := c.net.Node(c.nodes[i].Node())
	k := c.kind()
	k.Keep = 1000
	k.Codec = &durable.Codec[string]{
		Encode: func(s string) ([]byte, error) {
			if s == "unsendable" {
				return nil, errors.New("nothing encodes this")
			}
			return []byte(s), nil
		},
		Decode: func(b []byte) (string, error) {
			if string(b) == "new" {
				return "", fmt.Errorf("%w: new", durable.ErrUnknownCommand)
			}
			return string(b), nil
		},
		EncodeReply: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
		DecodeReply: func(cmd string, b []byte) (v any, err error) {
			if cmd == "get" {
				var n int
				err = json.Unmarshal(b, &n)
				return n, err
			}
			return v, json.Unmarshal(b, &v)
		},
		Repeatable: func(s string) bool { return s == "get" },
	}
	k.Observe = func(string, *handle) durable.Observer[string, sumView] { return &watcher{c.seen[i]} }
	o := durable.Options{
		IdleAfter: -1, AskTimeout: 5 * time.Second,
		Cluster: &durable.Cluster{Store: c.nodes[i], Bus: bus, Beat: 2 * time.Millisecond, OwnerTimeout: 20 * time.Millisecond},
	}
	c.edit(&o)
	c.hosts[i] = start(c.T, c.journal(c.nodes[i]), k, o)
	c.stops[i] = stop
	c.Cleanup(stop)
}

// lose ends a node's lease, as if the node could not reach the store.
func (c *clan) lose(i int) {
	c.nodes[i].Lose()
	c.hosts[i].Drop()
}

type watcher struct{ seen *sync.Map }

func (w *watcher) Recovered(seq uint64, e string) { w.seen.Store(seq, e) }
func (w *watcher) Live(*sumView, uint64)          {}
func (w *watcher) Commit(_ *sumView, _ uint64, events []durable.Committed[string]) {
	for _, e := range events {
		w.seen.Store(e.Seq, e.Event)
	}
}

func (c *clan) sum(i int) int {
	c.Helper()
	return get(c.T, c.hosts[i], "a").View().sum
}

// A read on any node shows all acknowledged writes, whichever node accepted the write and whichever
// node owns the actor.
func TestEveryNodeExecutesCommandsAndReads(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 3)
		for i := range 30 {
			if v := ask(t, get(t, c.hosts[i%3], "a"), "1"); v != "1" {
				t.Fatalf("the command returned %v, want 1", v)
			}
			for j := range 3 {
				if got := c.sum((i + j) % 3); got != i+1 {
					t.Fatalf("after %d commands, node %d reads %d", i+1, (i+j)%3, got)
				}
			}
		}
		owners := 0
		for i := range 3 {
			if get(t, c.hosts[i], "a").Owns() {
				owners++
			}
			for seq := uint64(1); seq <= 30; seq++ {
				if e, ok := c.seen[i].Load(seq); !ok || e != "1" {
					t.Errorf("the observer of node %d received %v at seq %d, want 1", i, e, seq)
				}
			}
		}
		if owners != 1 {
			t.Errorf("%d nodes own the actor, want 1", owners)
		}
		if _, _, err := get(t, c.hosts[2], "a").Ask("bad"); !errors.Is(err, durable.Reject(durable.Invalid, "bad")) {
			t.Errorf("a rejected command returned %v", err)
		}
		if _, _, err := get(t, c.hosts[2], "a").Ask("panic"); !errors.Is(err, durable.ErrInternal) {
			t.Errorf("a panicking command returned %v, want ErrInternal", err)
		}
		if got := ask(t, get(t, c.hosts[1], "a"), "get"); got != 30 {
			t.Errorf("a reading command returned %v, want 30", got)
		}
	})
}

// When the owner is gone, another node takes over at its position and serves the waiting callers.
// No acknowledged write is missing.
func TestAnotherNodeTakesOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 3)
		ask(t, get(t, c.hosts[0], "a"), "1")
		for i := range 3 {
			c.sum(i)
		}
		acked := 1
		for round := range 6 {
			owner := round % 3
			if !get(t, c.hosts[owner], "a").Owns() {
				eventually(t, "the actor's move to the next node", func() bool {
					for _, h := range c.hosts { // repeated for all hosts, because another node can take the actor first
						h.GiveTo(get(t, h, "a"), c.nodes[owner].Node())
					}
					return get(t, c.hosts[owner], "a").Owns()
				})
			}
			ask(t, get(t, c.hosts[(owner+1)%3], "a"), "1")
			acked++
			c.lose(owner)
			for _, i := range []int{(owner + 1) % 3, (owner + 2) % 3} {
				eventually(t, "a takeover", func() bool {
					_, _, err := get(t, c.hosts[i], "a").Ask("1")
					if err == nil {
						acked++
					}
					return err == nil
				})
			}
			if err := c.nodes[owner].Rejoin(context.Background()); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if got := c.sum(i); got != acked {
					t.Fatalf("round %d: node %d reads %d, want %d", round, i, got, acked)
				}
			}
		}
	})
}

// A follower reads events that the network lost from the log.
func TestAFollowerReceivesLostEventsFromTheLog(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.sum(1)
		c.net.Cut("n1", "n2")
		for range 10 {
			ask(t, get(t, c.hosts[0], "a"), "1")
		}
		done := make(chan error, 1)
		go func() {
			_, err := c.hosts[1].Get("a")
			done <- err
		}()
		c.net.Repair("n1", "n2")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := get(t, c.hosts[1], "a").View().sum; got != 11 {
			t.Errorf("the follower shows %d, want 11", got)
		}
		for seq := uint64(1); seq <= 11; seq++ {
			if _, ok := c.seen[1].Load(seq); !ok {
				t.Errorf("the follower's observer did not receive seq %d", seq)
			}
		}
	})
}

// Each command that is in flight while the actor moves between nodes is executed exactly once.
func TestMovingAnActorLosesNoCommand(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 3)
		for i := range 3 {
			c.sum(i)
		}
		var wg sync.WaitGroup
		const each = 200
		for i := range 3 {
			hd := get(t, c.hosts[i], "a")
			wg.Go(func() {
				for range each {
					if _, _, err := hd.Ask("1"); err != nil {
						t.Errorf("on node %d, Ask returned %v", i, err)
					}
				}
			})
		}
		stop := make(chan struct{})
		var givers sync.WaitGroup
		givers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				for i := range 3 {
					if hd := c.hosts[i].Peek("a"); hd != nil && hd.Owns() {
						c.hosts[i].GiveTo(hd, c.nodes[(i+1+n%2)%3].Node())
					}
				}
			}
		})
		wg.Wait()
		close(stop)
		givers.Wait()
		for i := range 3 {
			if got := c.sum(i); got != 3*each {
				t.Errorf("node %d reads %d, want %d", i, got, 3*each)
			}
		}
	})
}

// A node that has lost its lease answers no reads from memory.
func TestWithoutALeaseNothingIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		hd := get(t, c.hosts[0], "a")
		follower := get(t, c.hosts[1], "a")
		eventually(t, "a fresh follower", func() bool { return follower.Fresh(time.Second) })
		if !hd.Fresh(0) {
			t.Error("the owner's view is not fresh")
		}
		c.nodes[0].Lose()
		if _, err := c.hosts[0].Get("a"); err == nil {
			t.Error("a read without a lease succeeded")
		}
		if hd.Fresh(time.Hour) {
			t.Error("without a lease, the view is fresh")
		}
		if got := c.sum(1); got != 1 {
			t.Errorf("the other node reads %d, want 1", got)
		}
	})
}

// Nodes can send each other messages that are not in the log.
func TestABroadcastReachesOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		net := bustest.NewNet()
		store, nodes := memory.Share(2)
		defer store.Close()
		got := make(chan string, 4)
		var hds []*handle
		for _, n := range nodes {
			bus, stop := net.Node(n.Node())
			defer stop()
			k := kind()
			k.Codec = &durable.Codec[string]{}
			k.Receive = func(id, node string, data []byte) {
				got <- fmt.Sprint(n.Node(), " heard ", node, " on ", id, ": ", string(data))
			}
			h := start(t, n, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: n, Bus: bus, Beat: time.Millisecond}})
			hds = append(hds, get(t, h, "a"))
		}
		hds[0].Broadcast([]byte("x"))
		if s := <-got; s != "n2 heard n1 on a: x" {
			t.Errorf("received %q", s)
		}
		hds[1].Broadcast([]byte("y"))
		if s := <-got; s != "n1 heard n2 on a: y" {
			t.Errorf("received %q", s)
		}
	})
}

// late is a node that reports the result of each commit only after it has received from hold.
type late struct {
	durable.Shared
	hold chan struct{}
}

func (l late) Open(actor string) (durable.Log, error) {
	log, err := l.Shared.Open(actor)
	if err != nil {
		return nil, err
	}
	return lateLog{log, l.hold}, nil
}

type lateLog struct {
	durable.Log
	hold chan struct{}
}

func (l lateLog) Append(b durable.Batch) error {
	done := b.Done
	b.Done = func(err error) {
		go func() {
			<-l.hold
			done(err)
		}()
	}
	return l.Log.Append(b)
}

// A follower does not show records that are on disk but not acknowledged. The next read could reach
// the owner, whose state does not contain these records yet.
func TestAFollowerIsNotAheadOfItsOwner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		net := bustest.NewNet()
		store, nodes := memory.Share(2)
		defer store.Close()
		hold := make(chan struct{}, 100)
		var hosts []*host
		for i, n := range nodes {
			bus, stop := net.Node(n.Node())
			defer stop()
			k := kind()
			k.Codec = &durable.Codec[string]{}
			var shared durable.Shared = n
			if i == 0 {
				shared = late{n, hold}
			}
			hosts = append(hosts, start(t, shared, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: shared, Bus: bus, Beat: time.Millisecond, OwnerTimeout: 20 * time.Millisecond}}))
		}
		owner := get(t, hosts[0], "a")
		hold <- struct{}{}
		ask(t, owner, "1")
		got := make(answers, 1)
		if err := owner.Submit("1", got); err != nil {
			t.Fatal(err)
		}
		reader, err := nodes[1].Follow("tally/a")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the record on disk", func() bool {
			tail, err := reader.Tail()
			return err == nil && tail == 2
		})
		if sum := get(t, hosts[1], "a").View().sum; sum != 1 {
			t.Errorf("before the commit, the follower shows %d, the owner %d", sum, get(t, hosts[0], "a").View().sum)
		}
		hold <- struct{}{}
		if r := <-got; r.Err != nil {
			t.Fatal(r.Err)
		}
		if sum := get(t, hosts[1], "a").View().sum; sum != 2 {
			t.Errorf("after the commit, the follower shows %d, want 2", sum)
		}
	})
}

// While the owner is alive but unreachable, reads on the follower fail. Its listeners still receive
// the events of the log.
func TestReadsFailWhileTheOwnerIsUnreachable(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.sum(1)
		c.net.Cut("n1", "n2")
		c.net.Cut("n2", "n1")
		ask(t, get(t, c.hosts[0], "a"), "1")
		if _, err := c.hosts[1].Get("a"); !errors.Is(err, durable.ErrUnavailable) {
			t.Errorf("a read during the cut returned %v, want ErrUnavailable", err)
		}
		if _, _, err := c.hosts[1].Peek("a").Ask("1"); !errors.Is(err, durable.ErrUnavailable) {
			t.Errorf("a command during the cut returned %v, want ErrUnavailable", err)
		}
		eventually(t, "the record from the log", func() bool {
			_, ok := c.seen[1].Load(uint64(2))
			return ok
		})
		c.net.Repair("n1", "n2")
		c.net.Repair("n2", "n1")
		eventually(t, "a read", func() bool {
			_, err := c.hosts[1].Get("a")
			return err == nil
		})
		if got := c.sum(1); got != 2 {
			t.Errorf("after the cut, the follower reads %d, want 2", got)
		}
	})
}

// A node stops while one of its replicas is being read. In an earlier version, shutdown waited
// until its timeout, because the read was no longer served.
func TestANodeStopsWhileAReplicaIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.sum(1)
		c.net.Cut("n1", "n2")
		c.net.Cut("n2", "n1")
		questions := c.hosts[1].Stats().Questions.Load()
		var read sync.WaitGroup
		read.Go(func() { _, _ = c.hosts[1].Get("a") })
		defer read.Wait()
		eventually(t, "the request", func() bool { return c.hosts[1].Stats().Questions.Load() > questions })
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.hosts[1].Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// A follower that catches up reads the log only up to the position that its owner has reported.
func TestCatchingUpEndsAtTheOwnersPosition(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		net := bustest.NewNet()
		store, nodes := memory.Share(2)
		defer store.Close()
		hold := make(chan struct{}, 100)
		var hosts []*host
		for i, n := range nodes {
			bus, stop := net.Node(n.Node())
			defer stop()
			k := kind()
			k.Codec = &durable.Codec[string]{}
			var shared durable.Shared = n
			if i == 0 {
				shared = late{n, hold}
			}
			// With this OwnerTimeout, the follower does not read the store on its own.
			hosts = append(hosts, start(t, shared, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: shared, Bus: bus, Beat: time.Millisecond, OwnerTimeout: time.Hour}}))
		}
		owner := get(t, hosts[0], "a")
		hold <- struct{}{}
		ask(t, owner, "1")
		if sum := get(t, hosts[1], "a").View().sum; sum != 1 {
			t.Fatalf("the follower shows %d, want 1", sum)
		}
		net.Cut("n1", "n2")
		hold <- struct{}{}
		ask(t, owner, "1") // the follower does not receive this event
		got := make(answers, 1)
		if err := owner.Submit("1", got); err != nil {
			t.Fatal(err)
		}
		reader, err := nodes[1].Follow("tally/a")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the record on disk", func() bool {
			tail, err := reader.Tail()
			return err == nil && tail == 3
		})
		net.Repair("n1", "n2")
		if sum := get(t, hosts[1], "a").View().sum; sum != 2 {
			t.Errorf("the follower shows %d, the owner %d", sum, owner.View().sum)
		}
		hold <- struct{}{}
		if r := <-got; r.Err != nil {
			t.Fatal(r.Err)
		}
	})
}

// A command that must not be repeated is not sent again when its reply was lost, even if another
// node then owns the actor.
func TestACommandWithALostReplyIsNotRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		owner := get(t, c.hosts[0], "a")
		ask(t, owner, "1")
		c.sum(1)
		c.net.Cut("n1", "n2")
		got := make(answers, 1)
		if err := c.hosts[1].Peek("a").Submit("1", got); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the command", func() bool { return owner.View().sum == 2 })
		c.lose(0)
		if r := <-got; !errors.Is(r.Err, durable.ErrUnavailable) {
			t.Errorf("the command got the reply %+v, want ErrUnavailable", r)
		}
		eventually(t, "a takeover", func() bool {
			hd, err := c.hosts[1].Get("a")
			return err == nil && hd.Owns()
		})
		if got := c.sum(1); got != 2 {
			t.Errorf("after the takeover, the sum is %d, want 2", got)
		}
	})
}

// Concurrent reads can share a request for the position, and each gets a reply.
func TestConcurrentReadsAreAllAnswered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.sum(1)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 50 {
					if _, err := c.hosts[1].Get("a"); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if s := c.hosts[1].Stats(); s.Questions.Load() > s.Confirmed.Load() {
			t.Errorf("%d requests for %d reads", s.Questions.Load(), s.Confirmed.Load())
		}
	})
}

// An actor moves only once none of its commands is in flight. The next owner could not answer
// callers who wait for such a command.
func TestCommandsInFlightAreAnsweredBeforeTheActorMoves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		owner := get(t, c.hosts[0], "a")
		ask(t, owner, "1")
		c.sum(1)
		release := c.store.Hold()
		defer release()
		got := make(answers, 1)
		if err := owner.Submit("1", got); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the append", func() bool { return c.store.Queued() > 0 })
		c.hosts[0].GiveTo(owner, "n2")
		release()
		eventually(t, "a reply", func() bool { return len(got) > 0 })
		if r := <-got; r.Err != nil {
			t.Error(r.Err)
		}
		eventually(t, "the actor's move", func() bool { return get(t, c.hosts[1], "a").Owns() })
		if got := c.sum(1); got != 2 {
			t.Errorf("the new owner shows %d, want 2", got)
		}
	})
}

// A client that comes from a node that is ahead waits until this node's replica has reached its
// position. In an earlier version, the client got an immediate resync.
func TestAwaitWaitsForAPositionOfTheOwner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		owner := get(t, c.hosts[0], "a")
		ask(t, owner, "1")
		c.sum(1)
		copied := c.hosts[1].Peek("a")
		c.net.Cut("n1", "n2")
		ask(t, owner, "1")
		_, ahead := owner.ViewAt()
		if at, err := copied.Await(ahead); !errors.Is(err, durable.ErrUnavailable) {
			t.Errorf("without the owner Await returned %d, %v, want ErrUnavailable", at, err)
		}
		c.net.Repair("n1", "n2")
		eventually(t, "a read", func() bool { _, err := c.hosts[1].Get("a"); return err == nil })
		if at, err := copied.Await(ahead); at < ahead || err != nil {
			t.Errorf("with the owner Await returned %d, %v", at, err)
		}
		for i, h := range []*handle{owner, copied} {
			if at, err := h.Await(ahead + 5); at != ahead || err != nil {
				t.Errorf("at node %d, Await of a future position returned %d, %v", i, at, err)
			}
		}
	})
}

// A waiting client receives the events that the owner acknowledges meanwhile.
func TestAwaitReturnsWhenThePositionIsReached(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		// The wait is bounded by a multiple of OwnerTimeout. OwnerTimeout is long, so that the test
		// passes on a busy machine.
		c := newClanWith(t, 2, func(o *durable.Options) { o.Cluster.OwnerTimeout = time.Minute })
		owner := get(t, c.hosts[0], "a")
		ask(t, owner, "1")
		c.sum(1)
		_, at := owner.ViewAt()
		questions := c.hosts[1].Stats().Questions.Load()
		got := make(chan string, 1)
		go func() {
			reached, err := c.hosts[1].Peek("a").Await(at + 1)
			got <- fmt.Sprint(reached, err)
		}()
		eventually(t, "the second request", func() bool { return c.hosts[1].Stats().Questions.Load() >= questions+2 })
		ask(t, owner, "1")
		if s := <-got; s != fmt.Sprint(at+1, nil) {
			t.Errorf("Await returned %s, want %d", s, at+1)
		}
	})
}
