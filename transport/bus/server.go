package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Options configures a Bus.
type Options struct {
	// Node is this node's name: letters, digits, "-" and "_", at most 64.
	Node string
	// Secret is a secret that only the nodes have. Cluster is the name of the cluster, which
	// distinguishes it from other clusters with the same secret. Both are the same on all nodes.
	Secret, Cluster string
	// Listen is this node's address for other nodes, and Peers are the addresses of other nodes.
	// Both are unused with URL.
	Listen string
	Peers  []string
	// URL is the address of an external NATS server, or "" for the embedded server.
	URL string
	// TLS is used on both sides of connections between nodes. With URL, it is used for the
	// connection to the external server. Nil means no TLS.
	TLS    *tls.Config
	Logger *slog.Logger
}

// startTime is the time limit for the start of the embedded server.
const startTime = 10 * time.Second

// connect starts the embedded server, if configured, and connects to it or to the external server.
func (b *Bus) connect() error {
	o := b.opts
	options := []nats.Option{
		nats.Name("atelier " + o.Node), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectBufSize(-1), // unsent messages are lost, and callers retry
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) {
				b.missed.Add(1)
				return
			}
			o.Logger.Warn("the connection to the other nodes reported an error", "error", err)
		}),
	}
	if o.URL != "" {
		if o.TLS != nil {
			options = append(options, nats.Secure(o.TLS))
		}
		var err error
		if b.conn, err = nats.Connect(o.URL, append(options, nats.RetryOnFailedConnect(true))...); err != nil {
			// The library's text can contain the address with its password.
			return errors.New("cluster.nats_url: connecting to NATS failed: " + reason(err))
		}
		return nil
	}
	s, err := b.newServer()
	if err != nil {
		return err
	}
	b.server = s
	s.Start()
	if !s.ReadyForConnections(startTime) {
		return fmt.Errorf("cluster.listen: the embedded server did not start on %s in time; check that the address is free", o.Listen)
	}
	b.conn, err = nats.Connect("", append(options, nats.InProcessServer(s), nats.UserInfo("atelier", b.key))...)
	return err
}

// reason returns the cause of a failed connection without the address of the server.
func reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	if n, ok := errors.AsType[*net.OpError](err); ok {
		return n.Err.Error()
	}
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrNoServers) {
		return err.Error()
	}
	return "check the address and the credentials"
}

// nowhere is an address that can be parsed but not dialed: its port is one above the maximum.
const nowhere = "127.0.0.1:65536"

// newServer returns the embedded server, which accepts connections only from this process and the
// other nodes.
func (b *Bus) newServer() (*server.Server, error) {
	o := b.opts
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("cluster.listen: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("cluster.listen: the port %q is not a number", port)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	password, err := b.keys.routePassword()
	if err != nil {
		return nil, fmt.Errorf("cluster.secret: %w", err)
	}
	user := url.UserPassword("atelier", password)
	routes := make([]*url.URL, 0, len(o.Peers))
	for _, p := range o.Peers {
		routes = append(routes, &url.URL{Scheme: "nats-route", User: user, Host: p})
	}
	// The address is tried first, because the embedded server would retry until its start times
	// out, without an error.
	l, err := net.Listen("tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("cluster.listen: %s is in use by another program; stop it or choose another address", o.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster.listen: %w", err)
	}
	_ = l.Close()
	s, err := server.NewServer(&server.Options{
		ServerName: o.Node, NoSigs: true, NoLog: true, MaxPayload: 1 << 20, Routes: routes,
		// With DontListen the server (v2.15.2) never connects to other servers, so it listens on
		// the loopback. Only this process has the password.
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "atelier", Password: b.key,
		Cluster: server.ClusterOpts{
			Name: "atelier", Host: host, Port: number, Username: "atelier", Password: password,
			AuthTimeout: 5, TLSTimeout: 5, TLSConfig: o.TLS, PoolSize: 1, ConnectRetries: -1,
			PingInterval: 2 * time.Second, MaxPingsOut: 2,
			// Nodes connect only to their peers. NATS servers announce third servers to each other
			// and connect to those, too, and no option turns this off. For this reason, each
			// node announces an address that cannot be dialed.
			NoAdvertise: true, Advertise: nowhere,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: messages between nodes: %w", err)
	}
	return s, nil
}
