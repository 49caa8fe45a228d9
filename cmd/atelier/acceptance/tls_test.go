package acceptance

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"atelier/transport/auth"
)

// selfSigned writes a certificate for 127.0.0.1 and its key into a folder.
func selfSigned(t *testing.T, folder string) (cert, key string, roots *x509.CertPool) {
	return selfSignedAs(t, folder, 1)
}

func selfSignedAs(t *testing.T, folder string, serial int64) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "workshop"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER), roots
}

func TestTheServerSupportsTLS(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	var roots *x509.CertPool
	cfg.Server.TLSCert, cfg.Server.TLSKey, roots = selfSigned(t, t.TempDir())
	addr := startServer(t, cfg).Addr()
	secure := func() *browser { return openWith(t, "https://"+addr, &tls.Config{RootCAs: roots}) }

	admin := secure()
	res := http.Response{Header: admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200).header}
	for _, c := range res.Cookies() {
		if !c.Secure {
			t.Errorf("the cookie %s is not for https only", c.Name)
		}
	}
	id := admin.post("/codelabs", record{"title": "Over TLS"}).object().text("id")
	admin.put("/codelabs/"+id+"/steps", record{"steps": []record{{"title": "a", "content_markdown": "b"}}}).want(200)
	lin := secure()
	lin.post("/codelabs/"+id+"/register", record{"name": "Lin"}).want(200)
	if lin.cookie(auth.SessionCookie) == "" {
		t.Fatal("the browser does not send the cookie")
	}
	one, two := lin.connect(id, ""), admin.connect(id, "")
	one.acked(record{"type": "chat", "message": "over wss"}, "r")
	two.untilChat("over wss")
	again := lin.connect(id, resume(one.welcome.text("epoch"), one.welcome.seq()))
	again.untilChat("over wss")
	events, status := lin.follow(id, "")
	if status != 200 {
		t.Fatalf("the event stream returned %d, want 200", status)
	}
	one.send(record{"type": "chat", "message": "to all"})
	events.next("chat")
	again.untilChat("to all")
}

// The certificate is renewed while the server runs. New handshakes show the new certificate, and
// open connections continue.
func TestARenewedCertificateIsServed(t *testing.T) {
	t.Parallel()
	cfg, folder := testConfig(t), t.TempDir()
	var roots *x509.CertPool
	cfg.Server.TLSCert, cfg.Server.TLSKey, roots = selfSigned(t, folder)
	s := startServer(t, cfg)
	admin := openWith(t, "https://"+s.Addr(), &tls.Config{RootCAs: roots})
	admin.login("")
	id := admin.post("/codelabs", record{"title": "Over TLS"}).object().text("id")
	live := admin.connect(id, "")
	_, _, next := selfSignedAs(t, folder, 2)
	serial := func() string {
		conn, err := tls.Dial("tcp", s.Addr(), &tls.Config{RootCAs: next})
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != "2" {
		t.Errorf("after the reload, the serial number is %s, want 2", got)
	}
	// The server also reads changed files without a reload.
	_, _, next = selfSignedAs(t, folder, 3)
	c := &class{t: t}
	c.eventually("the third certificate is shown", func() bool { return serial() == "3" })
	live.acked(record{"type": "chat", "message": "still here"}, "r")

	// An unusable certificate changes nothing.
	if err := os.WriteFile(cfg.Server.TLSKey, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil {
		t.Error("a reload with an invalid key succeeded")
	}
	if got := serial(); got != "3" {
		t.Errorf("after the failed reload, the serial number is %s, want 3", got)
	}
}
