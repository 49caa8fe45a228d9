package nodes

import (
	"cmp"
	"errors"
	"net"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/postgres"
)

// addresses is the table of the addresses at which nodes reach each other. Each key consists of the
// database's stream and a node name.
const addresses = "nodeaddresses"

// find records this node's address, and returns the addresses of the other living nodes. If two
// nodes start at the same time, the node that reads later finds the other. While the database
// accepts no writes, find records nothing.
func find(cfg config.Config, store durable.Shared) (peers []string, err error) {
	own := address(cfg)
	err = durable.Commit(store, []durable.Row{{Table: addresses, Key: ofStream(store, cfg.Cluster.Node), Value: []byte(own)}})
	if err != nil && !errors.Is(err, durable.ErrReadOnly) {
		return nil, err
	}
	members, err := store.Members()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Left <= 0 || m.Node == cfg.Cluster.Node {
			continue
		}
		at, err := store.Get(addresses, ofStream(store, m.Node))
		if errors.Is(err, durable.ErrNotFound) {
			continue // that node is about to record its address, and will find this node
		}
		if err != nil {
			return nil, err
		}
		peers = append(peers, string(at))
	}
	return peers, nil
}

// address returns the address at which other nodes reach this node. It is the listening address or,
// if the node listens on all addresses, the address from which it reaches the database, or
// 127.0.0.1 if that address is unknown.
func address(cfg config.Config) string {
	host, port, err := net.SplitHostPort(cfg.Cluster.Listen)
	if err != nil {
		return cfg.Cluster.Listen // the configuration was checked
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = cmp.Or(postgres.LocalAddress(string(cfg.Storage.Postgres)), "127.0.0.1")
	}
	return net.JoinHostPort(host, port)
}
