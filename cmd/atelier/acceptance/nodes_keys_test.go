package acceptance

import (
	"fmt"
	"sync"
	"testing"

	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
	"atelier/persistence/secrets"
	"atelier/transport/control"
)

// rotateKeys creates a new token key on a node.
func rotateKeys(data string) (string, error) {
	client, err := control.Dial(data)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return client.RotateKeys()
}

// Keys rotate while all nodes run. Each node immediately finds tokens made under any key. So does a
// node that was not running during the rotation, after its start.
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
	at := func(i int) *market {
		m.move(nodes[i].Addr())
		return m
	}
	tokens := map[string]string{}
	made := func(i, round int) {
		checkout := fmt.Sprintf("%d-%d", i, round)
		tokens[checkout] = at(i).tokenize(checkout)
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
			for checkout, token := range tokens {
				at(i).business.post("/detokenize", use(token, checkout)).want(200)
			}
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
		for checkout, token := range tokens {
			at(i).business.post("/detokenize", use(token, checkout)).want(200)
		}
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
	for checkout, token := range tokens {
		at(2).business.post("/detokenize", use(token, checkout)).want(200)
	}
	want, err := secrets.LoadKeys(service.TokenKeyFile(cfgs[0]))
	if err != nil || len(want) < rotations+2 || want[len(want)-1].Pending {
		t.Fatalf("%d keys, %v", len(want), err)
	}
	for _, cfg := range cfgs[1:] {
		got, err := secrets.LoadKeys(service.TokenKeyFile(cfg))
		if err != nil || len(got) != len(want) || string(got[len(got)-1].Material) != string(want[len(want)-1].Material) {
			t.Errorf("%s has %d keys, %v", cfg.Cluster.Node, len(got), err)
		}
	}
}
