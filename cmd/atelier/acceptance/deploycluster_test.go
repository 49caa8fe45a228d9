package acceptance

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
)

// The test runs a workshop through each balancer in front of three nodes. Then it stops one node,
// and requests must still succeed.
func TestTheSamplesForBalancersWork(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the test runs each balancer in front of three nodes")
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
			// The nodes differ only in their addresses, like separate machines.
			_, public, _ := net.SplitHostPort(freeAddr(t))
			_, internal, _ := net.SplitHostPort(freeAddr(t))
			var nodes []versioned
			for i, cfg := range nodeConfigs(t, 3, postgrestest.Database(t), c) {
				host := fmt.Sprint("127.0.0.", 2+i)
				cfg.Server.Listen, cfg.Server.InternalListen = net.JoinHostPort(host, public), net.JoinHostPort(host, internal)
				l, err := net.Listen("tcp", cfg.Server.Listen)
				switch {
				case errors.Is(err, syscall.EADDRNOTAVAIL):
					t.Skipf("this machine has no %s: %v", host, err)
				case err != nil:
					t.Fatal(err)
				}
				_ = l.Close()
				s, err := startVersion(t, cfg, 0, "")
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, s)
			}
			replace := []string{"10.0.0.11", "127.0.0.2", "10.0.0.12", "127.0.0.3", "10.0.0.13", "127.0.0.4", ":8080", ":" + public}
			if name != "nginx" { // nginx sends no health checks
				replace = append(replace, "9090", internal)
			}
			runProxy(t, start(t, front, cert, key, replace), front)
			throughProxy(t, front, roots)
			if err := nodes[1].stop(); err != nil {
				t.Fatal(err)
			}
			// Until a balancer has detected that the node has stopped, it can send a POST to this
			// node. A balancer with a health check per second detects it at the next check, not by
			// a failed POST. Some balancers choose nodes at random. Only many consecutive successes
			// show that the balancer no longer uses the stopped node.
			client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
			defer client.CloseIdleConnections()
			for fine, deadline := 0, time.Now().Add(testTimeout); fine < 60; fine++ {
				want, method, path, body := 200, http.MethodGet, "/api/codelabs", ""
				if fine%2 == 1 { // no balancer repeats a POST, and this one must have no effect
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
						t.Fatalf("after a node was stopped, a request returned %v, %v", res, err)
					}
				}
			}
			openWith(t, "https://"+front, &tls.Config{RootCAs: roots}).login("")
		})
	}
}

// The sample is a valid configuration together with node.env.
func TestTheSampleOfANodeIsAValidConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte(edited(t, "cluster/config.toml", "/srv/atelier", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("sh", "-c", "set -a; . ./node.env; exec env")
	shell.Dir, shell.Env = filepath.Join(deployFolder, "cluster"), []string{"PATH=" + os.Getenv("PATH")}
	read, err := shell.Output()
	if err != nil || !strings.Contains(string(read), "sslmode=verify-full") {
		t.Fatalf("a shell reads node.env as %q, %v", read, err)
	}
	c, err := config.Load(file, strings.Split(string(read), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	warnings, err := c.Check()
	// CLUSTER.md describes which addresses can reach the internal listener.
	warnings = slices.DeleteFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "server.internal_listen") })
	if err != nil || len(warnings) > 0 || !c.Cluster.Enabled || !c.Cluster.MakesCertificates() {
		t.Errorf("the check returned %v, warnings %q", err, warnings)
	}
}

// composed returns the server's settings in a Compose file, for given values of its variables.
func composed(t *testing.T, text string, variables map[string]string) (environ []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`\b(ATELIER_[A-Z_]+): "?([^"},\n]*)`).FindAllStringSubmatch(filledIn(t, text, variables), -1) {
		environ = append(environ, m[1]+"="+m[2])
	}
	return environ
}

func filledIn(t *testing.T, text string, variables map[string]string) string {
	t.Helper()
	return regexp.MustCompile(`\$\{[A-Z_]+:\?\}`).ReplaceAllStringFunc(text, func(v string) string {
		value, ok := variables[v[2:len(v)-3]]
		if !ok {
			t.Errorf("the test has no value for the variable %s", v)
		}
		return value
	})
}

// The test starts everything that the Compose file describes, but without containers: the database
// role and three nodes. The nodes get only the secret from the operator, and their connections are
// encrypted.
func TestTheComposeFileForNodesWorks(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the test starts three nodes from the Compose file")
	database, dir := postgrestest.Database(t), t.TempDir()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	const role = "atelier_composed"
	variables := map[string]string{"CLUSTER_SECRET": "0123456789abcdef0123456789abcdef", "DATABASE_PASSWORD": "pw", "POSTGRES_PASSWORD": "of nobody here"}
	text := edited(t, "cluster/compose.yml", "create role atelier", "create role "+role, "create database atelier owner atelier", "create database "+role+" owner "+role,
		"atelier:${DATABASE_PASSWORD:?}@postgres:5432/atelier?sslmode=disable", role+":${DATABASE_PASSWORD:?}@"+at.Host+"/"+role+"?"+at.RawQuery,
		"folder:/shared", "folder:"+dir)
	t.Cleanup(func() {
		postgrestest.Exec(t, database, "drop database if exists "+role+" with (force)")
		postgrestest.Exec(t, database, "drop role if exists "+role)
	})
	statements := regexp.MustCompile(`(?m)^ +(create [^;]*);$`).FindAllStringSubmatch(text, -1)
	if len(statements) != 2 {
		t.Fatalf("found the statements %q", statements)
	}
	for _, m := range statements {
		postgrestest.Exec(t, database, filledIn(t, m[1], variables))
	}
	environ := composed(t, text, variables)
	environ = slices.DeleteFunc(environ, func(e string) bool { return strings.HasPrefix(e, "ATELIER_CLUSTER_NODE=") })
	var nodes []*service.Service
	var cfgs []config.Config
	for i, address := range freeAddresses(t, 3) {
		_, port, _ := net.SplitHostPort(address)
		cfg, err := config.Load("", append(slices.Clone(environ), fmt.Sprint("ATELIER_CLUSTER_NODE=node", i+1), "ATELIER_SERVER_DATA="+t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		if _, port, _ := net.SplitHostPort(cfg.Cluster.Listen); port != "6222" {
			t.Errorf("nodes listen on %s", cfg.Cluster.Listen)
		}
		cfg.Cluster.Listen = "0.0.0.0:" + port // one machine can listen on the port only once
		cfg.Server.Listen, cfg.Server.InternalListen = "127.0.0.1:0", ""
		cfg.Storage.MinFreeMiB = 1
		if _, err := cfg.Check(); err != nil {
			t.Fatal(err)
		}
		cfgs, nodes = append(cfgs, cfg), append(nodes, startServer(t, cfg))
	}
	password, err := os.ReadFile(service.PasswordFile(cfgs[0]))
	if err != nil {
		t.Fatal(err)
	}
	on := func(i int) *browser {
		c := open(t, nodes[i].Addr())
		c.post("/login", record{"admin_id": cfgs[i].Admin.ID, "admin_pw": strings.TrimSpace(string(password))}).want(200)
		return c
	}
	id := on(0).post("/codelabs", record{"title": "of the first"}).object().text("id")
	for i := range nodes {
		on(i).put("/codelabs/"+id, record{"title": fmt.Sprint("of node ", i)}).want(200)
	}
}

// The Compose file configures the server without warnings, and Caddy accepts its site.
func TestTheComposeFileForOneServerIsValid(t *testing.T) {
	t.Parallel()
	text := edited(t, "compose.yml")
	variables := map[string]string{"HOST": "workshop.example.org"}
	// The image sets these values.
	cfg, err := config.Load("", append(composed(t, text, variables), "ATELIER_SERVER_LISTEN=0.0.0.0:8080", "ATELIER_SERVER_DATA="+t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if warnings, err := cfg.Check(); err != nil || len(warnings) > 0 || cfg.Server.PublicURL != "https://workshop.example.org" {
		t.Errorf("the check returned %v, warnings %q, public URL %s", err, warnings, cfg.Server.PublicURL)
	}
	_, site, ok := strings.Cut(text, "    content: |\n")
	site, _, _ = strings.Cut(site, "\nnetworks:")
	if !ok {
		t.Fatal("the Compose file contains no site")
	}
	cert, key, roots := selfSigned(t, t.TempDir())
	front := freeAddr(t)
	c := testConfig(t)
	c.Server.PublicURL, c.Server.TrustedProxies = "https://"+front, []string{"127.0.0.1/32"}
	s := startServer(t, c)
	site = strings.NewReplacer("${HOST:?} {", "https://"+front+" {\n\ttls "+cert+" "+key, "atelier:8080", s.Addr()).Replace(site)
	runProxy(t, caddy(t, site), front)
	throughProxy(t, front, roots)
}

// Nodes with configured certificates authenticate each other, and reject certificates from
// another issuer.
func TestNodesAuthenticateEachOtherByCertificate(t *testing.T) {
	t.Parallel()
	ours, key, _ := selfSigned(t, t.TempDir())
	others, otherKey, _ := selfSigned(t, t.TempDir())
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t))
	for i := range cfgs {
		n := &cfgs[i].Cluster
		n.TLSCert, n.TLSKey, n.TLSCA = ours, key, ours
	}
	cfgs[2].Cluster.TLSCert, cfgs[2].Cluster.TLSKey = others, otherKey
	a, b := startServer(t, cfgs[0]), startServer(t, cfgs[1])
	onA, onB := facilitator(t, a.Addr(), ""), facilitator(t, b.Addr(), "")
	id := onA.post("/codelabs", record{"title": "over TLS"}).object().text("id")
	onB.put("/codelabs/"+id, record{"title": "over TLS, from the other"}).want(200)
	// The third node cannot start. According to the database, the other nodes are alive, but the
	// third node cannot reach them. Its short lease limits the wait.
	err := onceItCan(func() error {
		_, err := service.Start(cfgs[2], service.Options{Lease: 1500 * time.Millisecond}, slog.New(slog.NewTextHandler(&suiteLog, nil)))
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "is alive and does not answer this one") {
		t.Errorf("with a certificate of another authority, starting returned %v", err)
	}
}
