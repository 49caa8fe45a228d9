package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"atelier/transport/bus"
	"atelier/transport/server"
)

// Cluster is the configuration section of several servers on one database.
type Cluster struct {
	Enabled bool     `toml:"enabled" doc:"Run as a node of a cluster that shares storage.postgres and files.store. The first node generates the keys and the owner's password; later nodes read them from the database, where they are encrypted with secret."`
	Node    string   `toml:"node" doc:"Unique name of this node, of letters, digits, - and _. Empty: the host name."`
	Listen  string   `toml:"listen" doc:"Address for the other nodes. If it is not a loopback address, the nodes issue their own certificates, unless tls_cert, tls_key and tls_ca are set, or nats_url is."`
	Peers   []string `toml:"peers" doc:"Addresses (host:port) of the other nodes. Empty: they find each other through the database."`
	NATSURL Secret   `toml:"nats_url" doc:"External NATS server, used instead of listen and peers, for example nats://user:password@host:4222."`
	Secret  Secret   `toml:"secret" doc:"Shared secret that authenticates nodes and seals their keys in the database; the same on all nodes, at least 32 characters."`
	TLSCert string   `toml:"tls_cert" doc:"Certificate file (PEM) of this node, as server and as client."`
	TLSKey  string   `toml:"tls_key" doc:"Key file (PEM) of tls_cert."`
	TLSCA   string   `toml:"tls_ca" doc:"CA certificates (PEM) for node certificates."`
}

// machine returns the first label of the host name as a node name of at most 64 bytes. A character
// that a node name cannot contain becomes a dash. It returns "" if the host name cannot be read.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	name, _, _ = strings.Cut(name, ".")
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, name[:min(len(name), 64)])
}

func defaultCluster() Cluster {
	return Cluster{Listen: "127.0.0.1:6222", Peers: []string{}}
}

// minSecret is the minimum length of the cluster secret, in bytes.
const minSecret = 32

// minDiffering is the minimum number of different characters. It rejects secrets that people pad to
// the minimum length. The probability that a random secret of 64 hexadecimal digits has fewer
// different digits is below 10^-18.
const minDiffering = 8

// CheckClusterSecret returns an error if a cluster secret is too weak.
func CheckClusterSecret(secret string) error {
	seen := map[rune]bool{}
	for _, r := range secret {
		seen[r] = true
	}
	if len(secret) < minSecret || len(seen) < minDiffering {
		return fmt.Errorf("needs at least %d characters, of which %d differ: openssl rand -hex 32 makes one", minSecret, minDiffering)
	}
	return nil
}

// MakesCertificates reports whether the nodes issue their own certificates. They do so if listen is
// not a loopback address, tls_ca is not set and no external NATS server is used. Without these
// certificates, connections between machines would not be encrypted.
func (n *Cluster) MakesCertificates() bool {
	host, _, err := net.SplitHostPort(n.Listen)
	return n.NATSURL == "" && n.TLSCA == "" && err == nil && !loopback(host)
}

func (c *Config) checkCluster(bad, warn func(string, ...any)) {
	n := &c.Cluster
	if !n.Enabled {
		return
	}
	if c.Storage.Backend != Postgres {
		bad(`cluster.enabled needs storage.backend = "postgres"`)
	}
	if c.Files.Store == "" {
		bad(`cluster.enabled needs files.store, a folder or a bucket that all nodes use`)
	}
	if err := bus.CheckNode(n.Node); err != nil {
		bad("cluster.node: %v", err)
	}
	if err := CheckClusterSecret(string(n.Secret)); err != nil {
		bad("cluster.secret %v", err)
	}
	files := []string{n.TLSCert, n.TLSKey, n.TLSCA}
	if set := len(slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == "" })); set != 0 && set != len(files) {
		bad("cluster.tls_cert, cluster.tls_key and cluster.tls_ca must be set together")
	}
	for _, f := range files {
		if _, err := os.Stat(f); f != "" && errors.Is(err, fs.ErrNotExist) {
			bad("cluster: %s does not exist", f)
		}
	}
	if n.NATSURL != "" {
		u, err := url.Parse(string(n.NATSURL))
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "" {
			bad("cluster.nats_url must be nats:// or tls:// and a host")
		} else if u.Scheme == "nats" && n.TLSCA == "" && !loopback(u.Hostname()) {
			warn("cluster.nats_url is not tls://: the credentials of NATS and the ids of codelabs travel in the clear; the messages between nodes are still encrypted")
		}
		return
	}
	if _, err := checkAddress(n.Listen); err != nil {
		bad("cluster.listen: %v", err)
	}
	for _, p := range n.Peers {
		if _, port, err := net.SplitHostPort(p); err != nil || port == "" {
			bad("cluster.peers: %q is not an address like node-2:6222", p)
		}
	}
}

// TLS returns the configuration for the two sides of connections between nodes, or nil without
// certificates. The certificate is reloaded when its files change, but the authorities are not.
// failed is called if changed files cannot be used.
func (n *Cluster) TLS(failed func(error)) (*tls.Config, error) {
	if n.TLSCA == "" {
		return nil, nil
	}
	cert, err := server.LoadKeyPair(n.TLSCert, n.TLSKey, failed)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls_cert: %w", err)
	}
	pem, err := os.ReadFile(n.TLSCA)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls_ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("cluster.tls_ca: no certificate in %s", n.TLSCA)
	}
	return &tls.Config{
		GetCertificate: cert.Server, GetClientCertificate: cert.Client, RootCAs: pool, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}, nil
}
