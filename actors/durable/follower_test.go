package durable_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/persistence/memory"
)

// heldBack is a bus that can hold back the responses to one kind of request until release is
// called.
type heldBack struct {
	durable.Bus
	op byte

	mu   sync.Mutex
	held []func() // guarded by mu
	on   bool     // guarded by mu
}

func (h *heldBack) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	h.mu.Lock()
	holds := h.on && data[0] == h.op
	h.mu.Unlock()
	if !holds {
		h.Bus.Request(node, subject, data, timeout, done)
		return
	}
	h.Bus.Request(node, subject, data, timeout, func(b []byte, err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.held = append(h.held, func() { done(b, err) })
	})
}

// hold delays responses from now on. release delivers them and stops delaying.
func (h *heldBack) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = true
}

func (h *heldBack) release() (answers int) {
	h.mu.Lock()
	held := h.held
	h.on, h.held = false, nil
	h.mu.Unlock()
	for _, let := range held {
		let()
	}
	return len(held)
}

// askPosition is the first byte of a follower's request for the position.
const askPosition = 'p'

// A read that begins while an earlier request for the position is in flight sends its own. The read
// must show writes that were acknowledged after the earlier request.
func TestAReadDoesNotShareAnEarlierRequest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var bus *heldBack // the bus of the second node
		c := newClanWith(t, 2, func(o *durable.Options) {
			// With such slow beats, only reads request the position.
			o.Cluster.Beat, o.Cluster.OwnerTimeout = time.Hour, time.Hour
			bus = &heldBack{Bus: o.Cluster.Bus, op: askPosition}
			o.Cluster.Bus = bus
		})
		ask(t, get(t, c.hosts[0], "a"), "1")
		if got := c.sum(1); got != 1 {
			t.Fatalf("the follower shows %d, want 1", got)
		}
		read := func() (sum chan int) {
			sum = make(chan int, 1)
			go func() {
				hd, err := c.hosts[1].Get("a")
				if err != nil {
					t.Error(err)
				}
				sum <- hd.View().sum
			}()
			synctest.Wait()
			return sum
		}
		bus.hold()
		earlier := read()
		c.loseNews()
		ask(t, get(t, c.hosts[0], "a"), "1")
		later := read()
		questions := c.hosts[1].Stats().Questions.Load()
		if n := bus.release(); n != 1 {
			t.Fatalf("%d responses were in flight, want 1", n)
		}
		synctest.Wait()
		if sum := <-earlier; sum != 1 {
			t.Errorf("the earlier read shows %d, want 1", sum)
		}
		if n := c.hosts[1].Stats().Questions.Load() - questions; n != 1 {
			t.Errorf("the later read sent %d requests, want 1", n)
		}
		// Now the follower has received the position, and waits for the record.
		select {
		case sum := <-later:
			t.Fatalf("the later read returned %d before the replica shows 2", sum)
		default:
		}
		c.net.Disturb(nil)
		ask(t, get(t, c.hosts[0], "a"), "1")
		if sum := <-later; sum < 2 {
			t.Errorf("the later read shows %d, want at least 2", sum)
		}
	})
}

// loseNews drops unrequested messages from owners. Requests and responses arrive.
func (c *clan) loseNews() {
	c.net.Disturb(func(m bustest.Message) bustest.Fate { return bustest.Fate{Lost: m.Sort == bustest.News} })
}

// A replica becomes fresh once it shows the position that its owner has reported, not when it
// receives this position.
func TestAReplicaBehindItsOwnerIsNotFresh(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClanWith(t, 2, func(o *durable.Options) { o.Cluster.Beat, o.Cluster.OwnerTimeout = time.Hour, time.Hour })
		owner := get(t, c.hosts[0], "a")
		ask(t, owner, "1")
		c.sum(1)
		hd := c.hosts[1].Peek("a")
		if !hd.Fresh(0) {
			t.Fatal("a replica that has just caught up with its owner is not fresh")
		}
		time.Sleep(time.Minute) // simulated
		c.loseNews()
		ask(t, owner, "1")
		done := make(chan error, 1)
		go func() {
			_, err := c.hosts[1].Get("a")
			done <- err
		}()
		synctest.Wait()
		if hd.Fresh(time.Second) {
			t.Errorf("a replica that shows %d is fresh, but its owner has %d", hd.View().sum, owner.View().sum)
		}
		c.net.Disturb(nil)
		ask(t, owner, "1")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if _, err := c.hosts[1].Get("a"); err != nil || !hd.Fresh(time.Second) {
			t.Errorf("after catching up, the replica shows %d and is not fresh: %v", hd.View().sum, err)
		}
	})
}

// calls is an observer that records its calls.
type calls struct {
	mu  sync.Mutex
	all []string // guarded by mu
}

func (c *calls) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, fmt.Sprintf(format, args...))
}

func (c *calls) Recovered(seq uint64, e string) { c.note("recovered %d %s", seq, e) }
func (c *calls) Live(v *sumView, seq uint64)    { c.note("live at %d with %d", seq, v.sum) }
func (c *calls) Commit(_ *sumView, seq uint64, events []durable.Committed[string]) {
	c.note("commit of %d at %d", len(events), seq)
}

func (c *calls) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.all)
}

// twoHosts returns the hosts of two nodes on one store; edit can change the kind of each.
func twoHosts(t *testing.T, ownerTimeout time.Duration, edit func(i int, k *durable.Kind[string, string, sumView])) (net *bustest.Net, nodes []*memory.Node, hosts []*host) {
	net = bustest.NewNet()
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	for i, n := range nodes {
		bus, stop := net.Node(n.Node())
		t.Cleanup(stop)
		k := kind()
		k.Codec = &durable.Codec[string]{}
		edit(i, &k)
		hosts = append(hosts, start(t, n, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: n, Bus: bus, Beat: ownerTimeout, OwnerTimeout: ownerTimeout}}))
	}
	return net, nodes, hosts
}

// A follower that has never received anything from its owner has no state. If it takes over the
// actor, its observer recovers from the log, as at a start. It must not receive old events as new
// commits.
func TestATakeoverWithoutAReplicaRecovers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		observed := &calls{}
		net, nodes, hosts := twoHosts(t, time.Millisecond, func(i int, k *durable.Kind[string, string, sumView]) {
			if i == 1 {
				k.Keep, k.Observe = 2, func(string, *handle) durable.Observer[string, sumView] { return observed }
			}
		})
		owner := get(t, hosts[0], "a")
		for _, n := range []string{"1", "2", "3"} {
			ask(t, owner, n)
		}
		net.Cut("n1", "n2")
		got := make(chan error, 1)
		go func() {
			_, err := hosts[1].Get("a")
			got <- err
		}()
		synctest.Wait()
		if s := observed.String(); s != "[]" {
			t.Fatalf("the observer of an empty replica was called: %s", s)
		}
		nodes[0].Lose()
		hosts[0].Drop()
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if hd := hosts[1].Peek("a"); !hd.Owns() || hd.View().sum != 6 {
			t.Errorf("the follower shows %d, and owns the actor: %v", hd.View().sum, hd.Owns())
		}
		if s := observed.String(); s != "[recovered 2 2 recovered 3 3 live at 3 with 6]" {
			t.Errorf("the calls of the observer are %s", s)
		}
	})
}

// A message that another node broadcasts is not in the log. It reaches an actor once while the
// actor is in memory, and not after the actor has stopped.
func TestAStoppedActorReceivesNoMessages(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var received [2]atomic.Int32
		_, _, hosts := twoHosts(t, time.Hour, func(i int, k *durable.Kind[string, string, sumView]) {
			k.Receive = func(string, string, []byte) { received[i].Add(1) }
		})
		first, hd := get(t, hosts[0], "a"), get(t, hosts[1], "a")
		send := func(want int32) {
			t.Helper()
			before := received[1].Load()
			first.Broadcast([]byte("x"))
			synctest.Wait()
			if n := received[1].Load() - before; n != want {
				t.Errorf("the message was received %d times, want %d", n, want)
			}
		}
		send(1)
		if !hosts[1].Rest(context.Background(), hd, false) {
			t.Fatal("the actor does not rest")
		}
		send(0)
		get(t, hosts[1], "a")
		send(1)
	})
}
