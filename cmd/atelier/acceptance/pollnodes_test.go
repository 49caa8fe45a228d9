package acceptance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"atelier/persistence/postgres/postgrestest"
)

// TestAnAnonymousPollOutlivesItsNode: every node has the secret before the poll is open,
// a node that begins later fetches it, another one counts the votes when the first is
// gone, and then no node that is there has it any more.
func TestAnAnonymousPollOutlivesItsNode(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t))
	nodes := startLasting(t, cfgs[:2])
	c := newClassOn(t, nodes[0].Addr(), record{})
	var people []*person
	for i := range 6 {
		people = append(people, c.attendee(fmt.Sprint("Voter ", i)))
	}
	poll := c.poll(record{"kind": "choice", "question": "Which?", "options": []string{"a", "b"}, "anonymous": true})
	secrets := func(i int) int {
		files, _ := filepath.Glob(filepath.Join(cfgs[i].Server.Data, "secrets", "ballots-*"))
		return len(files)
	}
	if secrets(0) != 1 || secrets(1) != 1 {
		t.Fatalf("the nodes have %d and %d secrets", secrets(0), secrets(1))
	}
	third := startLasting(t, cfgs[2:])[0]
	if secrets(2) != 1 {
		t.Fatal("the node that began later has no secret")
	}
	for i, p := range people {
		p.base = "http://" + nodes[i%2].Addr()
		p.vote(c, poll, record{"choice": []int{i % 2}}).want(200)
	}
	if err := nodes[0].Stop(); err != nil {
		t.Fatal(err)
	}
	c.admin.base = "http://" + third.Addr()
	var closed record
	eventual(t, "another node closes the poll", func() bool {
		got := c.admin.send("POST", c.path+"/polls/"+poll.text("id")+"/close", nil)
		if got.status == 200 {
			closed = got.object()
		}
		return got.status == 200
	})
	if fmt.Sprint(closed["counts"]) != "[3 3]" || closed["void"] != false {
		t.Errorf("closed: %v", closed)
	}
	// The one that is away destroys it when it is back.
	eventual(t, "the secret is destroyed", func() bool { return secrets(1) == 0 && secrets(2) == 0 })
}

// TestANodeThatWasAwayHasTheSecretsAgain: a node that loses its lease comes back without a
// new start. It did not ask for the secrets of polls that were opened meanwhile, and when
// it owned such a codelab later it closed the poll void, with all votes lost.
func TestANodeThatWasAwayHasTheSecretsAgain(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 2, dsn, testConfig(t))
	links := throughLinks(t, dsn, cfgs)
	first, second := startLasting(t, cfgs[:1])[0], startShort(t, cfgs[1:])[0]
	c := newClassOn(t, first.Addr(), record{})
	var people []*person
	for i := range 5 {
		people = append(people, c.attendee(fmt.Sprint("Voter ", i)))
	}
	links[1].set(true)
	eventual(t, "the second node is away", func() bool {
		return strings.Contains(string(public(t, first.InternalAddr(), "GET", "/readyz").body), `"alive":1`)
	})
	made := c.admin.post(c.path+"/polls", record{"lines": "Which?\n- a\n- b", "anonymous": true}).want(200).object()
	var poll record
	eventual(t, "the poll is open", func() bool {
		got := c.admin.send("POST", c.path+"/polls/"+made.text("id")+"/open", nil)
		if got.status == 200 {
			poll = got.object()
		}
		return got.status == 200
	})
	for i, p := range people {
		p.vote(c, poll, record{"choice": []int{i % 2}}).want(200)
	}
	links[1].set(false)
	eventual(t, "the second node is back", func() bool { return ready(second) })
	eventual(t, "the second node has the secret", func() bool {
		files, _ := filepath.Glob(filepath.Join(cfgs[1].Server.Data, "secrets", "ballots-*"))
		return len(files) == 1
	})
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	c.admin.base = "http://" + second.Addr()
	var closed record
	eventual(t, "the second node closes the poll", func() bool {
		got := c.admin.send("POST", c.path+"/polls/"+made.text("id")+"/close", nil)
		if got.status == 200 {
			closed = got.object()
		}
		return got.status == 200
	})
	if fmt.Sprint(closed["counts"]) != "[3 2]" || closed["void"] != false {
		t.Errorf("closed: %v", closed)
	}
}
