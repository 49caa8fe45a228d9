package acceptance

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
)

// TestTheSamplesForBalancersWork runs a workshop through each of them in front of
// three nodes, and goes on when one of them is stopped.
func TestTheSamplesForBalancersWork(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, front, cert, key string, nodes []string) *exec.Cmd{
		"nginx": func(t *testing.T, front, cert, key string, nodes []string) *exec.Cmd {
			return nginx(t, edited(t, "cluster/nginx.conf", append(nodes, "listen 443 ssl", "listen "+front+" ssl", "listen 80", "listen "+freeAddr(t),
				"/etc/ssl/atelier.pem", cert, "/etc/ssl/atelier.key", key)...))
		},
		"caddy": func(t *testing.T, front, cert, key string, nodes []string) *exec.Cmd {
			return caddy(t, edited(t, "cluster/Caddyfile", append(nodes, "workshop.example.org {", "https://"+front+" {\n\ttls "+cert+" "+key)...))
		},
		"haproxy": func(t *testing.T, front, cert, key string, nodes []string) *exec.Cmd {
			path, dir := program(t, "haproxy"), t.TempDir()
			var both []byte
			for _, file := range []string{cert, key} {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				both = append(both, b...)
			}
			pem, file := filepath.Join(dir, "both.pem"), filepath.Join(dir, "haproxy.cfg")
			conf := edited(t, "cluster/haproxy.cfg", append(nodes, "0.0.0.0:443", front, "/etc/haproxy/workshop.pem", pem)...)
			for name, b := range map[string][]byte{pem: both, file: []byte(conf)} {
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return exec.Command(path, "-db", "-f", file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key, roots := selfSigned(t, t.TempDir())
			front := freeAddr(t)
			c := testConfig(t)
			c.Server.PublicURL, c.Server.TrustedProxies = "https://"+front, []string{"127.0.0.1/32"}
			// Nodes that differ by their addresses alone, as machines do.
			_, public, _ := net.SplitHostPort(freeAddr(t))
			_, internal, _ := net.SplitHostPort(freeAddr(t))
			var nodes []versioned
			for i, cfg := range nodeConfigs(t, 3, postgrestest.Database(t), c) {
				host := fmt.Sprint("127.0.0.", 2+i)
				cfg.Server.Listen, cfg.Server.InternalListen = net.JoinHostPort(host, public), net.JoinHostPort(host, internal)
				if l, err := net.Listen("tcp", cfg.Server.Listen); err != nil {
					t.Skipf("this machine has no %s: %v", host, err)
				} else {
					_ = l.Close()
				}
				s, err := startVersion(t, cfg, 0, "")
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, s)
			}
			replace := []string{"10.0.0.11", "127.0.0.2", "10.0.0.12", "127.0.0.3", "10.0.0.13", "127.0.0.4", ":8080", ":" + public}
			if name != "nginx" { // which does not ask
				replace = append(replace, "9090", internal)
			}
			runProxy(t, start(t, front, cert, key, replace), front)
			throughProxy(t, front, roots)
			if err := nodes[1].stop(); err != nil {
				t.Fatal(err)
			}
			// A POST may meet the node that is gone until the balancer knows, and one that
			// asks each node every second does not learn it from that. Which node is next
			// is drawn by some: so many in a row miss one of three only if it is known.
			client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
			defer client.CloseIdleConnections()
			for fine, deadline := 0, time.Now().Add(patience); fine < 60; fine++ {
				want, method, path, body := 200, http.MethodGet, "/api/codelabs", ""
				if fine%2 == 1 { // which no balancer sends again, and nobody is to carry out
					want, method, path, body = 400, http.MethodPost, "/api/login", "{}"
				}
				req, err := http.NewRequest(method, "https://"+front+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				res, err := client.Do(req)
				if err == nil {
					_ = res.Body.Close()
				}
				if err != nil || res.StatusCode != want {
					if fine = -1; time.Now().After(deadline) {
						t.Fatalf("with a node less: %v, %v", res, err)
					}
				}
			}
			openWith(t, "https://"+front, &tls.Config{RootCAs: roots}).login("")
		})
	}
}

// TestTheSampleOfANodeIsAConfiguration, and so is what the Compose file sets.
func TestTheSampleOfANodeIsAConfiguration(t *testing.T) {
	dir := t.TempDir()
	certificates(t, dir, "node1=127.0.0.1")
	paths := []string{"/etc/atelier/node.pem", dir + "/node1.pem", "/etc/atelier/node.key", dir + "/node1.key", "/etc/atelier/nodes-ca.pem", dir + "/nodes-ca.pem"}
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte(edited(t, "cluster/config.toml", append(paths, "/srv/atelier", dir)...)), 0o600); err != nil {
		t.Fatal(err)
	}
	fine := func(what, file string, environ []string) {
		t.Helper()
		c, err := config.Load(file, environ)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		warnings, err := c.Check()
		warnings = slices.DeleteFunc(warnings, func(w string) bool {
			// The page says who may reach it; and in one Compose file nothing is elsewhere.
			return strings.HasPrefix(w, "server.internal_listen") || what == "compose.yml" && strings.HasPrefix(w, "storage.postgres: the database is elsewhere")
		})
		if err != nil || len(warnings) > 0 || !c.Cluster.Enabled {
			t.Errorf("%s: %v, %q", what, err, warnings)
		}
		if conf, err := c.Cluster.TLS(nil); err != nil || conf == nil {
			t.Errorf("%s: certificates: %v", what, err)
		}
	}
	shell := exec.Command("sh", "-c", "set -a; . ./node.env; exec env")
	shell.Dir, shell.Env = filepath.Join(deployFolder, "cluster"), []string{"PATH=" + os.Getenv("PATH")}
	read, err := shell.Output()
	if err != nil || !strings.Contains(string(read), "sslmode=verify-full") {
		t.Fatalf("a shell reads node.env as %q, %v", read, err)
	}
	fine("node.env", file, strings.Split(string(read), "\n"))

	var environ []string
	text := edited(t, "cluster/compose.yml", ": /node.pem", ": "+dir+"/node1.pem", ": /node.key", ": "+dir+"/node1.key", ": /nodes-ca.pem", ": "+dir+"/nodes-ca.pem", "folder:/shared", "folder:"+dir)
	for _, m := range regexp.MustCompile(`(ADMIN_PW|ATELIER_[A-Z_]+): ([^},\n]+[^\n]*)`).FindAllStringSubmatch(text, -1) {
		value := strings.Trim(regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(m[2], strings.Repeat("x", 40)), `"}`)
		environ = append(environ, m[1]+"="+value)
	}
	if len(environ) < 10 {
		t.Fatalf("found %q", environ)
	}
	fine("compose.yml", "", environ)
}

// certificates makes those of nodes, as the page says.
func certificates(t *testing.T, dir string, nodes ...string) {
	t.Helper()
	program(t, "openssl")
	script, err := filepath.Abs(filepath.Join(deployFolder, "cluster/certificates.sh"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{script}, nodes...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("certificates: %v\n%s", err, out)
	}
}

// TestNodesKnowEachOtherByTheirCertificates, which the script makes; and take none
// that somebody else has made.
func TestNodesKnowEachOtherByTheirCertificates(t *testing.T) {
	ours, others := t.TempDir(), t.TempDir()
	certificates(t, ours, "node1=127.0.0.1")
	certificates(t, ours, "node2=127.0.0.1") // later, with the same authority
	certificates(t, others, "node3=127.0.0.1")
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t))
	for i, dir := range []string{ours, ours, others} {
		n := &cfgs[i].Cluster
		n.TLSCert, n.TLSKey, n.TLSCA = filepath.Join(dir, n.Node+".pem"), filepath.Join(dir, n.Node+".key"), filepath.Join(ours, "nodes-ca.pem")
	}
	a, b := startServer(t, cfgs[0]), startServer(t, cfgs[1])
	onA, onB := facilitator(t, a.Addr(), ""), facilitator(t, b.Addr(), "")
	id := onA.post("/codelabs", record{"title": "over TLS"}).object().text("id")
	onB.put("/codelabs/"+id, record{"title": "over TLS, from the other"}).want(200)
	// It lives by the database and reaches nobody, so it cannot start.
	_, err := service.Start(cfgs[2], service.Options{Lease: 1500 * time.Millisecond}, slog.New(slog.NewTextHandler(&suiteLog, nil)))
	if err == nil || !strings.Contains(err.Error(), "is alive and does not answer this one") {
		t.Errorf("with a certificate of somebody else: %v", err)
	}
}
