package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// elsewhere are the commands of TOMORROW.md that a test cannot run, by their first word, with the
// reason.
var elsewhere = map[string]string{
	"apt-get":    "it changes the packages of the machine; install unpacks the server's package instead",
	"chown":      "one user owns all files of the test",
	"systemctl":  "there is no systemd; unit runs the programs of its units instead",
	"journalctl": "there is no journal",
}

// readinessWithin is the maximum time until the page's server is ready.
const readinessWithin = time.Minute

// evening is the simulated machine on which the test follows the page. A folder represents the root
// of its disk.
type evening struct {
	t             *testing.T
	root, checked string // the disk, and the folder with the package
	addr, inside  string
	server        *exec.Cmd
}

// there replaces the paths and addresses in a text of the page or of a unit with those of the
// simulated machine.
func (e *evening) there(text string) string {
	text = regexp.MustCompile(` -[og] (root|atelier)\b`).ReplaceAllString(text, "")
	return strings.NewReplacer(
		"https://workshop.example.org", "http://"+e.addr, "http://127.0.0.1:9090", "http://"+e.inside,
		"runuser -u atelier -- ", "", "/var/log /var/cache ", "", "%%", "%",
		"/etc/", e.root+"/etc/", "/var/", e.root+"/var/", "new/usr/bin/", "new/usr/bin/", "/usr/bin/", e.root+"/usr/bin/", "/usr/share/", e.root+"/usr/share/",
		// The test uses fewer people and a shorter time, because it does not measure the load of
		// the test machine.
		"--attendees 300 --join 1m --duration 2m", "--attendees 20 --join 1s --duration 1s --allow-lag",
	).Replace(text)
}

// command runs commands of the page with a shell, in the folder of the package.
func (e *evening) command(script string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = e.checked
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ADMIN_PW=") })
	cmd.Env = append(cmd.Env, "PATH="+e.root+"/usr/bin:"+os.Getenv("PATH"),
		"ATELIER_SERVER_LISTEN="+e.addr, "ATELIER_SERVER_INTERNAL_LISTEN="+e.inside, "ATELIER_STORAGE_MIN_FREE_MIB=64", "ATELIER_STORAGE_MEMTABLE_MIB=16")
	return cmd
}

// run runs commands of the page and returns their output.
func (e *evening) run(script string) string {
	e.t.Helper()
	out, err := e.command(script).CombinedOutput()
	// The doctor can report problems of the test machine.
	if err != nil && !strings.Contains(script, "atelier doctor") {
		e.t.Fatalf("the command failed: %s\n%v: %s", script, err, out)
	}
	return string(out)
}

// unit does what a systemctl command of the page would do.
func (e *evening) unit(line string) {
	e.t.Helper()
	switch strings.TrimPrefix(line, "systemctl ") {
	case "reload caddy", "restart caddy", "enable --now atelier-backup.timer":
	case "start atelier":
		e.start()
	case "stop atelier":
		e.stop()
	case "restart atelier":
		e.stop()
		e.start()
	case "start atelier-backup":
		e.run(e.execStart("atelier-backup.service"))
	default:
		e.t.Fatalf("this test does not support the command %q", line)
	}
}

// install does what apt-get does with the local package: it unpacks the package, keeps the
// existing configuration, and starts the new program.
func (e *evening) install(line string) {
	e.t.Helper()
	name := regexp.MustCompile(`\./atelier_.*$`).FindString(line)
	if name == "" {
		return // the command does not install the server's package
	}
	e.stop()
	config := filepath.Join(e.root, "etc/atelier/config.toml")
	before, missing := os.ReadFile(config)
	e.run("dpkg-deb --extract " + name + " " + e.root)
	after, err := os.ReadFile(config)
	if missing == nil {
		after = before
	} else {
		after = []byte(e.there(string(after)))
	}
	if err = errors.Join(err, os.WriteFile(config, after, 0o600)); err != nil {
		e.t.Fatal(err)
	}
	e.start()
}

// execStart returns the command of an installed unit, with its environment.
func (e *evening) execStart(name string) string {
	e.t.Helper()
	b, err := os.ReadFile(filepath.Join(e.root, "usr/lib/systemd/system", name))
	if err != nil {
		e.t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindSubmatch(b)
	if m == nil {
		e.t.Fatalf("%s contains no command to start", name)
	}
	return e.there("set -a; [ ! -e /etc/atelier/env ] || . /etc/atelier/env; " + string(m[1]))
}

func (e *evening) start() {
	e.t.Helper()
	script := e.execStart("atelier.service")
	at := strings.LastIndex(script, "; ") + 2
	e.server = e.command(script[:at] + "exec " + script[at:])
	var output bytes.Buffer
	e.server.Stderr = &output
	if err := e.server.Start(); err != nil {
		e.t.Fatal(err)
	}
	for end := time.Now().Add(readinessWithin); ; time.Sleep(10 * time.Millisecond) {
		res, err := http.Get("http://" + e.inside + "/readyz")
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			e.stop()
			e.t.Fatalf("the server is not ready:\n%s", output.String())
		}
	}
}

func (e *evening) stop() {
	if e.server == nil {
		return
	}
	_ = e.server.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(readinessWithin, func() { _ = e.server.Process.Kill() })
	defer late.Stop()
	if err := e.server.Wait(); err != nil {
		e.t.Errorf("the server exited with %v", err)
	}
	e.server = nil
}

// The test runs the commands of TOMORROW.md on a machine that is simulated by a folder. The
// installed server responds, passes the rehearsal, and is restored from its backup.
func TestTheEveningBeforeCanBeFollowed(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the test runs the commands of TOMORROW.md")
	program(t, "dpkg-deb")
	if testing.Short() {
		t.Skip("builds the binaries")
	}
	page, err := os.ReadFile(filepath.Join(deployFolder, "TOMORROW.md"))
	if err != nil {
		t.Fatal(err)
	}
	e := &evening{t: t, root: t.TempDir(), checked: t.TempDir(), addr: freeAddr(t), inside: freeAddr(t)}
	e.prepare()
	t.Cleanup(e.stop)

	used := map[string]bool{}
	ran, output := 0, ""
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllSubmatch(page, -1) {
		script := ""
		flush := func() {
			if strings.TrimSpace(script) != "" {
				ran++
				output += e.run(e.there(script))
			}
			script = ""
		}
		for line := range strings.Lines(string(block[1])) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if elsewhere[word] == "" {
				script += line
				continue
			}
			flush()
			used[word] = true
			switch word {
			case "systemctl":
				e.unit(strings.TrimSpace(line))
			case "apt-get":
				e.install(strings.TrimSpace(line))
			}
		}
		flush()
	}
	if ran < 10 {
		t.Errorf("only %d parts of the page were run", ran)
	}
	for word := range maps.Keys(elsewhere) {
		if !used[word] {
			t.Errorf("the page does not contain %s", word)
		}
	}

	for _, want := range []string{"ok    backup", "ok    address", "ok    login", "a socket opens, and messages arrive", "PASS", `"ready":true`, "the previous program opens the same data", "The secrets are restored", ".atelier"} {
		if !strings.Contains(output, want) {
			t.Errorf("no output contains %q", want)
		}
	}
	if t.Failed() {
		t.Log(output)
	}
	if b, err := os.ReadFile(filepath.Join(e.root, "etc/caddy/Caddyfile")); err != nil || !bytes.Contains(b, []byte("\nworkshop.example.org {")) {
		t.Errorf("Caddy's file lacks the host: %v\n%s", err, b)
	}
	e.restored()
}

// prepare creates the disk, and a folder with a package of this tree.
func (e *evening) prepare() {
	e.t.Helper()
	for _, dir := range []string{"etc/caddy", "var/lib", "var/backups/atelier"} {
		if err := os.MkdirAll(filepath.Join(e.root, dir), 0o755); err != nil {
			e.t.Fatal(err)
		}
	}
	making := exec.Command("go", "run", ".", "-version", "1.2.3", "-platforms", "linux/"+runtime.GOARCH, "-only", "package", "-into", e.checked)
	making.Dir = "../../../.release"
	if out, err := making.CombinedOutput(); err != nil {
		e.t.Fatalf("building the programs: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(e.checked, "codelab.md"), []byte("id: tomorrow\n\n# Tomorrow's codelab\n\n## One\n\nText.\n"), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// restored verifies the restored server: it has the data and the password of the backup, and
// nothing later.
func (e *evening) restored() {
	e.t.Helper()
	env, err := os.ReadFile(filepath.Join(e.root, "etc/atelier/env"))
	if err != nil {
		e.t.Fatal(err)
	}
	password, ok := strings.CutPrefix(strings.TrimSpace(string(env)), "ADMIN_PW=")
	if !ok || len(password) < 20 {
		e.t.Fatalf("the password has %d characters", len(password))
	}
	owner := open(e.t, e.addr)
	if got := owner.post("/login", record{"admin_id": "admin", "admin_pw": password}).status; got != 200 {
		e.t.Fatalf("the owner's login returned %d", got)
	}
	if titles := texts(owner.get("/codelabs").list(), "title"); !slices.Equal(titles, []string{"Tomorrow's codelab"}) {
		e.t.Errorf("the codelabs are %q", titles)
	}
	if info, err := os.Stat(filepath.Join(e.root, "etc/atelier/env")); err != nil || info.Mode().Perm() != 0o600 {
		e.t.Error(fmt.Sprint("others can read the password: ", info.Mode(), err))
	}
}
