package durable_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/persistence/memory"
)

// written records the events of a node's observer, in order.
type written struct {
	mu     sync.Mutex
	events []string // guarded by mu
}

func (w *written) Recovered(_ uint64, e string) { w.note(e) }
func (w *written) Live(*sumView, uint64)        {}
func (w *written) Commit(_ *sumView, _ uint64, events []durable.Committed[string]) {
	for _, e := range events {
		w.note(e.Event)
	}
}

func (w *written) note(e string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.events)
}

// ordered returns hosts whose commands are all repeatable, and the events of the last host.
func ordered(t *testing.T, n int, over func(durable.Bus) durable.Bus) (net *bustest.Net, nodes []*memory.Node, hosts []*host, last *written) {
	net, last = bustest.NewNet(), &written{}
	store, nodes := memory.Share(n)
	t.Cleanup(func() { _ = store.Close() })
	for i, nd := range nodes {
		bus, stop := net.Node(nd.Node())
		t.Cleanup(stop)
		k := kind()
		k.Codec = &durable.Codec[string]{
			Encode: func(s string) ([]byte, error) { return []byte(s), nil }, Decode: func(b []byte) (string, error) { return string(b), nil },
			EncodeReply: func(string, any) ([]byte, error) { return nil, nil }, DecodeReply: func(string, []byte) (any, error) { return nil, nil },
			Repeatable: func(string) bool { return true },
		}
		if i == n-1 {
			k.Keep, k.Observe = 1000, func(string, *handle) durable.Observer[string, sumView] { return last }
		}
		hosts = append(hosts, start(t, nd, k, durable.Options{
			IdleAfter: -1, AskTimeout: time.Minute,
			Cluster: &durable.Cluster{Store: nd, Bus: over(bus), Beat: 100 * time.Millisecond, OwnerTimeout: time.Second},
		}))
	}
	return net, nodes, hosts, last
}

func plain(b durable.Bus) durable.Bus { return b }

// askCommand is the first byte of a command that is sent to the owner.
const askCommand = 'c'

// submitted sends a command and returns a channel for its reply.
func submitted(t *testing.T, hd *handle, cmd string) answers {
	t.Helper()
	got := make(answers, 1)
	if err := hd.Submit(cmd, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func acked(t *testing.T, all ...answers) {
	t.Helper()
	for i, got := range all {
		if r := <-got; r.Err != nil {
			t.Errorf("command %d returned %v", i, r.Err)
		}
	}
}

// In an earlier version, an attendee who sent step 2 and then step 3 while the codelab's owner was
// killed ended at step 2. The new owner executed the second command immediately, but the first only
// after waiting for the dead node's reply.
func TestATakeoverKeepsTheOrderOfCommands(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		net, nodes, hosts, records := ordered(t, 2, plain)
		ask(t, get(t, hosts[0], "a"), "1")
		copied := get(t, hosts[1], "a")
		net.Cut("n2", "n1")
		var all []answers
		for n := range 20 {
			all = append(all, submitted(t, copied, fmt.Sprint(2+n)))
		}
		synctest.Wait()
		nodes[0].Lose()
		hosts[0].Drop()
		for !copied.Owns() {
			time.Sleep(10 * time.Millisecond)
		}
		acked(t, append(all, submitted(t, copied, "22"))...)
		if want := "[" + strings.Join(numbers(1, 22), " ") + "]"; records.String() != want {
			t.Errorf("the log has %s, want %s", records, want)
		}
	})
}

// The order is also kept if a third node takes over and the sending node stays a follower.
func TestAThirdNodeGetsCommandsInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		net, _, hosts, records := ordered(t, 3, plain)
		ask(t, get(t, hosts[0], "a"), "1")
		between, next := get(t, hosts[1], "a"), get(t, hosts[2], "a")
		net.Cut("n2", "n1")
		var all []answers
		for n := range 20 {
			all = append(all, submitted(t, between, fmt.Sprint(2+n)))
		}
		synctest.Wait()
		hosts[0].GiveTo(hosts[0].Peek("a"), "n3")
		for !next.Owns() {
			time.Sleep(10 * time.Millisecond)
		}
		acked(t, append(all, submitted(t, between, "22"))...)
		if want := "[" + strings.Join(numbers(1, 22), " ") + "]"; records.String() != want {
			t.Errorf("the log has %s, want %s", records, want)
		}
	})
}

// unreachable is a bus on which the next commands reach no node.
type unreachable struct {
	durable.Bus
	next *atomic.Int32
}

func (u unreachable) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	if data[0] == askCommand && u.next.Add(-1) >= 0 {
		go done(nil, durable.ErrNobody)
		return
	}
	u.Bus.Request(node, subject, data, timeout, done)
}

// While a command waits for the next look-up of the owner, later commands also wait.
func TestACommandDoesNotOvertakeAWaitingOne(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var fail atomic.Int32
		_, _, hosts, records := ordered(t, 2, func(b durable.Bus) durable.Bus { return unreachable{b, &fail} })
		ask(t, get(t, hosts[0], "a"), "1")
		copied := get(t, hosts[1], "a")
		fail.Store(2) // two attempts fail: the first, and the next one, which must wait for its turn
		first := submitted(t, copied, "2")
		synctest.Wait()
		if len(first) > 0 {
			t.Fatal("the first command does not wait")
		}
		acked(t, submitted(t, copied, "3"), first)
		if records.String() != "[1 2 3]" {
			t.Errorf("the log has %s, want [1 2 3]", records)
		}
	})
}

func numbers(from, to int) (out []string) {
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return out
}
