package durable_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/persistence/memory"
)

// Without a lease, commands that need no commit are not answered either. Another node may have
// changed the state since.
func TestCommandsFailWithoutALease(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		hd := get(t, c.hosts[0], "a")
		c.nodes[0].Lose()
		ask(t, get(t, c.hosts[1], "a"), "1")
		for _, cmd := range []string{"get", "bad"} {
			if v, _, err := hd.Ask(cmd); !errors.Is(err, durable.ErrUnavailable) {
				t.Errorf("%s without a lease returned %v, %v", cmd, v, err)
			}
		}
	})
}

// A quarantine ends when the lease is lost, because all actors then start again. In an earlier
// version, the actor stayed in the stopping state, and callers waited for it repeatedly.
func TestALostLeaseEndsAQuarantine(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClanWith(t, 1, func(o *durable.Options) { o.MaxFailures = -1 })
		hd := get(t, c.hosts[0], "a")
		_, _, _ = hd.Ask("poison")
		eventually(t, "the quarantine", func() bool { return hd.Condition() == durable.Quarantined })
		c.lose(0)
		if c.hosts[0].Peek("a") != nil {
			t.Fatal("the quarantined actor is still in memory")
		}
		if err := c.nodes[0].Rejoin(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := c.sum(0); got != 0 {
			t.Errorf("the sum is %d, want 0", got)
		}
	})
}

// A lost lease can end a quarantine early. When the planned end of the quarantine comes later, the
// actor's successor must stay.
func TestAnEarlierQuarantineKeepsTheSuccessor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClanWith(t, 1, func(o *durable.Options) { o.MaxFailures, o.QuarantineFor = -1, time.Minute })
		hd := get(t, c.hosts[0], "a")
		_, _, _ = hd.Ask("poison")
		eventually(t, "the quarantine", func() bool { return hd.Condition() == durable.Quarantined })
		c.lose(0)
		if err := c.nodes[0].Rejoin(context.Background()); err != nil {
			t.Fatal(err)
		}
		next := get(t, c.hosts[0], "a")
		time.Sleep(2 * time.Minute)
		if c.hosts[0].Peek("a") != next {
			t.Error("the successor was removed")
		}
	})
}

// regained is a node that loses its lease and gets a new one during a call of Holds, as if the
// calling goroutine were suspended between two checks.
type regained struct {
	durable.Shared
	mu   sync.Mutex
	then func() // guarded by mu; called once
}

func (r *regained) Holds() bool {
	r.mu.Lock()
	then := r.then
	r.then = nil
	r.mu.Unlock()
	if then != nil {
		then()
	}
	return r.Shared.Holds()
}

// After a node gets a new lease, it does not show actors of the lost one.
func TestANewLeaseDoesNotCoverEarlierActors(t *testing.T) {
	for name, check := range map[string]func(hd *handle, other durable.Bus) (old bool){
		"fresh": func(hd *handle, _ durable.Bus) bool { return hd.Fresh(0) },
		"position": func(_ *handle, other durable.Bus) bool {
			got := make(chan []byte, 1)
			other.Request("n1", "ask.tally", []byte("p\x01a"), 10*time.Second, func(b []byte, _ error) { got <- b })
			b := <-got
			return len(b) == 0 || b[0] != 'e'
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				net := bustest.NewNet()
				store, nodes := memory.Share(2)
				defer store.Close()
				n := &regained{Shared: nodes[0]}
				k := kind()
				k.Codec = &durable.Codec[string]{}
				bus, stop := net.Node("n1")
				defer stop()
				other, stop := net.Node("n2")
				defer stop()
				h := start(t, n, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: n, Bus: bus, Beat: time.Hour, OwnerTimeout: time.Hour}})
				hd := get(t, h, "a")
				ask(t, hd, "1")
				n.mu.Lock()
				n.then = func() {
					h.Drop()
					_ = nodes[0].Rejoin(context.Background())
				}
				n.mu.Unlock()
				nodes[0].Lose()
				if check(hd, other) {
					t.Error("the actor of the lost lease is still used")
				}
			})
		})
	}
}

// lapsing is a node whose lease ends just after Holds is called.
type lapsing struct {
	durable.Shared
	end func()
}

func (l *lapsing) Holds() bool {
	held := l.Shared.Holds()
	if l.end != nil {
		l.end()
	}
	return held
}

// An owner checks its lease after it has read its position. If the process was suspended in
// between, other nodes may already be ahead of that position.
func TestAPositionIsNotReturnedAfterTheLeaseEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		net := bustest.NewNet()
		store, nodes := memory.Share(2)
		defer store.Close()
		n := &lapsing{Shared: nodes[0]}
		k := kind()
		k.Codec = &durable.Codec[string]{}
		bus, stop := net.Node("n1")
		defer stop()
		other, stop := net.Node("n2")
		defer stop()
		h := start(t, n, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: n, Bus: bus, Beat: time.Hour, OwnerTimeout: time.Hour}})
		ask(t, get(t, h, "a"), "1")
		n.end = nodes[0].Lose
		got := make(chan []byte, 1)
		other.Request("n1", "ask.tally", []byte("p\x01a"), 10*time.Second, func(b []byte, _ error) { got <- b })
		if b := <-got; len(b) == 0 || b[0] != 'e' {
			t.Errorf("the position was returned: %q", b)
		}
	})
}

// Only the owner can return the last acknowledged position, because a replica can be behind.
func TestAReplicaDoesNotAnswerForTheOwner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		get(t, c.hosts[1], "a")
		other, stop := c.net.Node("n3")
		defer stop()
		for _, op := range []string{"p", "f"} {
			got := make(chan []byte, 1)
			other.Request("n2", "ask.tally", []byte(op+"\x01a"), 10*time.Second, func(b []byte, _ error) { got <- b })
			if b := <-got; len(b) == 0 || b[0] != 'e' {
				t.Errorf("a replica answered the request %q with %q", op, b)
			}
		}
	})
}

// A node with a replica of a purged actor does not restore it when it takes over.
func TestATakeoverDoesNotRestoreAPurgedActor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.sum(1)
		if err := c.nodes[0].Purge("tally/a"); err != nil {
			t.Fatal(err)
		}
		c.lose(0)
		eventually(t, "a takeover", func() bool { return get(t, c.hosts[1], "a").Owns() })
		if got := c.sum(1); got != 0 {
			t.Errorf("the new owner shows %d, want 0", got)
		}
		ask(t, get(t, c.hosts[1], "a"), "1")
	})
}

// Rested is called before the next incarnation begins, so that it cannot remove data of that
// incarnation.
func TestRestedIsCalledBeforeTheNextIncarnation(t *testing.T) {
	k := kind()
	var h *host
	began := make(chan struct{}, 2)
	k.Observe = func(string, *handle) durable.Observer[string, sumView] {
		began <- struct{}{}
		return &watcher{new(sync.Map)}
	}
	asked := make(chan error, 1)
	k.Rested = func(string) {
		before, about := len(began), make(chan struct{})
		go func() {
			close(about)
			_, err := h.Get("a")
			asked <- err
		}()
		<-about
		for range 1000 {
			runtime.Gosched()
		}
		if len(began) > before {
			t.Error("the next incarnation has begun")
		}
	}
	h = start(t, store(t), k, durable.Options{IdleAfter: -1})
	hd := get(t, h, "a")
	if !h.Rest(context.Background(), hd, false) {
		t.Fatal("the actor did not rest")
	}
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
}
