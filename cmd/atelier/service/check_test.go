package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
)

// pairIn writes a certificate that expires at a given time, and the certificate's key.
func pairIn(t *testing.T, until time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Unix(0, 0), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	private, err2 := x509.MarshalPKCS8PrivateKey(key)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err = errors.Join(err, err2, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

func TestACheckReportsTheProblemsOfAStart(t *testing.T) {
	future := time.Now().Add(time.Hour)
	cert, key := pairIn(t, future)
	_, otherKey := pairIn(t, future)
	expired, expiredKey := pairIn(t, time.Now().Add(-time.Hour))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change    func(c *config.Config)
		err, warn string
	}{
		"no problem":             {func(c *config.Config) { c.Server.TLSCert, c.Server.TLSKey = cert, key }, "", ""},
		"the folder is missing":  {func(c *config.Config) { c.Server.Data = filepath.Join(c.Server.Data, "a", "b") }, "", ""},
		"another key":            {func(c *config.Config) { c.Server.TLSCert, c.Server.TLSKey = cert, otherKey }, "server.tls_cert", ""},
		"not a certificate":      {func(c *config.Config) { c.Server.TLSCert, c.Server.TLSKey = file, key }, "server.tls_cert", ""},
		"an expired certificate": {func(c *config.Config) { c.Server.TLSCert, c.Server.TLSKey = expired, expiredKey }, "", "the certificate expired on"},
		"another key between nodes": {func(c *config.Config) {
			c.Cluster.Enabled, c.Cluster.TLSCert, c.Cluster.TLSKey, c.Cluster.TLSCA = true, cert, otherKey, cert
		}, "cluster.tls_cert", ""},
		"the folder is a file": {func(c *config.Config) { c.Server.Data = file }, "is not a folder", ""},
		"a full disk":          {func(c *config.Config) { c.Storage.MinFreeMiB = 1 << 40 }, "", "reads only"},
	} {
		c := config.Default()
		c.Server.Data = t.TempDir()
		tc.change(&c)
		warnings, err := Check(c)
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: the error is %v", name, err)
		}
		if text := strings.Join(warnings, "\n"); tc.warn == "" && text != "" || !strings.Contains(text, tc.warn) {
			t.Errorf("%s: the warnings are %q", name, warnings)
		}
	}
}
