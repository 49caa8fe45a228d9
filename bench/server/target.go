//go:build linux

package server

import (
	"context"
	"sync"
	"time"

	"atelier/bench/api"
)

// Target is the server of a run, or all nodes if there are several.
type Target struct {
	// URL is the address of the server, or of the first node.
	URL, AdminID, AdminPW string
	// Via is the address of the tunnel to a server that uses TLS, or "".
	Via string
	// Process is set if the run has started a single server, which runs when the scenario begins.
	Process *Process
	// Usage measures the server, and Inside reads its metrics. Each is nil if the run cannot do
	// this. Both are safe for concurrent use. For several nodes they return the sum.
	Usage  func() (Usage, error)
	Inside func() (Inside, error)

	// Several contains all nodes of a run with several servers, or of a cluster that the run has
	// started, even if it has one node. Otherwise it is nil.
	Several []Node
	// Network connects the run's own nodes, and Database is shared by them. Each is nil if no
	// faults can be injected into it.
	Network  Network
	Database Database
}

// Node is one server of several.
type Node struct {
	// Name is the node's name in reports. URL and Via are as in Target.
	Name, URL, Via string
	// Process is nil if the run has not started the node.
	Process *Process
	Usage   func() (Usage, error)
	Inside  func() (Inside, error)
}

// Network can be cut. A cut lasts until heal is called. The ends are two nodes, such as 1-2, or a
// node and something else: the database (2-db), all other nodes (1-others), or both (1-all). The
// way is "both", "to" or "from". See nodes.ParseCut.
type Network interface {
	Cut(ends, way string) (heal func() error, err error)
}

// Database can be restarted, after an orderly or an immediate stop.
type Database interface {
	Restart(ctx context.Context, immediate bool) error
}

// Nodes returns all servers, even if there is only one.
func (t *Target) Nodes() []Node {
	if t.Several != nil {
		return t.Several
	}
	return []Node{{URL: t.URL, Via: t.Via, Process: t.Process, Usage: t.Usage, Inside: t.Inside}}
}

// Client returns a client of the server, or of the first node. The caller must close it.
func (t *Target) Client(timeout time.Duration) (*api.Client, error) {
	return api.New(t.URL, t.Via, timeout)
}

// Clients returns a client of all nodes. The caller must close it.
func (t *Target) Clients() (*api.Spread, error) {
	var all []*api.Client
	for _, n := range t.Nodes() {
		c, err := api.New(n.URL, n.Via, api.Within)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return api.NewSpread(all...), nil
}

// Join combines nodes into one target. The target's usage and metrics are sums over the nodes. They
// are nil if a node has none.
func Join(nodes []Node) *Target {
	t := &Target{URL: nodes[0].URL, Via: nodes[0].Via, Several: nodes}
	weighed, looked := true, true
	for _, n := range nodes {
		weighed, looked = weighed && n.Usage != nil, looked && n.Inside != nil
	}
	if weighed {
		t.Usage = func() (Usage, error) { return sum(nodes) }
	}
	if looked {
		t.Inside = func() (Inside, error) { return insides(nodes) }
	}
	return t
}

func sum(nodes []Node) (all Usage, err error) {
	for _, n := range nodes {
		u, failed := n.Usage()
		if failed != nil {
			err = failed
		}
		all.RSS += u.RSS
		all.PeakRSS += u.PeakRSS
		all.CPU += u.CPU
	}
	return all, err
}

// Measure reads the usage and the metrics of all nodes concurrently. Values that cannot be read are
// zero, such as the metrics of a node that is down or paused.
func Measure(nodes []Node) []Inside {
	all := make([]Inside, len(nodes))
	var looking sync.WaitGroup
	for i, n := range nodes {
		looking.Go(func() { all[i] = measure(n.Usage, n.Inside) })
	}
	looking.Wait()
	return all
}

// insides returns the sum of all nodes, with each node's values in Nodes. GCPause is the maximum
// instead of the sum.
func insides(nodes []Node) (Inside, error) {
	all := Inside{Nodes: Measure(nodes)}
	for _, in := range all.Nodes {
		all.RSS += in.RSS
		all.PeakRSS += in.PeakRSS
		all.CPU += in.CPU
		all.Heap += in.Heap
		all.Goroutines += in.Goroutines
		all.GCPause = max(all.GCPause, in.GCPause)
		all.Queued += in.Queued
		all.Bus.add(in.Bus)
	}
	return all, nil
}
