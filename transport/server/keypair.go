package server

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// lookEvery is the minimum time between two checks of the files.
const lookEvery = 2 * time.Second

// KeyPair is a certificate with its key. It is reloaded when its files have changed, because
// certificates are renewed while the server runs. It is safe for concurrent use.
type KeyPair struct {
	certFile, keyFile string
	failed            func(error)
	now               func() time.Time

	mu     sync.Mutex
	cert   *tls.Certificate // guarded by mu
	seen   [2]stamp         // guarded by mu; stamps of the files at the last attempt to load them
	looked time.Time        // guarded by mu
}

// stamp identifies a version of a file.
type stamp struct {
	size int64
	at   time.Time
}

// LoadKeyPair reads a pair from PEM files. failed is called if the changed files cannot be used;
// the previous pair stays in use.
func LoadKeyPair(certFile, keyFile string, failed func(error)) (*KeyPair, error) {
	p := &KeyPair{certFile: certFile, keyFile: keyFile, failed: failed, now: time.Now}
	if err := p.Reload(); err != nil {
		return nil, err
	}
	return p, nil
}

// Reload reads the files now. If they cannot be used, it returns an error, and the previous pair
// stays.
func (p *KeyPair) Reload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read(p.stamps())
}

// read does the same as Reload. The caller holds mu.
func (p *KeyPair) read(seen [2]stamp) error {
	p.seen, p.looked = seen, p.now()
	cert, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", p.certFile, p.keyFile, err)
	}
	p.cert = &cert
	return nil
}

// stamps returns the stamps of the two files. The stamp of a missing file is zero.
func (p *KeyPair) stamps() (s [2]stamp) {
	for i, name := range []string{p.certFile, p.keyFile} {
		if info, err := os.Stat(name); err == nil { // follows links, which renewals replace
			s[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return s
}

// Certificate returns the pair in the files, or the last valid pair. It checks the files at most
// once per lookEvery.
func (p *KeyPair) Certificate() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now().Sub(p.looked) < lookEvery {
		return p.cert
	}
	p.looked = p.now()
	if seen := p.stamps(); seen != p.seen {
		if err := p.read(seen); err != nil {
			p.failed(err)
		}
	}
	return p.cert
}

// Server is for tls.Config.GetCertificate.
func (p *KeyPair) Server(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.Certificate(), nil }

// Client is for tls.Config.GetClientCertificate.
func (p *KeyPair) Client(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return p.Certificate(), nil
}
