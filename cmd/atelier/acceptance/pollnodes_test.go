package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/persistence/postgres/postgrestest"
)

// Every node has the poll's secret before the poll opens, and a node that starts later fetches it.
// After the first node has stopped, another node counts the votes. The running nodes then destroy
// the secret.
func TestAnAnonymousPollSurvivesItsNode(t *testing.T) {
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
		t.Fatalf("the nodes have %d and %d secrets, want 1 each", secrets(0), secrets(1))
	}
	third := startLasting(t, cfgs[2:])[0]
	if secrets(2) != 1 {
		t.Fatal("the node that started later has no secret")
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
		t.Errorf("the closed poll is %v", closed)
	}
	// Both running nodes destroy the secret.
	eventual(t, "the secret is destroyed", func() bool { return secrets(1) == 0 && secrets(2) == 0 })
}

// A node that loses its lease comes back without a restart. In an earlier version, it did not fetch
// the secrets of polls that had opened meanwhile. When it later owned such a codelab, it closed the
// poll as void, and all votes were lost.
func TestANodeThatRegainsItsLeaseFetchesTheSecrets(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 3, dsn, testConfig(t))
	links := throughLinks(t, dsn, cfgs)
	first, third := startLasting(t, cfgs[:1])[0], startLasting(t, cfgs[2:])[0]
	// The node with the short lease starts last. On a busy machine, it can lose its lease, and a
	// node that starts then would have to wait for it.
	second := startShort(t, cfgs[1:2])[0]
	serverKinds.Store("http://"+first.Addr(), shortLeased) // it waits for the second node
	c := newClassOn(t, first.Addr(), record{})
	var people []*person
	for i := range 5 {
		people = append(people, c.attendee(fmt.Sprint("Voter ", i)))
	}
	links[1].set(true)
	eventual(t, "the second node is away", func() bool {
		return strings.Contains(string(public(t, first.InternalAddr(), "GET", "/readyz").body), `"alive":2`)
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
	for _, n := range []interface{ Stop() error }{first, third} {
		if err := n.Stop(); err != nil {
			t.Fatal(err)
		}
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
		t.Errorf("the closed poll is %v", closed)
	}
}

// The node that closes the poll has lost its copy of the secret, and the only other node with one
// is down. In an earlier version, the poll was closed as void, and all votes were lost.
func TestAPollWaitsForTheNodeThatHasItsSecret(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
	nodes := startLasting(t, cfgs)
	c := newClassOn(t, nodes[0].Addr(), record{})
	var people []*person
	for i := range 5 {
		people = append(people, c.attendee(fmt.Sprint("Voter ", i)))
	}
	poll := c.poll(record{"kind": "choice", "question": "Which?", "options": []string{"a", "b"}, "anonymous": true})
	for i, p := range people {
		p.vote(c, poll, record{"choice": []int{i % 2}}).want(200)
	}
	for _, n := range nodes {
		if err := n.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(cfgs[0].Server.Data, "secrets", "ballots-*"))
	if len(kept) != 1 {
		t.Fatalf("the secret is in the files %v", kept)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	// A new secret can belong to a command in progress, so nodes check only older ones.
	old, _ := filepath.Glob(filepath.Join(cfgs[1].Server.Data, "secrets", "ballots-*"))
	if len(old) != 1 || os.Chtimes(old[0], time.Time{}, time.Now().Add(-time.Hour)) != nil {
		t.Fatalf("the secret of the other node is in the files %v", old)
	}
	first := startLasting(t, cfgs[:1])[0]
	c.admin.base = "http://" + first.Addr()
	path := c.path + "/polls/" + poll.text("id")
	var closed record
	eventual(t, "the poll is closed", func() bool {
		got := c.admin.send("POST", path+"/close", nil)
		if got.status == 200 {
			closed = got.object()
		}
		return got.status == 200
	})
	if closed["counting"] != true || closed["void"] != false || closed["counts"] != nil || closed.text("state") != "closed" {
		t.Errorf("the closed poll is %v", closed)
	}
	c.admin.send("POST", path+"/show", record{"shown": true}).want(409)
	if got := c.admin.send("POST", c.path+"/polls", record{"lines": "Another?\n- a\n- b"}).want(200).object(); true {
		c.admin.send("POST", c.path+"/polls/"+got.text("id")+"/open", nil).want(200)
	}
	startLasting(t, cfgs[1:])
	eventual(t, "the poll is counted", func() bool {
		for _, p := range c.admin.get(c.path + "/polls").want(200).list() {
			if p.text("id") == poll.text("id") {
				closed = p
			}
		}
		return closed["counting"] == false
	})
	if fmt.Sprint(closed["counts"]) != "[3 2]" || closed["void"] != false {
		t.Errorf("the counted poll is %v", closed)
	}
	for i := range cfgs {
		eventual(t, "the secret is destroyed", func() bool {
			files, _ := filepath.Glob(filepath.Join(cfgs[i].Server.Data, "secrets", "ballots-*"))
			return len(files) == 0
		})
	}
}
