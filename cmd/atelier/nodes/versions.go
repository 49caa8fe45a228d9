package nodes

import (
	"errors"
	"fmt"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/postgres"
)

// Protocol is the version of the messages between nodes. Nodes of this version and the previous one
// work together, so that nodes can be replaced one after the other. A node that differs by two or
// more versions is refused at its start. Each release with new messages between nodes raises the
// version. The meaning of each version is in cmd/atelier/deploy/CLUSTER.md ("Versions").
//
// 3: messages are sealed. Version 2 is omitted, so that nodes of version 1, whose messages cannot
// be read, are refused.
// 5: nodes ask each other for the secrets of polls. Version 4 is omitted, because a node that does
// not respond would prevent others from starting.
const Protocol = 5

// Beside returns a function that returns an error if this server is not allowed to run together
// with the running nodes.
func Beside(cfg config.Config, version int) func([]durable.Member) error {
	return func(others []durable.Member) error {
		for _, m := range others {
			switch {
			case !cfg.Cluster.Enabled:
				return fmt.Errorf("storage.postgres: node %s runs on this database, and cluster.enabled is off on this server; switch it on, or give this server a database of its own", m.Node)
			case m.Node == postgres.Alone:
				return errors.New("storage.postgres: a server without cluster.enabled runs on this database; stop it first")
			case m.Version > version+1 || m.Version < version-1:
				return fmt.Errorf("cluster: node %s (program %s) speaks version %d of the messages between nodes and this program version %d; only adjacent versions work together. Update all nodes one version at a time, or stop all of them first", m.Node, m.Program, m.Version, version)
			}
		}
		return nil
	}
}
