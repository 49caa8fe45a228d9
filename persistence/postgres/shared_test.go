package postgres

import (
	"testing"
	"time"

	"atelier/actors/durable/journaltest"
	"atelier/persistence/postgres/postgrestest"
)

// node is a store whose lease a test can end.
type node struct {
	*Store
	t   testing.TB
	url string
}

// Expire ends the lease in the database, so that other nodes can take over. The node's own process
// does not notice this before its next renewal.
func (n node) Expire() {
	postgrestest.Exec(n.t, n.url, "update atelier.nodes set lease_until = clock_timestamp() - interval '1 millisecond' where node = $1", n.Node())
}

func openNode(t testing.TB, url, name string) node {
	s, err := Open(Options{URL: url, Node: name, Lease: 30 * time.Second, Program: "test", Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	return node{Store: s, t: t, url: url}
}

func TestSharedConformance(t *testing.T) {
	journaltest.RunShared(t, func(t testing.TB, dir, name string) journaltest.Shared {
		return openNode(t, postgrestest.In(t, dir), name)
	})
}

// A node can stop after it has lost its lease, before it has rejoined. It counts as stopped, not as
// dead, so that operators do not have to check it.
func TestANodeThatStopsWithoutItsLeaseCountsAsStopped(t *testing.T) {
	url := postgrestest.Database(t)
	for _, name := range []string{"stops", "stops-without"} {
		n := openNode(t, url, name)
		if name == "stops-without" {
			n.lease.Load().lose()
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	members, err := Members(url)
	if err != nil || len(members) != 2 {
		t.Fatalf("the members are %v, %v", members, err)
	}
	for _, m := range members {
		if !m.Stopped || m.Version != 1 {
			t.Errorf("the member is %+v", m)
		}
	}
}

// A node that is down stays known until it is forgotten, because its disk can contain data that no
// other node has.
func TestANodeIsKnownUntilItIsForgotten(t *testing.T) {
	url := postgrestest.Database(t)
	a, gone := openNode(t, url, "a"), openNode(t, url, "gone")
	defer a.Close()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, url, "update atelier.nodes set lease_until = lease_until - interval '3 days' where node = 'gone'")
	if members, err := a.Members(); err != nil || len(members) != 1 {
		t.Errorf("the members are %v, %v", members, err)
	}
	if known, err := a.Known(); err != nil || len(known) != 2 || known[1] != "gone" {
		t.Errorf("the known nodes are %v, %v", known, err)
	}
	if done, err := Forget(url, "gone"); err != nil || !done {
		t.Fatalf("Forget returned %v, %v, want true", done, err)
	}
	if known, err := a.Known(); err != nil || len(known) != 1 {
		t.Errorf("after forgetting, the known nodes are %v, %v", known, err)
	}
}

func TestTheClockIsComparedWithTheDatabases(t *testing.T) {
	s := &Store{}
	if _, known := s.ClockOffset(); known {
		t.Error("the offset is known before a comparison")
	}
	here := time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	s.compare(here.Add(4*time.Second), here, 2*time.Second)
	if offset, known := s.ClockOffset(); !known || offset != 3*time.Second {
		t.Errorf("the offset is %v, %v", offset, known)
	}
	s.compare(here.Add(-time.Minute), here, maxRoundTrip)
	if offset, _ := s.ClockOffset(); offset != -time.Minute-maxRoundTrip/2 {
		t.Errorf("with a slow clock, the offset is %v", offset)
	}
	s.compare(here, here, maxRoundTrip+1)
	if _, known := s.ClockOffset(); known {
		t.Error("the offset is known although the response took too long")
	}
}
