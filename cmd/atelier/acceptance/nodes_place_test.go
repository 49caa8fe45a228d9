package acceptance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/cmd/atelier/nodes"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
	"atelier/transport/control"
)

// operator returns a client of a node's control socket.
func operator(t *testing.T, data string) *control.Client {
	t.Helper()
	client, err := control.Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// The clients of a drained node move to the other nodes, which take over its actors. No message is
// lost. The node is still drained after a restart.
func TestADrainedNodeGivesAwayItsClientsAndActors(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 3, dsn, testConfig(t))
	servers := []*service.Service{startUntilStopped(t, cfgs[0]), startServer(t, cfgs[1]), startServer(t, cfgs[2])}
	defer func() { _ = servers[0].Stop() }()
	op := operator(t, cfgs[1].Server.Data)
	status := func(node int) nodes.NodeStatus {
		t.Helper()
		var st nodes.Status
		if err := op.Cluster(&st); err != nil || len(st.Nodes) != 3 {
			t.Fatalf("the status is %+v, %v", st, err)
		}
		return st.Nodes[node]
	}
	c := newClassOn(t, servers[0].Addr(), record{})
	who := c.attendee("Ann")
	listening := who.connect(c.id, "")
	who.post(c.path+"/messages", record{"type": "chat", "message": "before", "ref": "before"}).want(200)
	eventual(t, "the figures of all nodes", func() bool {
		return status(0).Figures != nil && status(0).Load >= 1 && status(2).Figures != nil
	})

	began := status(0).Since
	place(t, op, control.Placing{Do: "drain", Node: "node1"})
	if code := listening.closed(); code != 1012 {
		t.Errorf("the connection to the drained node was closed with %d, want 1012", code)
	}
	eventual(t, "a node without actors", func() bool {
		n := status(0)
		return n.State == "drained" && n.Owns == 0
	})
	if ready(servers[0]) {
		t.Error("a drained node is ready")
	}
	for i := 1; i < 3; i++ {
		who.base = "http://" + servers[i].Addr()
		text := fmt.Sprint("on node ", i)
		eventual(t, "a message "+text, func() bool {
			got, err := who.browser.try(http.MethodPost, c.path+"/messages", record{"type": "chat", "message": text, "ref": text})
			return err == nil && got.status == http.StatusOK
		})
	}
	if got := chatOf(who.get(c.path + "/chat").body); got != "before\non node 1\non node 2\n" {
		t.Errorf("the chat on another node is %q", got)
	}
	// The drained node starts over and owns nothing. The test waits for this, because a node that
	// is stopped while it starts over counts as dead.
	eventual(t, "a node that has started over", func() bool {
		_, why := internal(servers[0].InternalAddr(), "/readyz")
		return status(0).Since.After(began) && strings.Contains(why, "is drained")
	})
	// The node stays drained after a restart, and takes no actors.
	if err := servers[0].Stop(); err != nil {
		t.Fatal(err)
	}
	eventual(t, "a node that stopped", func() bool { return status(0).State == "stopped" })
	servers[0] = startUntilStopped(t, cfgs[0])
	eventual(t, "a drained node again", func() bool { return status(0).State == "drained" && status(0).Owns == 0 })
	if ready(servers[0]) {
		t.Error("a drained node is ready after a new start")
	}
	for _, p := range []control.Placing{
		{Do: "move", Node: "node1", Codelab: c.id}, {Do: "move", Node: "node9", Codelab: c.id}, {Do: "move", Node: "node2", Codelab: "none"},
		{Do: "drain", Node: "node9"}, {Do: "forget", Node: "node2"}, {Do: "sing", Node: "node2"}, {},
	} {
		if err := op.Place(p); err == nil {
			t.Errorf("%+v succeeded, want an error", p)
		}
	}
	place(t, op, control.Placing{Do: "drain", Node: "node2"})
	// The node that gets this request has just been drained, and can still be starting over.
	eventual(t, "the last node not to be drained", func() bool {
		err := op.Place(control.Placing{Do: "drain", Node: "node3"})
		if err == nil || !strings.Contains(err.Error(), durable.ErrFenced.Error()) && !strings.Contains(err.Error(), "no other undrained node") {
			t.Fatalf("draining the last node returned %v", err)
		}
		return strings.Contains(err.Error(), "no other undrained node")
	})
	for _, node := range []string{"node1", "node2"} {
		place(t, op, control.Placing{Do: "undrain", Node: node})
	}
	eventual(t, "nodes that serve again", func() bool { return ready(servers[0]) && ready(servers[1]) })
	who.base = "http://" + servers[0].Addr()
	who.connect(c.id, "") // a node that is no longer drained accepts connections
}

// If all nodes that are not drained have stopped, status reports the problem.
func TestStatusReportsThatNoNodeServes(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
	first, second := startUntilStopped(t, cfgs[0]), startServer(t, cfgs[1])
	op := operator(t, cfgs[1].Server.Data)
	place(t, op, control.Placing{Do: "drain", Node: "node2"})
	eventual(t, "a drained node", func() bool { return !ready(second) })
	reported := func() bool {
		t.Helper()
		var st nodes.Status
		if err := op.Cluster(&st); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(st.Problems, func(p string) bool { return strings.Contains(p, "nobody serves") })
	}
	if reported() {
		t.Error("status reports that nobody serves although a node does")
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	eventual(t, "a problem that no node serves", reported)
	place(t, op, control.Placing{Do: "undrain", Node: "node2"})
	eventual(t, "a node that serves again", func() bool { return ready(second) && !reported() })
}

// A codelab can be moved to a node, whether it has an owner or not.
func TestACodelabCanBeMovedToANode(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
	a, b := startServer(t, cfgs[0]), startUntilStopped(t, cfgs[1])
	op := operator(t, cfgs[0].Server.Data)
	c := newClassOn(t, a.Addr(), record{})
	owns := func(node int) int {
		t.Helper()
		var st nodes.Status
		if err := op.Cluster(&st); err != nil {
			t.Fatal(err)
		}
		return st.This.Actors["codelab"].Owned
	}
	for _, node := range []string{"node2", "node1", "node2"} {
		place(t, op, control.Placing{Do: "move", Node: node, Codelab: c.id})
		// The database names the new owner shortly before that node has taken over.
		want := map[string]int{"node1": 1}[node]
		eventual(t, "a codelab on "+node, func() bool { return owns(0) == want })
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	place(t, op, control.Placing{Do: "move", Node: "node1", Codelab: c.id}) // the codelab has no owner
	eventual(t, "the codelab on node1", func() bool { return owns(0) == 1 })
}

// The status lists a dead node as a problem until an operator forgets the node, however long ago it
// died.
func TestADeadNodeIsAProblemUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 1, dsn, testConfig(t))
	startServer(t, cfgs[0])
	op := operator(t, cfgs[0].Server.Data)
	postgrestest.Exec(t, dsn, "insert into atelier.nodes values ('gone', 5, clock_timestamp() - interval '30 days', 3, '1.0', now())")
	problems := func() []string {
		t.Helper()
		var st nodes.Status
		if err := op.Cluster(&st); err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(st.Nodes, func(n nodes.NodeStatus) bool { return n.Node == "gone" }); i >= 0 && st.Nodes[i].State != "dead" {
			t.Errorf("the dead node is %+v", st.Nodes[i])
		}
		return st.Problems
	}
	// On a busy machine, the node itself can have a problem for a moment.
	eventual(t, "the dead node is the only problem", func() bool {
		p := problems()
		return len(p) == 1 && strings.Contains(p[0], "atelier cluster forget gone")
	})
	place(t, op, control.Placing{Do: "forget", Node: "gone"})
	eventual(t, "no problem", func() bool { return len(problems()) == 0 })
	if err := op.Place(control.Placing{Do: "forget", Node: "gone"}); err == nil {
		t.Error("forgetting the node a second time succeeded")
	}
}

// If an operator forgets a drained node, the drain ends, so the node serves when it comes back.
// Operators would not look for a drain on a node that no list contains.
func TestAForgottenNodeIsNoLongerDrained(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 1, dsn, testConfig(t))
	startServer(t, cfgs[0])
	op := operator(t, cfgs[0].Server.Data)
	postgrestest.Exec(t, dsn, "insert into atelier.nodes values ('spare', 5, clock_timestamp() - interval '1 minute', 3, '1.0', now())")
	for _, do := range []string{"drain", "undrain", "drain", "forget"} {
		place(t, op, control.Placing{Do: do, Node: "spare"})
	}
	if err := op.Place(control.Placing{Do: "undrain", Node: "spare"}); err == nil || !strings.Contains(err.Error(), "no node spare that is drained") {
		t.Errorf("the forgotten node is still drained: %v", err)
	}
}

// Codelabs that were all created on one node are soon spread over all nodes. No edit is lost while
// they move.
func TestCodelabsAreSpreadOverTheNodes(t *testing.T) {
	t.Parallel()
	const count = 90
	c := testConfig(t)
	c.Limits.WritesPerMinute = 0
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), c)
	var servers []*service.Service
	for _, cfg := range cfgs {
		servers = append(servers, startServer(t, cfg))
	}
	onFirst := facilitator(t, servers[0].Addr(), "")
	var ids []string
	for i := range count {
		ids = append(ids, onFirst.post("/codelabs", record{"title": fmt.Sprint("made on the first: ", i)}).object().text("id"))
	}
	op := operator(t, cfgs[0].Server.Data)
	owns := func() (all []int) {
		t.Helper()
		var st nodes.Status
		if err := op.Cluster(&st); err != nil {
			t.Fatal(err)
		}
		for _, n := range st.Nodes {
			all = append(all, n.Owns)
		}
		return all
	}
	edits := 0
	spread := func() bool {
		onFirst.put("/codelabs/"+ids[edits%count], record{"title": fmt.Sprint("edit ", edits)}).want(200)
		edits++
		all := owns()
		return len(all) == 3 && slices.Min(all) >= count/3*9/10 && slices.Max(all) <= count/3*11/10+4 // the 4 are actors that are not codelabs
	}
	for deadline := time.Now().Add(2 * time.Minute); !spread(); {
		if time.Now().After(deadline) {
			t.Fatalf("the nodes own %v", owns())
		}
	}
	for i := range min(edits, count) {
		last := edits - 1 - (edits-1-i)%count
		if got := onFirst.get("/codelabs/" + ids[i]).want(200); !strings.Contains(string(got.body), fmt.Sprintf(`"edit %d"`, last)) {
			t.Errorf("codelab %d lacks its last edit: %.200s", i, got.body)
		}
	}
}

// place runs a placement. It retries if a busy machine has lost a lease, or if a codelab moves
// slowly.
func place(t *testing.T, op *control.Client, p control.Placing) {
	t.Helper()
	eventual(t, fmt.Sprintf("%+v", p), func() bool {
		err := op.Place(p)
		if err != nil && !strings.Contains(err.Error(), durable.ErrFenced.Error()) && !strings.Contains(err.Error(), "has not moved yet") {
			t.Fatalf("placing %+v returned %v", p, err)
		}
		return err == nil
	})
}
