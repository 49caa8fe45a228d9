//go:build linux

package nodes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Directions of a cut A-B. All bytes in the direction are dropped.
const (
	Both = "both"
	// To is the direction from A to B. From is the direction from B to A.
	To   = "to"
	From = "from"
)

// Ends of a cut that are not nodes. Nodes are called 1, 2 and so on.
const (
	// DB is the database. Others is all other nodes. All is the database and all other nodes.
	DB     = "db"
	Others = "others"
	All    = "all"
)

// Network connects the nodes with each other, and with their database.
type Network struct {
	api *toxiproxy.ApiServer
	// proxies contains the proxies by dialling node and target. Immutable after newNetwork.
	proxies map[link]*toxiproxy.Proxy
	nodes   int
	// ends contains the number of each target of a proxy, by address; see endsOf. Immutable.
	ends map[netip.AddrPort]int
}

// link is the path from a node, counted from 1, to its target: another node, or 0 for the database.
type link struct{ from, to int }

// database is the database's number in a link.
const database = 0

// newNetwork creates a proxy for every pair. peers are the addresses at which the nodes listen for
// each other, in the order of the nodes.
func newNetwork(peers []string, db string) (*Network, error) {
	n := &Network{
		api: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), proxies: map[link]*toxiproxy.Proxy{}, nodes: len(peers),
		ends: endsOf(peers, db),
	}
	open := func(from, to int, upstream string) error {
		p := toxiproxy.NewProxy(n.api, fmt.Sprintf("%d-%d", from, to), "127.0.0.1:0", upstream)
		if err := p.Start(); err != nil {
			return fmt.Errorf("proxy from node %d to %s: %w", from, name(to), err)
		}
		n.proxies[link{from, to}] = p
		return nil
	}
	var err error
	for from := 1; from <= len(peers) && err == nil; from++ {
		err = open(from, database, db)
		for to := 1; to <= len(peers) && err == nil; to++ {
			if to != from {
				err = open(from, to, peers[to-1])
			}
		}
	}
	if err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

func name(end int) string {
	if end == database {
		return "the database"
	}
	return "node " + strconv.Itoa(end)
}

// address returns the address at which node from reaches node to, or the database.
func (n *Network) address(from, to int) string { return n.proxies[link{from, to}].Listen }

// peers returns the addresses at which a node reaches all other nodes.
func (n *Network) peers(of int) []string {
	var out []string
	for to := 1; to <= n.nodes; to++ {
		if to != of {
			out = append(out, n.address(of, to))
		}
	}
	return out
}

// swallow is a place where bytes are dropped: one proxy, in one direction.
type swallow struct {
	link     link
	upstream bool
}

// swallows returns the places of a cut between node a and b, which is another node or the database.
func swallows(a, b int, way string) []swallow {
	var out []swallow
	if way == Both || way == To {
		out = append(out, swallow{link{a, b}, true})
		if b != database { // the database opens no connections
			out = append(out, swallow{link{b, a}, false})
		}
	}
	if way == Both || way == From {
		out = append(out, swallow{link{a, b}, false})
		if b != database {
			out = append(out, swallow{link{b, a}, true})
		}
	}
	return out
}

// ParseCut parses 1-2, 2-db, 1-others or 1-all, for a number of nodes. It returns the node, and all
// ends from which the node is cut off.
func ParseCut(text string, nodes int) (from int, ends []int, err error) {
	bad := fmt.Errorf("cut %q: want two of nodes 1 to %d, or a node and %s, %s or %s, such as 1-2 or 2-db", text, nodes, DB, Others, All)
	a, b, ok := strings.Cut(text, "-")
	from, err = strconv.Atoi(a)
	if !ok || err != nil || from < 1 || from > nodes {
		return 0, nil, bad
	}
	if b == DB || b == All {
		ends = append(ends, database)
	}
	if b == Others || b == All {
		for to := 1; to <= nodes; to++ {
			if to != from {
				ends = append(ends, to)
			}
		}
	}
	if len(ends) == 0 {
		to, err := strconv.Atoi(b)
		if err != nil || to < 1 || to > nodes || to == from {
			return 0, nil, bad
		}
		ends = append(ends, to)
	}
	return from, ends, nil
}

// toxic drops all bytes without closing connections.
const toxic = `{"name":"cut_%s","type":"timeout","stream":%q,"attributes":{"timeout":0}}`

// Cut cuts the connection that ParseCut describes, in one direction or Both, until the returned
// function is called. Both functions fail if a connection bypasses the proxies, because then
// nothing was cut.
func (n *Network) Cut(text string, way string) (heal func() error, err error) {
	from, ends, err := ParseCut(text, n.nodes)
	if err != nil {
		return nil, err
	}
	var done []swallow
	repair := func() error {
		var problems []error
		for _, s := range done {
			problems = append(problems, n.proxies[s.link].Toxics.RemoveToxic(context.Background(), "cut_"+stream(s.upstream)))
		}
		return errors.Join(problems...)
	}
	for _, end := range ends {
		for _, s := range swallows(from, end, way) {
			direction := stream(s.upstream)
			if _, err := n.proxies[s.link].Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(toxic, direction, direction))); err != nil {
				return nil, errors.Join(fmt.Errorf("cut %s: %w", text, err), repair())
			}
			done = append(done, s)
		}
	}
	if err := n.proven(); err != nil {
		return nil, errors.Join(fmt.Errorf("cut %s: %w", text, err), repair())
	}
	return func() error { return errors.Join(n.proven(), repair()) }, nil
}

func stream(upstream bool) string {
	if upstream {
		return "upstream"
	}
	return "downstream"
}

func (n *Network) close() {
	for _, p := range n.proxies {
		p.Stop()
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// The ports of nodes are below the range that Linux uses for outgoing connections. The generator
// opens thousands of connections, and none of them can take such a port before the node listens.
const (
	lowestPort = 12_000
	portCount  = 18_000
)

// freePorts finds unused loopback ports. Another process can take a port before the load test uses
// it. The load test then fails, and can be repeated.
func freePorts(n int) ([]int, error) {
	var out []int
	for tries := 0; len(out) < n; tries++ {
		l, err := net.Listen("tcp", loopback(lowestPort+rand.IntN(portCount)))
		if err != nil {
			if tries < 1000 {
				continue
			}
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		// All are held until the last is found, so no two are the same.
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}
