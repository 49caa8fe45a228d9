package acceptance

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/actors/durable/bustest"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/doctor"
	"atelier/persistence/postgres/postgrestest"
)

const deployFolder = "../deploy"

// program finds a program that some tests need. If it is missing, the test is skipped, or fails if
// NEED_PROGRAMS is set.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	if os.Getenv("NEED_PROGRAMS") != "" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// freeAddr returns an address on which nothing listens.
func freeAddr(t *testing.T) string { return bustest.Addresses(t, 1)[0] }

// edited returns a shipped file with some of its text replaced. The text to replace must exist.
func edited(t *testing.T, name string, replace ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(deployFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%s does not contain %q", name, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text
}

// The test runs a workshop through each proxy with the shipped configuration: logins, sockets,
// event streams, uploads, and the caller's address. It repeats this below a path, with the line
// from OPERATIONS.md.
func TestTheSamplesForProxiesWork(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the test runs a workshop through each proxy")
	operations := edited(t, "OPERATIONS.md")
	for name, sample := range map[string]struct {
		root, below string
		start       func(t *testing.T, front, back, cert, key string, more ...string) *exec.Cmd
	}{
		"nginx": {"location / {", "location /lab/ {", func(t *testing.T, front, back, cert, key string, more ...string) *exec.Cmd {
			return nginx(t, edited(t, "nginx.conf", append(more, "127.0.0.1:8080", back, "listen 443 ssl", "listen "+front+" ssl", "listen 80", "listen "+freeAddr(t),
				"/etc/ssl/atelier.pem", cert, "/etc/ssl/atelier.key", key)...))
		}},
		"caddy": {"reverse_proxy 127.0.0.1:8080 {", "reverse_proxy /lab/* 127.0.0.1:8080 {", func(t *testing.T, front, back, cert, key string, more ...string) *exec.Cmd {
			return caddy(t, edited(t, "Caddyfile", append(more, "127.0.0.1:8080", back, "workshop.example.org {", "https://"+front+" {\n\ttls "+cert+" "+key)...))
		}},
	} {
		for _, path := range []string{"", "/lab"} {
			t.Run(name+path, func(t *testing.T) {
				cert, key, roots := selfSigned(t, t.TempDir())
				front := freeAddr(t)
				cfg := testConfig(t)
				cfg.Server.PublicURL, cfg.Server.TrustedProxies = "https://"+front+path, []string{"127.0.0.1/32"}
				s := startServer(t, cfg)
				var more []string
				if path != "" {
					if !strings.Contains(operations, "`"+sample.below+"`") {
						t.Errorf("OPERATIONS does not contain %q", sample.below)
					}
					more = []string{sample.root, sample.below}
				}
				cmd := sample.start(t, front, s.Addr(), cert, key, more...)
				runProxy(t, cmd, front)
				throughProxy(t, front+path, roots)
			})
		}
	}
}

// nginx refuses people if its own limit of connections is too small. The doctor then reports the
// refusals and names nginx's setting. With the value of the sample, everybody is admitted.
func TestTheSamplesForProxiesAllowEnoughConnections(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the test opens 80 connections through nginx")
	sample, err := os.ReadFile("../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	setting := regexp.MustCompile(`events \{ (worker_connections [0-9]+;) \}`).FindSubmatch(sample)
	if setting == nil {
		t.Fatal("the sample does not set worker_connections")
	}
	cert, key, roots := selfSigned(t, t.TempDir())
	for events, want := range map[string]string{"worker_connections 100;": "worker_connections", string(setting[1]): ""} {
		front := freeAddr(t)
		cfg := testConfig(t)
		cfg.Server.PublicURL, cfg.Server.TrustedProxies = "https://"+front, []string{"127.0.0.1/32"}
		s := startServer(t, cfg)
		cmd := nginxWith(t, events, edited(t, "nginx.conf", "127.0.0.1:8080", s.Addr(), "listen 443 ssl", "listen "+front+" ssl", "listen 80", "listen "+freeAddr(t),
			"/etc/ssl/atelier.pem", cert, "/etc/ssl/atelier.key", key))
		runProxy(t, cmd, front)
		admin := openWith(t, "https://"+front, &tls.Config{RootCAs: roots})
		admin.login("")
		admin.post("/codelabs", record{"title": "behind a proxy"}).want(200)
		doctor := exec.Command(binary(t), "doctor", "--people", "80", "--json", "--url", "https://"+front)
		doctor.Dir = t.TempDir()
		doctor.Env = append(os.Environ(), "SSL_CERT_FILE="+cert, "ADMIN_PW="+adminPW, "ADMIN_ID="+adminID)
		out, err := doctor.Output()
		if err != nil && errors.As(err, new(*exec.Error)) {
			t.Fatal(err)
		}
		var found struct {
			Checks []struct{ Name, Text, Remedy string }
		}
		if err := json.Unmarshal(out, &found); err != nil {
			t.Fatalf("the output of the doctor: %v: %s", err, out)
		}
		i := slices.IndexFunc(found.Checks, func(c struct{ Name, Text, Remedy string }) bool { return c.Name == "room" })
		if i < 0 || want == "" && (found.Checks[i].Remedy != "" || !strings.Contains(found.Checks[i].Text, "80 connections")) ||
			!strings.Contains(found.Checks[i].Remedy, want) {
			t.Errorf("with %s, the doctor reports %+v", events, found.Checks)
		}
	}
}

// nginx returns the command that runs nginx with a site.
func nginx(t *testing.T, site string) *exec.Cmd { return nginxWith(t, "", site) }

// nginxWith returns the command that runs nginx with one worker, and with additional lines in its
// events block.
func nginxWith(t *testing.T, events, site string) *exec.Cmd {
	t.Helper()
	path, dir := program(t, "nginx"), t.TempDir()
	whole := fmt.Sprintf("daemon off; pid %[1]s/pid; error_log %[1]s/error.log;\nworker_processes 1;\nevents { %[2]s }\nhttp {\naccess_log off;\n", dir, events)
	for _, temp := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		whole += fmt.Sprintf("%s_temp_path %s/%s;\n", temp, dir, temp)
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(whole+site+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.Command(path, "-c", file, "-p", dir, "-e", dir+"/error.log")
}

// caddy returns the command that runs Caddy with a site.
func caddy(t *testing.T, site string) *exec.Cmd {
	t.Helper()
	path, dir := program(t, "caddy"), t.TempDir()
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte("{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+site), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
	return cmd
}

// runProxy runs a proxy until the test ends. It returns when the proxy listens.
func runProxy(t *testing.T, cmd *exec.Cmd, front string) {
	t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	// Workers can keep the output of a proxy open after the proxy has ended, so waiting is limited.
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// On SIGTERM, nginx also stops its workers. Caddy would then wait for open sockets, so it is
		// killed after a second.
		_ = cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the proxy printed:\n%s", output.String()[max(0, output.Len()-4000):])
		}
	})
	for deadline := time.Now().Add(testTimeout); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", front)
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the proxy does not listen:\n%s", output.String())
		}
	}
}

func throughProxy(t *testing.T, front string, roots *x509.CertPool) {
	fresh := func() *browser { return openWith(t, "https://"+front, &tls.Config{RootCAs: roots}) }
	admin := fresh()
	// The client claims an address. The server uses the address from the proxy, which either passes
	// on the claim or replaces it with the address of the connection.
	admin.from = "192.0.2.77"
	admin.login("")
	if got := loggedInFrom(t, admin); got != "192.0.2.77" && got != "127.0.0.1" {
		t.Errorf("the login was audited from %q, want 192.0.2.77 or 127.0.0.1", got)
	}
	admin.from = ""
	c := &class{t: t, addr: front, admin: admin}
	c.id = admin.post("/codelabs", record{"title": "behind a proxy"}).object().text("id")
	c.path = "/codelabs/" + c.id
	c.setSteps("one", "two")
	lin := c.join(fresh(), record{"name": "Lin"})
	live := lin.connect(c.id, "")
	events, status := admin.follow(c.id, "")
	if status != 200 {
		t.Fatalf("the event stream returned %d, want 200", status)
	}
	live.acked(record{"type": "chat", "message": "through the proxy"}, "a")
	if m := events.next("chat"); m.text("message") != "through the proxy" {
		t.Errorf("received %v, want the message from the other client", m)
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
	up := admin.sendFile("/upload/material", "large.bin", content).object().text("url")
	if got := admin.get(up).want(200); !bytes.Equal(got.body, content) {
		t.Errorf("%d of %d bytes came back", len(got.body), len(content))
	}
}

// The server has each metric that the alerts and the dashboard use, and Prometheus accepts the
// rules.
func TestAlertsAndDashboardUseExistingMetrics(t *testing.T) {
	t.Parallel()
	s := common.get(t)
	c := newClass(t)
	c.attendee("Lin").connect(c.id, "").acked(record{"type": "chat", "message": "hi"}, "a")
	_, metrics := internal(s.InternalAddr(), "/metrics")
	name := regexp.MustCompile(`\b(?:atelier|process)_[a-z_]+`)
	has := func(metrics, m string) bool {
		return strings.Contains(metrics, "\n"+m+" ") || strings.Contains(metrics, "\n"+m+"{")
	}
	// The metrics that need a cluster, a certificate or a backup, with a file that uses each of them.
	rest := map[string]string{}
	for _, file := range []string{"alerts.yml", "grafana-dashboard.json"} {
		found := name.FindAllString(edited(t, file), -1)
		if len(found) < 10 {
			t.Errorf("%s uses only %d metrics", file, len(found))
		}
		for _, m := range found {
			// Metrics with labels are missing until they have a first value.
			if rare := strings.HasPrefix(m, "atelier_handler_operation") || strings.HasPrefix(m, "atelier_tokens_quarantined"); !rare && !has(metrics, m) {
				rest[m] = file
			}
		}
	}
	// The sample refers to the rules, so promtool checks the sample and the rules.
	if out, err := exec.Command(program(t, "promtool"), "check", "config", filepath.Join(deployFolder, "prometheus.yml")).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("alerts.yml")) {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	cfg := nodeConfigs(t, 1, postgrestest.Database(t), testConfig(t))[0]
	cfg.Server.TLSCert, cfg.Server.TLSKey, _ = selfSigned(t, t.TempDir())
	if err := os.MkdirAll(cfg.Server.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := doctor.Note(cfg.Server.Data, doctor.Backup{At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	node := startServer(t, cfg)
	_, metrics = internal(node.InternalAddr(), "/metrics")
	for m, file := range rest {
		if !has(metrics, m) {
			t.Errorf("%s uses %s, which the server does not have", file, m)
		}
	}
}

// systemd must wait longer than a shutdown with the default configuration can take.
func TestTheUnitAllowsTheDefaultStopTime(t *testing.T) {
	t.Parallel()
	unit := edited(t, "atelier.service")
	stop, err := time.ParseDuration(regexp.MustCompile(`TimeoutStopSec=(\d+)`).FindStringSubmatch(unit)[1] + "s")
	if c := config.Default().Server; err != nil || stop <= c.ShutdownDelay.Std()+c.DrainTimeout.Std() {
		t.Errorf("systemd kills the server after %v, but the shutdown delay and draining can take %v", stop, c.ShutdownDelay.Std()+c.DrainTimeout.Std())
	}
}

// The test runs the commands of the sample unit in other folders.
func TestTheBackupUnitKeepsTheNewestBackups(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	dir, unit := t.TempDir(), edited(t, "atelier-backup.service")
	backups := filepath.Join(dir, "backups")
	if err := os.Mkdir(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(line string) {
		t.Helper()
		script := regexp.MustCompile("(?m)^" + line + `=/bin/sh -ec '(.*)'$`).FindStringSubmatch(unit)[1]
		script = strings.NewReplacer(
			"%%", "%", `\\`, `\`, "--config /etc/atelier/config.toml", "", "/usr/local/bin/atelier", binary(t), "/var/lib/atelier", filepath.Join(dir, "data"),
			"/etc/atelier/passphrase", filepath.Join(dir, "passphrase"), "/var/backups/atelier", backups,
		).Replace(script)
		cmd := exec.Command("/bin/sh", "-ec", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("the script %s: %v: %s", script, err, out)
		}
	}
	err := errors.Join(os.WriteFile(filepath.Join(dir, "passphrase"), []byte("correct-horse-battery\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "lab.md"), []byte("id: lab\n\n# Lab\n\n## One\ntext\n"), 0o600),
		os.WriteFile(filepath.Join(backups, "kept by hand"), nil, 0o600))
	for i := range 20 {
		err = errors.Join(err, os.WriteFile(filepath.Join(backups, fmt.Sprintf("202601%02dT033000Z.atelier", i+1)), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(binary(t), "import", "--data", filepath.Join(dir, "data"), filepath.Join(dir, "lab.md")).CombinedOutput(); err != nil {
		t.Fatalf("the import: %v: %s", err, out)
	}
	run("ExecStart")
	run("ExecStartPost")
	left, err := filepath.Glob(filepath.Join(backups, "*"))
	if err != nil || len(left) != 15 || filepath.Base(left[0]) != "20260108T033000Z.atelier" || filepath.Base(left[14]) != "kept by hand" {
		t.Errorf("the remaining backups are %q: %v", left, err)
	}
	if info, err := os.Stat(left[13]); err != nil || info.Size() == 0 {
		t.Errorf("the new backup: %v", err)
	}
}

// The test includes a health check with the same binary.
func TestSystemdIsNotifiedOfReadiness(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, dir := binary(t), t.TempDir()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	inside := freeAddr(t)
	health := func() error { return exec.Command(path, "health", "--internal-listen", inside).Run() }
	if health() == nil {
		t.Error("health succeeded before the start")
	}
	cmd := exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--internal-listen", inside, "--data", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "ADMIN_PW="+adminPW, "NOTIFY_SOCKET="+filepath.Join(dir, "notify"), "ATELIER_STORAGE_MIN_FREE_MIB=64")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	expect := func(want string) {
		t.Helper()
		var b [100]byte
		_ = socket.SetReadDeadline(time.Now().Add(testTimeout))
		if n, err := socket.Read(b[:]); err != nil || string(b[:n]) != want {
			t.Fatalf("systemd received %q, %v", b[:n], err)
		}
	}
	expect("READY=1")
	if err := health(); err != nil {
		t.Errorf("ready, but not healthy: %v", err)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	expect("STOPPING=1")
}
