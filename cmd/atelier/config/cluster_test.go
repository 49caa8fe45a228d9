package config

import "testing"

// A node that was given no name is called like its machine, in letters that a node may
// have; a server that stands alone is called nothing.
func TestANodeIsCalledLikeItsMachine(t *testing.T) {
	c, err := Load("", []string{"ATELIER_CLUSTER_ENABLED=true"})
	if err != nil || c.Cluster.Node != machine() || machine() == "" {
		t.Errorf("%q, %v", c.Cluster.Node, err)
	}
	if c, err := Load("", []string{"ATELIER_CLUSTER_ENABLED=true", "ATELIER_CLUSTER_NODE=own"}); err != nil || c.Cluster.Node != "own" {
		t.Errorf("%q, %v", c.Cluster.Node, err)
	}
	if c, err := Load("", nil); err != nil || c.Cluster.Node != "" {
		t.Errorf("alone: %q, %v", c.Cluster.Node, err)
	}
}
