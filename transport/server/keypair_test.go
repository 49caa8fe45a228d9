package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// renew returns a new certificate with a serial number, and its key, as PEM.
func renew(t *testing.T, folder string, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func TestAKeyPairFollowsItsFiles(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	at := time.Now()
	write := func(name string, b []byte) {
		t.Helper()
		at = at.Add(time.Minute)
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadKeyPair(certFile, keyFile, nil); err == nil {
		t.Fatal("LoadKeyPair succeeded without files")
	}
	cert, key := renew(t, folder, 1)
	write(certFile, cert)
	write(keyFile, key)
	failures := 0
	p, err := LoadKeyPair(certFile, keyFile, func(error) { failures++ })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	p.now = func() time.Time { return now }
	serial := func() int64 { return p.Certificate().Leaf.SerialNumber.Int64() }
	if serial() != 1 {
		t.Fatalf("the serial number is %d, want 1", serial())
	}

	// A renewal replaces the two files one after the other. In between the files do not match.
	cert, key = renew(t, folder, 2)
	write(certFile, cert)
	now = now.Add(lookEvery)
	for range 3 {
		now = now.Add(lookEvery)
		if serial() != 1 {
			t.Errorf("with a renewed certificate but the old key, the serial is %d, want 1", serial())
		}
	}
	if failures != 1 {
		t.Errorf("%d failures were reported, want 1", failures)
	}
	write(keyFile, key)
	if serial() != 1 {
		t.Error("the files were read again at once")
	}
	now = now.Add(lookEvery)
	if serial() != 2 {
		t.Errorf("after the renewal, the serial is %d, want 2", serial())
	}

	// Without the files the server continues to use the last pair.
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	now = now.Add(lookEvery)
	if serial() != 2 || p.Reload() == nil || serial() != 2 {
		t.Error("without its key file, the loaded pair is gone")
	}
	cert, key = renew(t, folder, 3)
	write(certFile, cert)
	write(keyFile, key)
	if err := p.Reload(); err != nil || serial() != 3 {
		t.Errorf("Reload after a further renewal returned %v, or the old pair remains", err)
	}
}
