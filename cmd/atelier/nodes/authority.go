package nodes

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"time"
)

// authority is the name of the secret with which each node signs its certificate. It contains one
// certificate and its key in PEM format.
const authority = "authority"

// The certificates are valid until cluster.secret changes. They begin in the past, because the
// clocks of nodes differ.
var certificatesFrom, certificatesUntil = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// ownTLS configures both sides of the connections between nodes that have no certificates in the
// configuration. At each start a node creates a certificate, signed by the authority that the first
// node created. A node with such a certificate belongs to this cluster, regardless of the name used
// to reach the node.
func ownTLS(k *Keyring, node string) (*tls.Config, error) {
	s, err := k.Share(authority, newAuthority)
	if err != nil {
		return nil, err
	}
	by, err := tls.X509KeyPair(s.Content, s.Content)
	if err != nil {
		return nil, errors.New("the authority of the nodes' certificates in the database is damaged")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := x509.CreateCertificate(rand.Reader, certificate(node), by.Leaf, key.Public(), by.PrivateKey)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(by.Leaf)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}},
		ClientAuth:   tls.RequireAnyClientCert, InsecureSkipVerify: true, MinVersion: tls.VersionTLS13,
		// VerifyConnection replaces the library's check, which verifies names.
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 {
				return errors.New("no certificate")
			}
			_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
			return err
		},
	}, nil
}

func certificate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: certificatesFrom, NotAfter: certificatesUntil,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
}

func newAuthority() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	own := certificate("the nodes of an Atelier")
	own.IsCA, own.KeyUsage, own.MaxPathLenZero = true, x509.KeyUsageCertSign, true
	cert, err := x509.CreateCertificate(rand.Reader, own, own, key.Public(), key)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: cert}) // a buffer never fails
	_ = pem.Encode(&out, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return out.Bytes(), nil
}
