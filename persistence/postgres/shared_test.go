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

// Expire ends the lease where the others judge it.
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

// TestANodeThatStopsWithoutItsLeaseHasNotDied: it lost the lease a moment before, or has not
// come back yet; nobody needs to look after it.
func TestANodeThatStopsWithoutItsLeaseHasNotDied(t *testing.T) {
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
		t.Fatalf("%v %v", members, err)
	}
	for _, m := range members {
		if !m.Stopped || m.Version != 1 {
			t.Errorf("%+v", m)
		}
	}
}
