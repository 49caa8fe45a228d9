package durable_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/durable"
)

// Unknown messages from a newer node are ignored.
func TestMessagesOfANewerNodeAreIgnored(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		if got := c.sum(1); got != 1 {
			t.Fatalf("the follower reads %d, want 1", got)
		}
		newer, stop := c.net.Node("newer")
		defer stop()
		for kind := range 256 {
			if strings.ContainsRune("bnhqa", rune(kind)) {
				continue // a known kind of message
			}
			message := binary.AppendUvarint([]byte{byte(kind)}, 1<<40)
			if err := newer.Publish("actor.tally.a", append(message, 0)); err != nil {
				t.Fatal(err)
			}
		}
		answered := make(chan []byte, 2)
		for _, data := range [][]byte{append([]byte{'Z', 1}, 'a'), nil} {
			newer.Request(c.nodes[0].Node(), "ask.tally", data, time.Minute, func(b []byte, err error) {
				if err != nil {
					t.Error(err)
				}
				answered <- b
			})
			if b := <-answered; len(b) == 0 || b[0] != 'e' {
				t.Errorf("an unknown request was answered with %q, want e", b)
			}
		}
		ask(t, get(t, c.hosts[1], "a"), "1")
		for i := range 2 {
			if got := c.sum(i); got != 2 {
				t.Errorf("node %d reads %d, want 2", i, got)
			}
		}
		if s := c.hosts[1].Replicas(); s.Behind != 0 || s.Followed != 1 || s.Owned != 0 {
			t.Errorf("replicas of the follower: %+v", s)
		}
		if s := c.hosts[0].Replicas(); s.Owned != 1 || s.Shared != 1 || s.Followed != 0 {
			t.Errorf("replicas of the owner: %+v", s)
		}
		if s := c.hosts[1].Stats(); s.Forwarded.Load() != 1 || s.Questions.Load() == 0 || s.Confirmed.Load() == 0 {
			t.Errorf("%d commands forwarded, %d requests for %d reads", s.Forwarded.Load(), s.Questions.Load(), s.Confirmed.Load())
		}
	})
}

// A command that the owner's program does not support is refused as unknown, and nothing is
// executed.
func TestAnUnknownCommandIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		_, _, err := get(t, c.hosts[1], "a").Ask("new")
		if !errors.Is(err, durable.ErrUnknownCommand) || !errors.Is(err, durable.ErrUnavailable) {
			t.Errorf("an unknown command returned %v", err)
		}
		ask(t, get(t, c.hosts[1], "a"), "1")
		if got := c.sum(0); got != 2 {
			t.Errorf("the owner reads %d, want 2", got)
		}
	})
}

// answersAnew replies to commands in a form that this program does not support.
type answersAnew struct{ durable.Bus }

func (b answersAnew) Serve(subject string, fn func(string, []byte, func([]byte))) (func(), error) {
	return b.Bus.Serve(subject, func(from string, data []byte, answer func([]byte)) {
		fn(from, data, func(out []byte) {
			if len(data) > 0 && data[0] == 'c' {
				out = []byte{'Z', 7}
			}
			answer(out)
		})
	})
}

// After a reply of unknown form the outcome is unknown, so the caller gets ErrUnavailable.
func TestAnUnknownReplyIsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClanWith(t, 2, func(o *durable.Options) { o.Cluster.Bus = answersAnew{o.Cluster.Bus} })
		ask(t, get(t, c.hosts[0], "a"), "1")
		for _, cmd := range []string{"1", "get"} {
			if _, _, err := get(t, c.hosts[1], "a").Ask(cmd); !errors.Is(err, durable.ErrUnavailable) {
				t.Errorf("%s returned %v, want ErrUnavailable", cmd, err)
			}
		}
	})
}

// deafTo drops requests to execute a command, like a connection that is cut in one direction. Such
// a request gets no reply.
type deafTo struct{ durable.Bus }

func (b deafTo) Serve(subject string, fn func(string, []byte, func([]byte))) (func(), error) {
	return b.Bus.Serve(subject, func(from string, data []byte, answer func([]byte)) {
		if len(data) == 0 || data[0] != 'c' {
			fn(from, data, answer)
		}
	})
}

// Repeatable commands are sent again only while a caller waits. In an earlier version, each later
// attempt timed out immediately and was repeated, so the database was queried for the owner without
// pause until the connection returned.
func TestCommandsAreNotRepeatedWhenNobodyWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClanWith(t, 2, func(o *durable.Options) {
			o.Cluster.Bus, o.AskTimeout = deafTo{o.Cluster.Bus}, 100*time.Millisecond
		})
		ask(t, get(t, c.hosts[0], "a"), "1")
		hd := get(t, c.hosts[1], "a")
		if _, _, err := hd.Ask("get"); err == nil {
			t.Fatal("a command without a reply succeeded")
		}
		eventually(t, "the end of the command", func() bool { return c.hosts[1].Rest(context.Background(), hd, false) })
	})
}

// altering is a bus that changes the replies to commands while alter is set.
type altering struct {
	durable.Bus
	alter *atomic.Pointer[func([]byte) []byte]
}

func (a altering) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	a.Bus.Request(node, subject, data, timeout, func(b []byte, err error) {
		if alter := a.alter.Load(); alter != nil && err == nil && data[0] == askCommand {
			b = (*alter)(bytes.Clone(b))
		}
		done(b, err)
	})
}

// If a reply is unreadable, the outcome is unknown. The caller gets an error instead of a success
// without a value, and the command is not repeated.
func TestAnUnreadableReplyIsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		alter := &atomic.Pointer[func([]byte) []byte]{}
		c := newClanWith(t, 2, func(o *durable.Options) { o.Cluster.Bus = altering{o.Cluster.Bus, alter} })
		sum := 1
		ask(t, get(t, c.hosts[0], "a"), "1")
		for name, change := range map[string]func([]byte) []byte{
			"of an unknown kind":    func(b []byte) []byte { b[0] = 'Z'; return b },
			"with an invalid value": func(b []byte) []byte { return append(b, '}') },
			"that is truncated":     func(b []byte) []byte { return b[:1] },
			"that is empty":         func([]byte) []byte { return nil },
		} {
			alter.Store(&change)
			v, _, err := get(t, c.hosts[1], "a").Ask("1")
			if !errors.Is(err, durable.ErrUnavailable) || v != nil {
				t.Errorf("a reply %s returned %v, %v, want ErrUnavailable", name, v, err)
			}
			alter.Store(nil)
			if sum++; c.sum(1) != sum || c.sum(0) != sum {
				t.Errorf("after a reply %s, the nodes read %d and %d, want %d", name, c.sum(0), c.sum(1), sum)
			}
		}
		ask(t, get(t, c.hosts[1], "a"), "1")
	})
}

// A command that cannot be encoded gets a reply immediately.
func TestACommandThatCannotBeEncodedReturnsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClan(t, 2)
		ask(t, get(t, c.hosts[0], "a"), "1")
		if _, _, err := get(t, c.hosts[1], "a").Ask("unsendable"); !errors.Is(err, durable.ErrInternal) {
			t.Errorf("a command that cannot be encoded returned %v, want ErrInternal", err)
		}
		ask(t, get(t, c.hosts[1], "a"), "1")
	})
}
