package acceptance

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
)

const (
	adminID = "admin"
	adminPW = "correct horse battery"
)

// testConfig returns a configuration with free ports, a temporary folder and small buffers. If the
// common server is a cluster (TEST_NODES), tests that start their own server are skipped, because
// they would only repeat the run on one node.
func testConfig(t testing.TB) config.Config {
	t.Helper()
	if os.Getenv("TEST_NODES") != "" {
		t.Skip("this test starts its own server")
	}
	return configOn(t.TempDir())
}

func configOn(data string) config.Config {
	c := config.Default()
	c.Server.Listen, c.Server.InternalListen = "127.0.0.1:0", "127.0.0.1:0"
	c.Server.Data = data
	c.Server.ReconnectSpread = config.Duration(10 * time.Millisecond)
	c.Server.DrainTimeout = config.Duration(4 * testTimeout) // each part of the server gets a share of it
	c.Admin.Password = adminPW
	c.Storage.MemtableMiB = 16
	c.Storage.MinFreeMiB = 64
	return c
}

// startServer runs the whole server in this process until the test ends.
func startServer(t testing.TB, c config.Config) *service.Service {
	t.Helper()
	s := startUntilStopped(t, c)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

// startUntilStopped runs the whole server; the caller stops it. Its lease is long enough not to
// expire during a test. The tests that use startShort cover lost leases.
func startUntilStopped(t testing.TB, c config.Config) *service.Service {
	t.Helper()
	return startWith(t, c, service.Options{Lease: lastingLease, Version: "1.2.3"})
}

// onceItCan retries while a folder is locked or a lease is lost. For a moment, a program that
// another test starts inherits the open files of this process, and with them the lock of a folder
// that is already closed. On a busy machine, short leases can expire.
func onceItCan(try func() error) error {
	err := try()
	for until := time.Now().Add(testTimeout); isMomentary(err) && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
		err = try()
	}
	return err
}

func isMomentary(err error) bool {
	if errors.Is(err, durable.ErrFenced) || errors.Is(err, durable.ErrUnavailable) {
		return true
	}
	return err != nil && (strings.Contains(err.Error(), "in use by another process") || strings.Contains(err.Error(), "Another process is using this Badger database"))
}

func startWith(t testing.TB, c config.Config, opts service.Options) *service.Service {
	t.Helper()
	if _, err := c.Check(); err != nil {
		t.Fatal(err)
	}
	warnings := new(logged)
	t.Cleanup(func() {
		if t.Failed() && warnings.String() != "" {
			t.Logf("warnings of the server on %s:\n%s", c.Server.Data, warnings)
		}
	})
	log := slog.New(slog.NewMultiHandler(
		slog.NewTextHandler(&suiteLog, &slog.HandlerOptions{Level: slog.LevelDebug}),
		slog.NewTextHandler(warnings, &slog.HandlerOptions{Level: slog.LevelWarn}),
	))
	var s *service.Service
	err := onceItCan(func() (err error) { s, err = service.Start(c, opts, log); return err })
	if err != nil {
		t.Fatal(err)
	}
	kind := single
	switch {
	case c.Cluster.Enabled && opts.Lease == testLease:
		kind = shortLeased
	case c.Cluster.Enabled:
		kind = node
	}
	serverKinds.Store("http://"+s.Addr(), kind)
	return s
}

// serverKind tells a test's client what it has to expect of a server.
type serverKind int

const (
	single serverKind = iota
	// node is a node of a cluster. On a busy machine, it sometimes cannot reach an owner in time.
	node
	// shortLeased is a node of a cluster in which leases end. On a busy machine, a lease can also
	// end although its node has the database.
	shortLeased
)

// serverKinds contains the serverKind of each address, with "http://". The kernel reuses ports, so a
// new server replaces the entry of an earlier server.
var serverKinds sync.Map

func kindOf(base string) serverKind {
	kind, _ := serverKinds.Load(base)
	is, _ := kind.(serverKind)
	return is
}

// common is the server of all tests that need no special configuration. Each test creates its own
// codelab, so tests do not interfere. The server trusts proxies on loopback, so that a test can
// choose its client address. It does not limit writes, because all tests share one address.
var common sharedServer

// sharedServer is the common server. With TEST_NODES=3 it is a cluster of three nodes, and
// successive requests go to different nodes. The tests must pass in the same way.
type sharedServer struct {
	once  sync.Once
	s     *service.Service
	data  string
	nodes []*service.Service
	turn  atomic.Uint64
}

func (c *sharedServer) get(t testing.TB) *service.Service {
	t.Helper()
	c.once.Do(func() {
		data, err := os.MkdirTemp("", "atelier-acceptance-*")
		if err != nil {
			t.Fatal(err)
		}
		c.data = data
		cfg := configOn(data)
		cfg.Server.TrustedProxies = []string{"127.0.0.0/8"}
		cfg.Server.AllowedOrigins = []string{"https://app.example.org"}
		cfg.Limits.WritesPerMinute, cfg.Limits.UploadsPerMinute = 0, 0
		if n, _ := strconv.Atoi(os.Getenv("TEST_NODES")); n > 1 {
			c.nodes = startNodes(t, n, postgrestest.Lasting(t), cfg)
			c.s = c.nodes[0]
			return
		}
		c.s = startUntilStopped(t, cfg)
	})
	if c.s == nil {
		t.Fatal("the common server did not start")
	}
	return c.s
}

func (c *sharedServer) stop() {
	if c.s != nil {
		for _, s := range c.nodes[min(len(c.nodes), 1):] {
			_ = s.Stop()
		}
		_ = c.s.Stop()
		_ = os.RemoveAll(c.data)
	}
	postgrestest.Stop()
}

// folders returns the folders in which the common server stores data. own is its data folder,
// which contains the control socket. all also contains the other nodes' data folders, the folder
// that they share, and the database.
func (c *sharedServer) folders() (own string, all []string) {
	if c.nodes == nil {
		return c.data, []string{c.data}
	}
	return filepath.Join(c.data, "node1"), []string{c.data, postgrestest.Folder()}
}

// onOneServer skips a test in cluster runs if a cluster behaves differently: its nodes share limits,
// have separate addresses, and receive a revocation up to a second later.
func onOneServer(t *testing.T) {
	if os.Getenv("TEST_NODES") != "" {
		t.Skip("this test runs on one server only")
	}
}

// anyNode returns the address of the next node if base is that of the common server, and otherwise
// base itself.
func anyNode(base string) string {
	if common.nodes == nil || base != "http://"+common.s.Addr() {
		return base
	}
	return "http://" + common.nodes[common.turn.Add(1)%uint64(len(common.nodes))].Addr()
}

// startNodes starts n servers on one database. Each has a folder inside the configuration's
// folder.
func startNodes(t testing.TB, n int, dsn string, c config.Config) []*service.Service {
	t.Helper()
	var out []*service.Service
	for _, cfg := range nodeConfigs(t, n, dsn, c) {
		out = append(out, startUntilStopped(t, cfg))
	}
	return out
}

// nodeConfigs returns the configurations of n nodes, which share the database, a folder and the
// secret of the cluster.
func nodeConfigs(t testing.TB, n int, dsn string, c config.Config) (out []config.Config) {
	t.Helper()
	addresses := freeAddresses(t, n)
	c.Storage.Backend, c.Storage.Postgres = config.Postgres, config.Secret(dsn)
	shared := filepath.Join(c.Server.Data, "shared")
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	c.Files.Store = "folder:" + shared
	// Keys in the databases of earlier releases (testdata) are sealed under this secret.
	c.Cluster.Enabled, c.Cluster.Secret = true, "the same secret of all nodes in this test"
	for i, address := range addresses {
		cfg := c
		cfg.Cluster.Node, cfg.Cluster.Listen = fmt.Sprint("node", i+1), address
		cfg.Server.Data = filepath.Join(c.Server.Data, cfg.Cluster.Node)
		out = append(out, cfg)
	}
	return out
}

// freeAddresses returns addresses on which nothing listens.
func freeAddresses(t testing.TB, n int) []string { return bustest.Addresses(t, n) }
