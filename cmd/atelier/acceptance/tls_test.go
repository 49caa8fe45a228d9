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
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "workshop"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
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

func TestTheServerSpeaksTLSByItself(t *testing.T) {
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
	two.hear("over wss")
	again := lin.connect(id, resume(one.welcome.text("epoch"), one.welcome.seq()))
	again.hear("over wss")
	events, status := lin.follow(id, "")
	if status != 200 {
		t.Fatalf("event stream: %d", status)
	}
	one.say(record{"type": "chat", "message": "to all"})
	events.next("chat")
	again.hear("to all")
}
