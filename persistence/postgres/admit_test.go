package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// nextFormat simulates a newer program: until back is called, this program writes the next format
// of the tables.
func nextFormat(t *testing.T) (back func()) {
	before := migrations
	back = func() { migrations = before }
	t.Cleanup(back)
	migrations = append(before[:len(before):len(before)], "create table of_the_next_format (n int)")
	return back
}

// A newer program does not change the tables while older ones use them. After the change, older
// programs cannot use the tables, neither at a start nor after a lost lease.
func TestTablesDoNotChangeUnderLivingNodes(t *testing.T) {
	url := postgrestest.Database(t)
	a := openTest(t, Options{URL: url, Node: "a", Program: "1.0"})
	back := nextFormat(t)
	if _, err := Open(Options{URL: url, Node: "b", Lease: time.Second}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "node a (1.0)") {
		t.Errorf("opening while a node is alive: %v, want ErrInUse", err)
	}
	if !a.Holds() {
		t.Fatal("the living node lost its lease")
	}
	a.lease.Load().lose() // simulates that the node was stopped
	postgrestest.Exec(t, url, "update atelier.nodes set lease_until = clock_timestamp()")
	openTest(t, Options{URL: url, Node: "b"})
	back()
	if _, err := Open(Options{URL: url, Node: "c"}); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("opening with an earlier program returned %v, want ErrNewerFormat", err)
	}
	if err := a.Rejoin(context.Background()); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("the rejoin of an earlier process returned %v, want ErrNewerFormat", err)
	}
}

// A refused node is not a member. A node that rejoins late is checked again.
func TestARefusedNodeIsNotAMember(t *testing.T) {
	url := postgrestest.Database(t)
	refuse, beside := errors.New("too old"), ""
	b := openTest(t, Options{URL: url, Node: "b", Version: 7, Program: "1.7", Admit: func(others []durable.Member) error {
		if len(others) > 0 {
			beside = others[0].Node
			return refuse
		}
		return nil
	}})
	openTest(t, Options{URL: url, Node: "a", Admit: func(others []durable.Member) error {
		if len(others) != 1 || others[0].Node != "b" || others[0].Version != 7 || others[0].Program != "1.7" {
			t.Errorf("the check received %+v", others)
		}
		return nil
	}})
	b.lease.Load().lose()
	if err := b.Rejoin(context.Background()); !errors.Is(err, ErrRefused) || !errors.Is(err, refuse) || beside != "a" {
		t.Errorf("the rejoin of a refused node returned %v", err)
	}
	// The first check accepts the node. The second check, which follows once the lease is taken,
	// refuses it.
	calls := 0
	_, err := Open(Options{URL: url, Node: "c", Admit: func([]durable.Member) error {
		if calls++; calls == 2 {
			return refuse
		}
		return nil
	}})
	if !errors.Is(err, ErrRefused) {
		t.Errorf("the start of a refused node returned %v, want ErrRefused", err)
	}
	members, err := Members(url)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Node == "c" && m.Left > 0 || m.Node == "a" && m.Left <= 0 {
			t.Errorf("member %+v", m)
		}
	}
}

// Listing the members of a database changes nothing in it.
func TestListingMembersCreatesNoTables(t *testing.T) {
	url := postgrestest.Database(t)
	if m, err := Members(url); err != nil || len(m) != 0 {
		t.Errorf("the members are %v, %v", m, err)
	}
	if err := CheckEmpty(url); err != nil {
		t.Errorf("listing the members created tables: %v", err)
	}
}
