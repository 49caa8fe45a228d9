package nodes

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/transport/bus"
	"atelier/transport/server"
)

// Node represents this server as a node of a cluster. It is nil on a single server.
type Node struct {
	durable.Cluster
	bus *bus.Bus
	log *slog.Logger
	// alive counts the nodes with a valid lease, including this node.
	alive atomic.Int64
	// away means that this node has lost or given up its lease, and has not rejoined yet. lost
	// counts the leases lost.
	away  atomic.Bool
	lost  atomic.Int64
	reach reach
	// drained means that an operator wants this node to serve nobody. draining counts the turns of
	// Watch since the node began to give away its codelabs, because it was drained or in trouble.
	// Watch owns draining.
	drained  atomic.Bool
	draining int
	// figures contains this node's own figures. meter computes them in Watch.
	figures atomic.Pointer[Figures]
	meter   meter

	folder *Folder
	// clockTrouble is set if this node's clock is wrong and another node's clock is right.
	// clockWarned means that the difference is already logged. Watch owns clockWarned.
	clockTrouble atomic.Pointer[Trouble]
	clockWarned  bool

	placement placement
	// first contains the functions that run before this node serves again. It is fixed before Watch
	// begins.
	first []func() error

	// catchUps contains the exchanges that fetch the secrets that this node missed while it was
	// away. It is fixed before Watch begins.
	catchUps []catchingUp
	catching sync.WaitGroup
}

// Open connects to the other nodes, and waits until each living node has responded. It fails after
// meetTurns times ownerTimeout, or if stop is closed. ownerTimeout is the timeout of a request to
// one node. 0 means one second.
func Open(cfg config.Config, store durable.Shared, secrets *Keyring, folder *Folder, ownerTimeout time.Duration, stop <-chan struct{}, log *slog.Logger) (*Node, error) {
	conf, err := cfg.Cluster.TLS(func(err error) {
		log.Error("the renewed certificate of this node cannot be used; the previous one stays in use", "error", err)
	})
	if err == nil && conf == nil && cfg.Cluster.MakesCertificates() {
		conf, err = ownTLS(secrets, cfg.Cluster.Node)
	}
	if err != nil {
		return nil, err
	}
	peers := cfg.Cluster.Peers
	if cfg.Cluster.NATSURL == "" {
		found, err := find(cfg, store)
		if err != nil {
			return nil, err
		}
		if len(peers) == 0 {
			peers = found
		}
	}
	n := &Node{folder: folder, log: log.With("component", "cluster", "node", cfg.Cluster.Node)}
	n.alive.Store(1)
	n.bus, err = bus.Open(bus.Options{
		Node: cfg.Cluster.Node, Secret: string(cfg.Cluster.Secret), Cluster: store.StreamID(), Listen: cfg.Cluster.Listen, Peers: peers,
		URL: string(cfg.Cluster.NATSURL), TLS: conf, Logger: n.log,
	})
	if err != nil {
		return nil, err
	}
	go n.nameUnknown(cfg.Cluster.Peers)
	n.Store, n.Bus, n.OwnerTimeout, n.Beat = store, n.bus, ownerTimeout, ownerTimeout/4
	w, err := n.readWishes()
	n.drained.Store(w.drained[store.Node()])
	if err == nil {
		err = n.serveReach()
	}
	if err == nil {
		err = n.meet(meetTurns*cmp.Or(ownerTimeout, askTime), stop)
	}
	if err != nil {
		n.bus.Close()
		return nil, err
	}
	return n, nil
}

// nameUnknown logs peers with a host name that does not exist. If other nodes are connected, no
// other check would report them.
func (n *Node) nameUnknown(peers []string) {
	for _, peer := range peers {
		host, _, err := net.SplitHostPort(peer)
		if err != nil {
			continue // the configuration was checked
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err = net.DefaultResolver.LookupHost(ctx, host)
		cancel()
		var unknown *net.DNSError
		if errors.As(err, &unknown) && unknown.IsNotFound {
			n.log.Warn("cluster.peers has a host name that cannot be resolved now", "peer", peer)
		}
	}
}

// Actors returns the cluster configuration for the actors, or nil on a single server.
func (n *Node) Actors() *durable.Cluster {
	if n == nil {
		return nil
	}
	return &n.Cluster
}

// catchingUp fetches secrets that this node missed while it was away.
type catchingUp interface {
	lack()
	Lacks() bool
	Lacking() string
	catchUp(ctx context.Context)
}

// OnReturn registers a function that runs each time this node rejoins the cluster. The node repeats
// the function until it succeeds, and does not serve before that. Call OnReturn before Watch
// begins.
func (n *Node) OnReturn(do func() error) { n.first = append(n.first, do) }

// Count returns a function that returns the number of living nodes. On a single server it returns
// nil.
func (n *Node) Count() func() int {
	if n == nil {
		return nil
	}
	return func() int { return int(n.alive.Load()) }
}

// SessionNumbers returns the number at which this node's live sessions begin. It is 0 on a single
// server.
func (n *Node) SessionNumbers() uint64 {
	if n == nil {
		return 0
	}
	return codelab.SessionNumbers(n.Store.Node(), uint64(time.Now().UnixNano()))
}

// Close ends the connections to the other nodes. The store still holds this node's lease.
func (n *Node) Close() {
	if n != nil {
		n.bus.Close()
	}
}

// Valid returns a function that returns an error if values read from memory may no longer be valid.
// See durable.Shared.Holds. Valid returns nil for a single server.
func (n *Node) Valid() func() error {
	if n == nil {
		return nil
	}
	return func() error {
		if !n.Serves() {
			return durable.ErrUnavailable
		}
		return nil
	}
}

// Serves reports whether this node holds its lease, and whether all functions of OnReturn have
// succeeded since it was last away. Without a lease, other nodes can already own its codelabs.
func (n *Node) Serves() bool { return !n.away.Load() && n.Store.Holds() }

// Trouble returns the reason why this node cannot serve. It returns nil if the node can serve, and
// on a single server.
func (n *Node) Trouble() *Trouble {
	if n == nil {
		return nil
	}
	if t := n.folder.Trouble(); t != nil {
		return t
	}
	return n.clockTrouble.Load()
}

// Health returns this node's part of the /readyz response, or nil on a single server.
func (n *Node) Health() *server.ClusterHealth {
	if n == nil {
		return nil
	}
	return &server.ClusterHealth{Node: n.Store.Node(), Lease: n.Serves(), Alive: int(n.alive.Load()), Unreachable: n.Unreachable()}
}

// Stats returns this node's metrics, without those of its actors.
func (n *Node) Stats() *server.ClusterStats {
	return &server.ClusterStats{
		LeaseHeld: n.Serves(), LeasesLost: n.lost.Load(), Alive: int(n.alive.Load()), Unreachable: len(n.Unreachable()), Bus: n.bus.Stats(),
		Copies: map[string]durable.ReplicaStats{},
	}
}
