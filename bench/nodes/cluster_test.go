//go:build linux

package nodes

import (
	"slices"
	"testing"
)

// Each node has its own addresses for the other nodes and the database, so each link can be cut
// separately.
func TestEveryNodeHasItsOwnAddresses(t *testing.T) {
	db, err := parseDatabase("postgres://u@127.0.0.1:1/x")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Database: &Database{admin: db, name: "mine"}}
	if c.Network, err = newNetwork([]string{"127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"}, c.Database.Address()); err != nil {
		t.Fatal(err)
	}
	defer c.Network.close()
	seen := map[string]bool{}
	for node := 1; node <= 3; node++ {
		addresses := append(c.Network.peers(node), c.Network.address(node, database))
		for _, a := range addresses {
			if seen[a] {
				t.Errorf("node %d gets the address %s, like another node", node, a)
			}
			seen[a] = true
		}
		settings := c.settings(node, "127.0.0.1:9")
		for _, want := range []string{
			"ATELIER_CLUSTER_NODE=" + Name(node), "ATELIER_CLUSTER_LISTEN=127.0.0.1:9",
			"ATELIER_CLUSTER_PEERS=" + addresses[0] + "," + addresses[1], "ATELIER_STORAGE_POSTGRES=postgres://u@" + addresses[2] + "/mine",
		} {
			if !slices.Contains(settings, want) {
				t.Errorf("the settings of node %d lack %s: %q", node, want, settings)
			}
		}
	}
	if len(seen) != 9 {
		t.Errorf("there are %d addresses, want 9", len(seen))
	}
}
