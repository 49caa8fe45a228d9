package acceptance

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
	"atelier/persistence/secrets"
	"atelier/transport/control"
)

// rotateKeys creates a new token key on a node. On a busy machine, a node can respond too late. The
// new key then stays pending, and the next rotation uses it.
func rotateKeys(data string) (text string, err error) {
	client, err := control.Dial(data)
	if err != nil {
		return "", err
	}
	defer client.Close()
	for until := time.Now().Add(testTimeout); ; time.Sleep(20 * time.Millisecond) {
		text, err = client.RotateKeys()
		if err == nil || !strings.Contains(err.Error(), "stays pending") || time.Now().After(until) {
			return text, err
		}
	}
}

// Keys rotate while all nodes run. Each node immediately finds tokens made under any key. A node
// that was not running during the rotation finds them after its start.
func TestKeysRotateWhileNodesRun(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t))
	var nodes []*service.Service
	for _, cfg := range cfgs[:2] {
		nodes = append(nodes, startServer(t, cfg))
	}
	nodes = append(nodes, startUntilStopped(t, cfgs[2]))
	m := newMarket(t, nodes[0].Addr(), production)
	m.policy(m.business, "ttl", 0)
	tokens := map[string]string{}
	made := func(i, round int) {
		t.Helper()
		checkout := fmt.Sprintf("%d-%d", i, round)
		status, code, token := m.platform.answered(nodes[i].Addr()+m.path, "/tokenize",
			record{"credential": visa(), "binding": m.binding(checkout)})
		if status != http.StatusOK {
			t.Fatalf("tokenize on node %d returned %d %s", i+1, status, code)
		}
		tokens[checkout] = token
	}
	found := func(i int) {
		t.Helper()
		for checkout, token := range tokens {
			status, code, number := m.business.answered(nodes[i].Addr()+m.path, "/detokenize", use(token, checkout))
			if status != http.StatusOK || number != cardNumber {
				t.Fatalf("detokenize on node %d returned %d %s", i+1, status, code)
			}
		}
	}
	const rotations = 6
	for round := range rotations {
		var rotating sync.WaitGroup
		rotating.Go(func() {
			if _, err := rotateKeys(cfgs[round%3].Server.Data); err != nil {
				t.Error(err)
			}
		})
		for i := range nodes {
			made(i, round)
		}
		rotating.Wait()
		for i := range nodes {
			found(i)
		}
	}
	// All nodes rotate at the same time. Each rotation succeeds, and nothing is lost.
	var all sync.WaitGroup
	for i := range nodes {
		all.Go(func() {
			if _, err := rotateKeys(cfgs[i].Server.Data); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range nodes {
		made(i, rotations+1)
		found(i)
	}
	// A node that was away receives the keys when it starts.
	if err := nodes[2].Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := rotateKeys(cfgs[0].Server.Data); err != nil {
		t.Fatal(err)
	}
	made(0, rotations)
	nodes[2] = startServer(t, cfgs[2])
	found(2)
	want, err := secrets.LoadKeys(service.TokenKeyFile(cfgs[0]))
	if err != nil || len(want) < rotations+2 || want[len(want)-1].Pending {
		t.Fatalf("the first node has %d keys, or its newest key is pending: %v", len(want), err)
	}
	for _, cfg := range cfgs[1:] {
		got, err := secrets.LoadKeys(service.TokenKeyFile(cfg))
		if err != nil || len(got) != len(want) || string(got[len(got)-1].Material) != string(want[len(want)-1].Material) {
			t.Errorf("%s has %d keys, %v", cfg.Cluster.Node, len(got), err)
		}
	}
}
