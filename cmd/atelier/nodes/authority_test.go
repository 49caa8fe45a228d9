package nodes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/persistence/memory"
)

// aKeyring returns a keyring on a store.
func aKeyring(t *testing.T, store *memory.Store) *Keyring {
	t.Helper()
	k, err := OpenKeyring(store, "a secret of this test that is long enough")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// tlsOf returns the TLS configuration of a node with a keyring.
func tlsOf(t *testing.T, k *Keyring, node string) *tls.Config {
	t.Helper()
	c, err := ownTLS(k, node)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// handshake connects two nodes and returns the error on each side.
func handshake(t *testing.T, server, client *tls.Config) (serverErr, clientErr error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		a, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		c := tls.Server(a, server)
		err = c.HandshakeContext(t.Context())
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		_ = a.Close()
		done <- err
	}()
	b, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(b, client)
	clientErr = c.HandshakeContext(t.Context())
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1)) // a refusal arrives after the handshake
	}
	_ = b.Close()
	return <-done, clientErr
}

func TestNodesAcceptOnlyEachOthersCertificates(t *testing.T) {
	one, other := memory.New(), memory.New()
	a, b, stranger := tlsOf(t, aKeyring(t, one), "a"), tlsOf(t, aKeyring(t, one), "b"), tlsOf(t, aKeyring(t, other), "c")
	if s, c := handshake(t, a, b); s != nil || c != nil {
		t.Errorf("the handshake of two nodes failed: %v, %v", s, c)
	}
	if s, _ := handshake(t, a, stranger); s == nil {
		t.Error("a node accepted the certificate of a stranger")
	}
	if _, c := handshake(t, stranger, a); c == nil {
		t.Error("a node connected to a stranger")
	}
	nobody := b.Clone()
	nobody.Certificates = nil
	if s, _ := handshake(t, a, nobody); s == nil {
		t.Error("a node accepted a client without a certificate")
	}
	// A certificate that a node signed is not accepted.
	forged := b.Clone()
	forged.Certificates = []tls.Certificate{forge(t, b.Certificates[0])}
	if s, _ := handshake(t, a, forged); s == nil {
		t.Error("a node accepted a certificate that another node had made")
	}
}

// A holder of the authority under the previous secret is no longer accepted as a node. The nodes
// share a new authority.
func TestANewSecretInvalidatesTheCertificates(t *testing.T) {
	store := memory.New()
	k := aKeyring(t, store)
	before := tlsOf(t, k, "a")
	const other = "another secret of this test that is long enough"
	if err := k.rekey(other); err != nil {
		t.Fatal(err)
	}
	next, err := OpenKeyring(store, other)
	if err != nil {
		t.Fatal(err)
	}
	a, b := tlsOf(t, next, "a"), tlsOf(t, next, "b")
	if s, c := handshake(t, a, b); s != nil || c != nil {
		t.Errorf("the handshake of two nodes failed: %v, %v", s, c)
	}
	if s, _ := handshake(t, a, before); s == nil {
		t.Error("a node accepted a certificate from before the change")
	}
	if _, c := handshake(t, before, a); c == nil {
		t.Error("a client with a certificate from before the change connected to a node")
	}
}

func TestTheAddressOfANodeIsDetermined(t *testing.T) {
	for _, c := range []struct{ listen, database, want string }{
		{"127.0.0.1:6222", "postgres://u@127.0.0.1:5432/x", "127.0.0.1:6222"},
		{"node-1.example.org:7000", "postgres://u@127.0.0.1:5432/x", "node-1.example.org:7000"},
		{"0.0.0.0:7000", "postgres://u@127.0.0.1:5432/x", "127.0.0.1:7000"},
		{":7000", "postgres:///x?host=/run/postgresql", "127.0.0.1:7000"},
		{"[::]:7000", "postgres://u@[::1]:5432/x", "[::1]:7000"},
	} {
		var cfg config.Config
		cfg.Cluster.Listen, cfg.Storage.Postgres = c.listen, config.Secret(c.database)
		if got := address(cfg); got != c.want {
			t.Errorf("%s with %s is reached at %s, want %s", c.listen, c.database, got, c.want)
		}
	}
}

// forge issues a certificate signed by a certificate that is not an authority.
func forge(t *testing.T, by tls.Certificate) tls.Certificate {
	t.Helper()
	leaf, err := x509.ParseCertificate(by.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.CreateCertificate(rand.Reader, certificate("forged"), leaf, key.Public(), by.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{cert, by.Certificate[0]}, PrivateKey: key}
}
