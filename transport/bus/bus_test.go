package bus

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout limits every wait. A test that passes waits much less.
const testTimeout = time.Minute

func open(t *testing.T, o Options) *Bus {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

var names = []string{"a", "b", "c"}

// three returns the buses of three nodes that reach each other. stopC closes the third bus.
func three(t *testing.T, at func(i int, o *Options)) (buses [3]durable.Bus, stopC func()) {
	addrs := bustest.Addresses(t, 3)
	for i, name := range names {
		o := Options{Node: name, Secret: "the secret", Listen: addrs[i], Peers: addrs}
		if at != nil {
			at(i, &o)
		}
		b := open(t, o)
		buses[i], stopC = b, b.Close
	}
	bustest.Reached(t, names, buses[:])
	return buses, stopC
}

func TestTheBusSatisfiesItsContract(t *testing.T) {
	bustest.Run(t, func(t *testing.T) ([3]durable.Bus, func()) { return three(t, nil) })
}

func TestTheBusSatisfiesItsContractOverTLS(t *testing.T) {
	conf := authority(t)
	bustest.Run(t, func(t *testing.T) ([3]durable.Bus, func()) {
		return three(t, func(_ int, o *Options) { o.TLS = conf() })
	})
}

func TestTheBusSatisfiesItsContractOnAnExternalNATS(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(testTimeout) {
		t.Fatal("NATS did not start")
	}
	address := strings.Replace(s.ClientURL(), "//", "//u:p@", 1)
	bustest.Run(t, func(t *testing.T) ([3]durable.Bus, func()) {
		return three(t, func(_ int, o *Options) { o.Listen, o.Peers, o.URL = "", nil, address })
	})
}

// authority returns a function that creates configurations of nodes with certificates from one
// authority.
func authority(t *testing.T) func() *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nodes"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	return func() *tls.Config {
		// Atelier's own configuration uses the same callbacks, so that a renewed certificate takes
		// effect without a restart.
		cert := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
		return &tls.Config{
			GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert, nil },
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil },
			RootCAs:              pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
		}
	}
}

// Messages without the secret are ignored, and their sender cannot become a node.
func TestMessagesOfStrangersAreIgnored(t *testing.T) {
	addrs := bustest.Addresses(t, 2)
	var logged lockedBuffer
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a := open(t, Options{Node: "a", Secret: "right-secret", Listen: addrs[0], Logger: log})
	stranger := open(t, Options{Node: "b", Secret: "wrong-secret", Listen: addrs[1], Peers: addrs[:1], Logger: log})
	served := func(_ string, _ []byte, answer func([]byte)) { answer(nil) }
	if _, err := a.Serve("x", served); err != nil {
		t.Fatal(err)
	}
	var err error
	done := make(chan struct{})
	stranger.Request("a", "x", nil, 300*time.Millisecond, func(_ []byte, e error) { err = e; close(done) })
	<-done
	if err == nil {
		t.Error("a stranger's request was answered")
	}
	if n := a.Stats().Routes; n != 0 {
		t.Errorf("%d strangers are connected", n)
	}
	if strings.Contains(logged.String(), "-secret") {
		t.Error("the secret was logged")
	}

	// Without the secret, a client of the same NATS cannot send anything.
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(testTimeout) {
		t.Fatal("NATS did not start")
	}
	in := open(t, Options{Node: "in", Secret: "right-secret", URL: s.ClientURL()})
	friend := open(t, Options{Node: "friend", Secret: "right-secret", URL: s.ClientURL()})
	out := open(t, Options{Node: "out", Secret: "wrong-secret", URL: s.ClientURL()})
	received := make(chan string, 8)
	if _, err := in.Serve("x", func(from string, _ []byte, answer func([]byte)) { received <- from; answer(nil) }); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Listen("news", func(from string, _ []byte) { received <- from }); err != nil {
		t.Fatal(err)
	}
	bustest.Reachable(t, friend, "in", "x")
	for len(received) > 0 {
		<-received
	}
	if err := out.Publish("news", []byte("x")); err != nil {
		t.Fatal(err)
	}
	done = make(chan struct{})
	out.Request("in", "x", nil, 200*time.Millisecond, func(_ []byte, e error) { err = e; close(done) })
	<-done
	if !errors.Is(err, durable.ErrTimeout) {
		t.Errorf("a stranger's request returned %v, want ErrTimeout", err)
	}
	done = make(chan struct{})
	friend.Request("in", "x", nil, testTimeout, func([]byte, error) { close(done) })
	<-done
	// On a busy machine, a request of Reachable can arrive late.
	for from := <-received; ; from = <-received {
		if from != "friend" {
			t.Errorf("a message of %s was received", from)
		}
		if len(received) == 0 {
			break
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Incomplete messages are discarded after some time. Until then, their total size is limited.
func TestPartsAreBounded(t *testing.T) {
	var a assembly
	now := time.Now()
	piece := make([]byte, partBytes)
	ann, bob := session{1}, session{2}
	a.add("s", ann, part{first: 1, count: 2, data: []byte("be")}, now)
	if _, _, fits := a.add("s", ann, part{first: 1, count: 2, data: []byte("twice")}, now); fits {
		t.Error("a part was accepted twice")
	}
	a.add("s", bob, part{first: 1, count: 2, data: []byte("another's")}, now)
	if data, whole, _ := a.add("s", ann, part{first: 1, number: 1, count: 2, data: []byte("gun")}, now); !whole || string(data) != "begun" {
		t.Errorf("the message is %q, complete: %v", data, whole)
	}
	for first := range uint64(3 * maxParts) {
		a.add("s", ann, part{first: first, count: 2, data: piece}, now)
	}
	if a.bytes > maxOpen {
		t.Errorf("parts of %d bytes are kept", a.bytes)
	}
	a.forget(now.Add(openFor + 1))
	for first := range uint64(1 << 15) { // empty parts
		a.add("s", ann, part{first: first, count: maxParts}, now)
	}
	if len(a.open) > maxOpen/maxParts/partOverhead {
		t.Errorf("%d messages with empty parts are kept", len(a.open))
	}
	a.forget(now.Add(openFor + 1))
	if len(a.open) != 0 || a.bytes != 0 {
		t.Errorf("after the timeout, %d messages of %d bytes are kept", len(a.open), a.bytes)
	}
}

func TestCheckNode(t *testing.T) {
	for name, good := range map[string]bool{"node-1": true, "": false, "a.b": false, "a*": false, strings.Repeat("n", 65): false} {
		if err := CheckNode(name); (err == nil) != good {
			t.Errorf("CheckNode(%q) = %v", name, err)
		}
	}
}

// Nodes connect only to their configured peers. In an earlier version, they found each other
// through a third node, so they bypassed a link that an operator had omitted or cut.
func TestOnlyPeersAreConnected(t *testing.T) {
	addrs := bustest.Addresses(t, 3)
	var buses []durable.Bus
	for i, name := range names { // b connects only to a, and c only to b
		buses = append(buses, open(t, Options{Node: name, Secret: "x", Listen: addrs[i], Peers: addrs[max(i, 1)-1 : i]}))
	}
	bustest.Reached(t, names[:2], buses[:2])
	bustest.Reached(t, names[1:], buses[1:])
	received := make(chan string, 1<<10)
	for i, b := range buses {
		if _, err := b.Serve("x", func(_ string, data []byte, answer func([]byte)) { answer(data) }); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Listen("news", func(from string, _ []byte) { received <- from + " to " + names[i] }); err != nil {
			t.Fatal(err)
		}
	}
	bustest.Reachable(t, buses[0], "b", "x")
	bustest.Reachable(t, buses[2], "b", "x")
	for range 200 { // much longer than b would need to spread the addresses
		for _, pair := range [][2]int{{0, 2}, {2, 0}} {
			got := make(chan error, 2)
			buses[pair[0]].Request(names[pair[1]], "x", nil, time.Minute, func(_ []byte, err error) { got <- err })
			if err := <-got; !errors.Is(err, durable.ErrNobody) {
				t.Fatalf("%s reached %s: the request returned %v, want ErrNobody", names[pair[0]], names[pair[1]], err)
			}
			if err := buses[pair[0]].Publish("news", []byte("x")); err != nil {
				t.Fatal(err)
			}
			buses[pair[0]].Request("b", "x", nil, time.Minute, func(_ []byte, err error) { got <- err })
			if err := <-got; err != nil {
				t.Fatal(err)
			}
		}
	}
	for len(received) > 0 {
		if h := <-received; h == "a to c" || h == "c to a" {
			t.Fatalf("a message passed from %s", h)
		}
	}
	for i, want := range []int{1, 2, 1} {
		if n := buses[i].(*Bus).Stats().Routes; n != want {
			t.Errorf("%s has %d connections", names[i], n)
		}
	}
}
