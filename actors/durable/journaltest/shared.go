package journaltest

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"atelier/actors/durable"
)

// Shared is a durable.Shared with additions for its conformance suite.
type Shared interface {
	durable.Shared
	// Expire ends the lease of this node, as after a long pause. The other nodes treat it as
	// expired, but this node does not notice yet.
	Expire()
}

// OpenShared opens the store in dir, as a node with this name. The lease should be long, because
// the suite ends it with Expire.
type OpenShared func(t testing.TB, dir, node string) Shared

// RunShared is the conformance suite of a store that several nodes use, in addition to Run. It
// tests the contract of durable.Shared with two nodes.
func RunShared(t *testing.T, open OpenShared) {
	for _, c := range sharedTests {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			p := &pair{T: t, dir: dir, openFn: open}
			p.a, p.b = p.node("a"), p.node("b")
			c.test(p)
		})
	}
}

type sharedTest struct {
	name string
	test func(p *pair)
}

// pair is two nodes on one store.
type pair struct {
	*testing.T
	dir    string
	openFn OpenShared
	a, b   *member
}

// member is one node, with helpers for tests of one store.
type member struct {
	*subject
	Shared
}

// open is needed because both embedded types have a method Open.
func (m *member) open(actor string) handle { return m.log(actor) }

func (p *pair) node(name string) *member {
	s := p.openFn(p.T, p.dir, name)
	p.Cleanup(func() {
		if err := s.Close(); err != nil {
			p.Error(err)
		}
	})
	return &member{subject: &subject{T: p.T, Journal: s, dir: p.dir}, Shared: s}
}

// until waits for a condition that other goroutines cause.
func (p *pair) until(what string, holds func() bool) {
	p.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			p.Fatalf("timed out waiting until %s", what)
		}
	}
}

// taken opens an actor as soon as no other node owns it.
func (p *pair) taken(m *member, actor string) handle {
	p.Helper()
	var l durable.Log
	p.until(actor+" is given back", func() (ok bool) {
		var err error
		l, err = m.Shared.Open(actor)
		var owned *durable.Owned
		if err != nil && !errors.As(err, &owned) {
			p.Fatal(err)
		}
		return err == nil
	})
	return handle{Log: l, s: m.subject}
}

// owned verifies that err refuses to open an actor and names its owner.
func (p *pair) owned(err error, actor, node string) {
	p.Helper()
	var owned *durable.Owned
	if !errors.As(err, &owned) || owned.Node != node || owned.Actor != actor {
		p.Fatalf("opening returned %v, want %s to be owned by %s", err, actor, node)
	}
}

// appending appends the records r<first>, r<first+1>, … until one append fails, and returns the
// acknowledged records.
func appending(l durable.Log, first uint64, onAcked func(acked int)) (acked []string, err error) {
	done := make(chan error, 1)
	for seq := first; ; seq++ {
		err := l.Append(durable.Batch{First: seq, Records: records(fmt.Sprint("r", seq)), Done: func(err error) { done <- err }})
		if err == nil {
			err = <-done
		}
		if err != nil {
			return acked, err
		}
		acked = append(acked, fmt.Sprint(seq, " r", seq))
		onAcked(len(acked))
	}
}
