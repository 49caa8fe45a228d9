package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Trust selects the accepted certificates.
type Trust struct {
	// CAFile is a PEM file with authorities that are trusted in addition to the system's; "" for
	// none.
	CAFile string `json:"-"`
	// CA is the content of CAFile.
	CA []byte `json:"ca,omitempty"`
	// Insecure accepts any certificate.
	Insecure bool `json:"insecure,omitempty"`
}

// Load reads CAFile into CA, for use on machines without the file.
func (t *Trust) Load() error {
	if t.CAFile == "" || t.CA != nil {
		return nil
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		return fmt.Errorf("read authorities: %w", err)
	}
	t.CA = pem
	return nil
}

// Tunnel connects the generator to a server that uses TLS. Its clients connect to a plain port of
// this process, which forwards their bytes through TLS connections. Each client connection has one
// TLS connection, so that the server gets the same connections. The cost of TLS is outside of the
// generator's event loops and appears in its CPU time. A tunnel is open until Close.
type Tunnel struct {
	server string
	config *tls.Config
	listen net.Listener

	mu     sync.Mutex
	conns  map[net.Conn]struct{} // guarded by mu
	closed bool                  // guarded by mu
	done   sync.WaitGroup
}

// dialWithin is the timeout for connect and handshake.
const dialWithin = 10 * time.Second

// OpenTunnel opens a tunnel to a server, given as host:port.
func OpenTunnel(server string, trust Trust) (*Tunnel, error) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	config := &tls.Config{ServerName: host, InsecureSkipVerify: trust.Insecure, NextProtos: []string{"http/1.1"}}
	if err := trust.Load(); err != nil {
		return nil, err
	}
	if len(trust.CA) > 0 {
		if config.RootCAs, err = x509.SystemCertPool(); err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(trust.CA) {
			return nil, errors.New("the file of --ca contains no certificate")
		}
	}
	t := &Tunnel{server: server, config: config, conns: map[net.Conn]struct{}{}}
	// Check early whether the server exists, and whether it is trusted.
	c, err := t.dial()
	if err != nil {
		return nil, err
	}
	_ = c.Close()
	if t.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	t.done.Go(t.accept)
	return t, nil
}

// Address returns the address of the plain port.
func (t *Tunnel) Address() string { return t.listen.Addr().String() }

// Close ends the listener and every connection, and waits for their goroutines.
func (t *Tunnel) Close() {
	t.mu.Lock()
	t.closed = true
	for c := range t.conns {
		_ = c.Close()
	}
	t.mu.Unlock()
	_ = t.listen.Close()
	t.done.Wait()
}

func (t *Tunnel) dial() (*tls.Conn, error) {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialWithin}, Config: t.config}
	c, err := d.Dial("tcp", t.server)
	if err != nil {
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			return nil, fmt.Errorf("connect to %s: %w; name the file of its authority with --ca, or use --insecure", t.server, err)
		}
		return nil, fmt.Errorf("connect to %s: %w", t.server, err)
	}
	return c.(*tls.Conn), nil
}

func (t *Tunnel) accept() {
	for {
		c, err := t.listen.Accept()
		if err != nil {
			return
		}
		t.done.Go(func() { t.pass(c) })
	}
}

// pass forwards one connection in both directions, until the server ends it or the tunnel closes.
// A client that stops sending can still receive.
func (t *Tunnel) pass(near net.Conn) {
	defer near.Close()
	if !t.keep(near) {
		return
	}
	defer t.forget(near)
	far, err := t.dial()
	if err != nil {
		return
	}
	defer far.Close()
	if !t.keep(far) {
		return
	}
	defer t.forget(far)
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(far, near)
		_ = far.CloseWrite()
	})
	_, _ = io.Copy(near, far)
	// The server has ended the connection.
	_ = near.Close()
	both.Wait()
}

func (t *Tunnel) keep(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.conns[c] = struct{}{}
	return true
}

func (t *Tunnel) forget(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}
