package config

import "testing"

// A node without a configured name uses the host name, reduced to permitted characters. A single
// server has no node name.
func TestNodeNameDefaultsToHostName(t *testing.T) {
	c, err := Load("", []string{"ATELIER_CLUSTER_ENABLED=true"})
	if err != nil || c.Cluster.Node != machine() || machine() == "" {
		t.Errorf("the default name is %q, %v", c.Cluster.Node, err)
	}
	if c, err := Load("", []string{"ATELIER_CLUSTER_ENABLED=true", "ATELIER_CLUSTER_NODE=own"}); err != nil || c.Cluster.Node != "own" {
		t.Errorf("the configured name is %q, %v", c.Cluster.Node, err)
	}
	if c, err := Load("", nil); err != nil || c.Cluster.Node != "" {
		t.Errorf("on a single server, the name is %q, %v", c.Cluster.Node, err)
	}
}
