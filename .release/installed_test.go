package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// stepTimeout is the timeout of every step. It is long, because a busy machine is slow.
const stepTimeout = 1 * time.Minute

// needRoot skips a test that simulates a machine in a folder, except in a long run as root on
// Linux.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getenv("LONG_TESTS") == "" {
		t.Skip("only in long runs, because the test simulates a machine in a folder")
	}
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		missing(t, "root on Linux")
	}
}

// freeAddr returns an address of this machine at which no program listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// mountProc mounts /proc in a folder that is the root of a simulated container or machine.
func mountProc(t *testing.T, root string) {
	t.Helper()
	at := filepath.Join(root, "proc")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("proc", at, "proc", 0, ""); err != nil {
		missing(t, "the right to mount /proc")
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", at, err)
		}
	})
}

// The test unpacks an archive, and runs the commands of its README.md in the folder.
func TestTheArchiveServesByItsReadme(t *testing.T) {
	dir := t.TempDir()
	execute(t, dir, "tar", "-xzf", one(t, fmt.Sprintf("atelier-[0-9]*-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)), "--strip-components=1")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(read(t, filepath.Join(dir, "README.md")), -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of commands, want 2: one that starts the server, and one to run beside the server", len(blocks))
	}
	addr, inside := freeAddr(t), freeAddr(t)
	shell := func(script []byte) *exec.Cmd {
		cmd := exec.Command("sh", "-ec", string(script))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ATELIER_SERVER_LISTEN="+addr, "ATELIER_SERVER_INTERNAL_LISTEN="+inside, "ATELIER_STORAGE_MIN_FREE_MIB=64")
		return cmd
	}
	var said bytes.Buffer
	server := shell(append([]byte("exec "), blocks[0][1]...))
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("the server exited with %v\n%s", err, said.Bytes())
		}
	})
	waitReady(t, inside)
	out, err := shell(blocks[1][1]).CombinedOutput()
	if err != nil {
		t.Fatalf("the commands beside the server failed: %v\n%s", err, out)
	}
	password, _, _ := strings.Cut(string(out), "\n")
	signIn(t, addr, password).has("A walk through the command line")
	if _, err := os.Stat(filepath.Join(dir, "data/store")); err != nil {
		t.Error(err)
	}
}

// waitReady waits until the server reports on its internal listener that it is ready.
func waitReady(t *testing.T, inside string) {
	t.Helper()
	for end := time.Now().Add(stepTimeout); ; time.Sleep(10 * time.Millisecond) {
		res, err := http.Get("http://" + inside + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the server is not ready: %v", err)
		}
	}
}

// owner is a browser in which the owner of a server has signed in.
type owner struct {
	t    *testing.T
	base string
	http http.Client
}

func signIn(t *testing.T, addr, password string) *owner {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &owner{t: t, base: "http://" + addr, http: http.Client{Jar: jar, Timeout: stepTimeout}}
	o.ask("POST", "/api/login", fmt.Sprintf(`{"admin_id":"admin","admin_pw":%q}`, password))
	return o
}

// ask sends a request, which must get 200, and returns the body of the response.
func (o *owner) ask(method, path, body string) string {
	o.t.Helper()
	req, err := http.NewRequest(method, o.base+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, c := range o.http.Jar.Cookies(req.URL) {
		if c.Name == "svc_csrf" {
			req.Header.Set("X-CSRF-Token", c.Value)
		}
	}
	res, err := o.http.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		o.t.Fatalf("%s %s: status %d, %s, %v", method, path, res.StatusCode, answer, err)
	}
	return string(answer)
}

// question checks that a server has the app, reports its health, and can create a codelab.
func (o *owner) question(title string) {
	o.t.Helper()
	if page := o.ask("GET", "/", ""); !strings.Contains(page, "<script") {
		o.t.Errorf("the page does not contain the app: %.300s", page)
	}
	if health := o.ask("GET", "/api/admin/health", ""); !strings.Contains(health, `"ok"`) {
		o.t.Errorf("the health is %.300s", health)
	}
	made := o.ask("POST", "/api/codelabs", fmt.Sprintf(`{"title":%q}`, title))
	var codelab struct{ ID string }
	if err := json.Unmarshal([]byte(made), &codelab); err != nil || codelab.ID == "" {
		o.t.Fatalf("creating a codelab returned %s, %v", made, err)
	}
	o.has(title)
}

// has checks that the list contains a codelab with this title.
func (o *owner) has(title string) {
	o.t.Helper()
	if list := o.ask("GET", "/api/codelabs", ""); !strings.Contains(list, title) {
		o.t.Errorf("%q is not in the list: %.300s", title, list)
	}
}

// standIn replaces systemctl for units whose program keeps running, and for units of the type
// oneshot. It logs its commands.
const standIn = `#!/bin/sh
verb= unit=
for word; do
	case $word in
	-*) ;;
	*) if [ -z "$verb" ]; then verb=$word; else unit=$word; fi ;;
	esac
done
case $unit in
''|*.*) ;;
*) unit=$unit.service ;;
esac
echo "$verb $unit" >> /var/log/systemctl
file=/usr/lib/systemd/system/$unit pid=/run/$unit.pid
value() { sed -n "s/^$1=//p" "$file" | head -n 1; }
alive() { [ -e "$pid" ] && kill -0 "$(cat "$pid")" 2>/dev/null; }
stop() {
	alive || return 0
	kill "$(cat "$pid")"
	while alive; do sleep 0.02; done
	rm "$pid"
}
start() {
	alive && return 0
	user=$(value User) state=$(value StateDirectory)
	[ -z "$state" ] || install -d -m "$(value StateDirectoryMode)" -o "$user" -g "$user" "/var/lib/$state"
	(
		set -a
		. /etc/ports
		file=$(value EnvironmentFile)
		file=${file#-}
		[ ! -e "$file" ] || . "$file"
		file=/usr/lib/systemd/system/$unit
		umask "$(value UMask)"
		as="setpriv --reuid $user --regid $user --init-groups --no-new-privs --inh-caps=-all --"
		[ "$(value Type)" != oneshot ] || eval "exec $as $(value ExecStart | sed 's/%%/%/g')"
		exec setsid $as $(value ExecStart)
	) </dev/null >>/var/log/atelier 2>&1 &
	[ "$(value Type)" != oneshot ] || { wait $!; return; }
	echo $! > "$pid"
}
case $verb in
start) start ;;
stop) stop ;;
restart) stop; start ;;
is-active) alive ;;
preset)
	wants=/etc/systemd/system/$(value WantedBy).wants
	mkdir -p "$wants"
	ln -sf "$file" "$wants/$unit"
	;;
is-enabled)
	[ -e "/etc/systemd/system/multi-user.target.wants/$unit" ] || { echo disabled; exit 1; }
	echo enabled
	;;
esac
`

// machine is a minimal Debian installation in a folder.
type machine struct {
	t            *testing.T
	root         string
	addr, inside string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	needRoot(t)
	if _, err := exec.LookPath("debootstrap"); err != nil {
		missing(t, "debootstrap")
	}
	m := &machine{t: t, root: filepath.Join(t.TempDir(), "root"), addr: freeAddr(t), inside: freeAddr(t)}
	mirror := cmp.Or(os.Getenv("DEBIAN_MIRROR"), "http://deb.debian.org/debian")
	out, err := exec.Command("debootstrap", "--variant=minbase", cmp.Or(os.Getenv("DEBIAN_SUITE"), "bookworm"), m.root, mirror).CombinedOutput()
	// debootstrap leaves /proc mounted when it fails.
	t.Cleanup(func() { _ = syscall.Unmount(filepath.Join(m.root, "proc"), syscall.MNT_DETACH) })
	if err != nil {
		t.Logf("%.4000s", out)
		missing(t, "a mirror of Debian from which a machine can be made")
	}
	mountProc(t, m.root)
	m.write("usr/bin/systemctl", standIn, 0o755)
	m.write("etc/ports", fmt.Sprintf("ATELIER_SERVER_LISTEN=%s\nATELIER_SERVER_INTERNAL_LISTEN=%s\nATELIER_STORAGE_MIN_FREE_MIB=64\n", m.addr, m.inside), 0o644)
	if err := os.MkdirAll(filepath.Join(m.root, "run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = m.try("systemctl stop atelier.service")
		if said, _ := m.try("cat /var/log/systemctl /var/log/atelier"); t.Failed() {
			t.Log(said)
		}
	})
	return m
}

func (m *machine) write(path, text string, mode os.FileMode) {
	m.t.Helper()
	path = filepath.Join(m.root, path)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// run runs a script on the machine as root, and returns the output.
func (m *machine) run(script string) string {
	m.t.Helper()
	out, err := m.try(script)
	if err != nil {
		m.t.Fatalf("%s\n%v: %s", script, err, out)
	}
	return out
}

func (m *machine) try(script string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), stepTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, "chroot", m.root, "/bin/sh", "-ec", script)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "HOME=/root", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// want runs a script, and checks its output.
func (m *machine) want(script, want string) {
	m.t.Helper()
	if got := strings.TrimSpace(m.run(script)); got != want {
		m.t.Errorf("%s printed %q, want %q", script, got, want)
	}
}

// The test installs the package on a machine that has neither Go nor Node. The server must respond.
// Then the package is installed again, removed and purged.
func TestThePackageServesOnAMinimalMachine(t *testing.T) {
	m := newMachine(t)
	deb := one(t, "atelier_*_"+runtime.GOARCH+".deb")
	execute(t, ".", "cp", deb, filepath.Join(m.root, "root/atelier.deb"))
	const install = "apt-get install -y --no-install-recommends --reinstall /root/atelier.deb"
	m.run(install)
	waitReady(t, m.inside)

	m.want("stat -c '%U %a' /var/lib/atelier /var/backups/atelier", "atelier 700\natelier 700")
	m.want("stat -c '%U %G %a' /etc/atelier /etc/atelier/config.toml", "root atelier 750\nroot atelier 640")
	m.want("stat -c %U /proc/$(cat /run/atelier.service.pid)", "atelier")
	m.want("dpkg-query -W -f '${Conffiles}' atelier | cut -d ' ' -f 2", "/etc/atelier/config.toml")
	m.run("atelier checkconfig --config /etc/atelier/config.toml")
	password := strings.TrimSpace(m.run("runuser -u atelier -- atelier password --config /etc/atelier/config.toml --reveal"))
	signIn(t, m.addr, password).question("made on a bare machine")
	// People join. The delays of the test machine are irrelevant, so lag is allowed.
	said := m.run(fmt.Sprintf("ADMIN_PW='%s' atelier-bench workshop --url http://%s --attendees 60 --join 1s --duration 1s --allow-lag", password, m.addr))
	if !strings.Contains(said, "PASS") {
		t.Errorf("the workshop with 60 people did not pass: %s", said)
	}

	// When the package is installed again, the changed configuration file stays, and the new
	// program runs.
	m.run("echo '# changed here' >> /etc/atelier/config.toml; chmod 600 /etc/atelier/config.toml; chown atelier /etc/atelier/config.toml")
	before := m.run("cat /run/atelier.service.pid")
	m.run(install)
	waitReady(t, m.inside)
	if after := m.run("cat /run/atelier.service.pid"); after == before {
		t.Error("the previous program still runs")
	}
	m.run("grep -q 'changed here' /etc/atelier/config.toml")
	m.want("stat -c '%U %a' /etc/atelier/config.toml", "atelier 600")
	signIn(t, m.addr, password).has("made on a bare machine")

	m.newerAndBack(password)

	m.run("apt-get remove -y atelier")
	m.want("systemctl is-active atelier.service || echo stopped; command -v atelier || echo gone", "stopped\ngone")
	m.run("test -d /var/lib/atelier/store && test -e /etc/atelier/config.toml")

	m.run(install)
	waitReady(t, m.inside)
	signIn(t, m.addr, password).has("made on a bare machine")

	if said := m.run("apt-get purge -y atelier"); !strings.Contains(said, "still in /var/lib/atelier") {
		t.Errorf("the purge does not report that the data stays: %s", said)
	}
	m.run("test -d /var/lib/atelier/store && ! test -e /etc/atelier/config.toml && getent passwd atelier")
	m.want("find /etc/systemd /var/lib/systemd -name '*atelier*'", "")
}

// newerAndBack installs the package of a later version, as TOMORROW.md describes ("A new version"),
// and uses it. Then it installs the earlier version again, which must have everything that the
// later version wrote.
func (m *machine) newerAndBack(password string) {
	t := m.t
	t.Helper()
	const next = "99.0.0"
	made := t.TempDir()
	execute(t, ".", "go", "run", ".", "-version", next, "-platforms", "linux/"+runtime.GOARCH, "-only", "package", "-into", made)
	deb := filepath.Join(made, "atelier_"+next+"_"+runtime.GOARCH+".deb")
	m.run("mkdir /root/next")
	execute(t, ".", "cp", deb, filepath.Join(m.root, "root/next"))
	before := m.run("atelier version")

	m.run("(umask 077; head -c 18 /dev/urandom | base64 > /etc/atelier/passphrase); chown atelier /etc/atelier/passphrase; systemctl start atelier-backup")
	said := m.run("cd /root/next; dpkg-deb --extract ./atelier_*_$(dpkg --print-architecture).deb new; new/usr/bin/atelier upgrade --check --config /etc/atelier/config.toml")
	if !strings.Contains(said, "the previous program opens the same data") {
		t.Errorf("the check of the upgrade does not report that the previous program opens the same data: %s", said)
	}
	m.run("cd /root/next; apt-get install -y ./atelier_*_$(dpkg --print-architecture).deb")
	waitReady(t, m.inside)
	if now := m.run("atelier version"); !strings.Contains(now, next) {
		t.Errorf("after the update, the version is %q", now)
	}
	signIn(t, m.addr, password).question("made with a newer version")

	if out, err := m.try("apt-get install -y /root/atelier.deb"); err == nil {
		t.Errorf("an earlier version was installed without --allow-downgrades: %s", out)
	}
	m.run("apt-get install -y --allow-downgrades /root/atelier.deb")
	waitReady(t, m.inside)
	m.want("atelier version", strings.TrimSpace(before))
	o := signIn(t, m.addr, password)
	o.has("made on a bare machine")
	o.has("made with a newer version")
	m.run("grep -q 'changed here' /etc/atelier/config.toml")
}

// loaded is the image in an archive for "docker load".
type loaded struct {
	config v1.ConfigFile
	layers [][]byte
}

func load(t *testing.T, path string) *loaded {
	t.Helper()
	content := map[string][]byte{}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for h, text := range entriesOf(t, f) {
		content[h.Name] = text
	}
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(content["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		t.Fatalf("%s: %v", content["manifest.json"], err)
	}
	if tags := manifest[0].RepoTags; len(tags) != 2 || tags[1] != "atelier:latest" {
		t.Errorf("the tags of the image are %q", tags)
	}
	im := &loaded{}
	if err := json.Unmarshal(content[manifest[0].Config], &im.config); err != nil {
		t.Fatal(err)
	}
	for _, name := range manifest[0].Layers {
		im.layers = append(im.layers, content[name])
	}
	return im
}

// unpack creates the root folder of a container from the layers of the image.
func (im *loaded) unpack(t *testing.T, root string) {
	t.Helper()
	for _, layer := range im.layers {
		for h, content := range entriesOf(t, unzipped(t, layer)) {
			path := filepath.Join(root, h.Name)
			var err error
			if h.Typeflag == tar.TypeDir {
				err = os.Mkdir(path, 0o700)
			} else {
				err = os.WriteFile(path, content, 0o600)
			}
			err = errors.Join(err, os.Lchown(path, h.Uid, h.Gid), os.Chmod(path, h.FileInfo().Mode().Perm()|h.FileInfo().Mode()&os.ModeSticky))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// start starts a command in the root folder, with the user and the environment from the
// configuration of the image.
func (im *loaded) start(t *testing.T, root string, args []string, env ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	user, group, _ := strings.Cut(im.config.Config.User, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	gid, err2 := strconv.ParseUint(group, 10, 32)
	if err != nil || err2 != nil || uid == 0 {
		t.Fatalf("the user of the image is %q", im.config.Config.User)
	}
	var said bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", append(append([]string{}, im.config.Config.Env...), env...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &said
}

// The server runs in a root folder that contains only the files of the image.
func TestTheImageServes(t *testing.T) {
	needRoot(t)
	im := load(t, one(t, "*-image-linux-"+runtime.GOARCH+".tar"))
	root := t.TempDir()
	// The server runs as another user, who must be allowed to enter the root folder and its
	// parents.
	for dir := root; len(dir) > 1; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	im.unpack(t, root)
	mountProc(t, root)
	addr, inside := freeAddr(t), freeAddr(t)
	where := []string{"ATELIER_SERVER_LISTEN=" + addr, "ATELIER_SERVER_INTERNAL_LISTEN=" + inside, "ATELIER_STORAGE_MIN_FREE_MIB=64", "ADMIN_PW=as the image was started"}
	server, said := im.start(t, root, append(append([]string{}, im.config.Config.Entrypoint...), im.config.Config.Cmd...), where...)
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = server.Process.Signal(syscall.SIGTERM)
			if err := server.Wait(); err != nil {
				t.Errorf("the server exited with %v\n%s", err, said)
			}
		}
	}
	t.Cleanup(end)
	waitReady(t, inside)
	signIn(t, addr, "as the image was started").question("made in a container")

	test := im.config.Config.Healthcheck.Test
	if len(test) < 2 || test[0] != "CMD" {
		t.Fatalf("the health check of the image is %q", test)
	}
	health := func() error {
		cmd, _ := im.start(t, root, test[1:], where...)
		return cmd.Wait()
	}
	if err := health(); err != nil {
		t.Errorf("the health check of a ready server failed: %v", err)
	}
	end()
	if err := health(); err == nil {
		t.Error("the health check succeeded although no server runs")
	}
	volume := filepath.Join(root, "data")
	if info, err := os.Stat(filepath.Join(volume, "store")); err != nil || !info.IsDir() {
		t.Errorf("the volume does not contain the data: %v", err)
	}
}

// The test checks the image of each processor: its configuration, the program, the bill of
// materials and the certificates.
func TestTheImagesHaveTheRightContent(t *testing.T) {
	for machine, wanted := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		im := load(t, one(t, "*-image-linux-"+machine+".tar"))
		c := im.config.Config
		if im.config.Architecture != machine || im.config.OS != "linux" || c.User != "65532:65532" || c.StopSignal != "SIGTERM" {
			t.Errorf("the image %s is for %s/%s, with the user %q and the stop signal %q", machine, im.config.OS, im.config.Architecture, c.User, c.StopSignal)
		}
		if _, ok := c.Volumes["/data"]; !ok || c.Labels["org.opencontainers.image.version"] == "" {
			t.Errorf("the volumes of the image are %v, its labels %v", c.Volumes, c.Labels)
		}
		files := map[string]*tar.Header{}
		content := map[string][]byte{}
		for _, layer := range im.layers {
			for h, text := range entriesOf(t, unzipped(t, layer)) {
				files[h.Name], content[h.Name] = h, text
			}
		}
		program, err := elf.NewFile(bytes.NewReader(content["usr/local/bin/atelier"]))
		if err != nil {
			t.Fatal(err)
		}
		if libs, err := program.ImportedLibraries(); err != nil || len(libs) > 0 || program.Machine != wanted {
			t.Errorf("the program is for %s, and needs the libraries %q: %v", program.Machine, libs, err)
		}
		bill := read(t, one(t, "*-image-linux-"+machine+".cdx.json"))
		for _, name := range []string{"pkg:golang/golang.org/x/crypto/x509roots/fallback@", "pkg:golang/github.com/valyala/fasthttp@", "pkg:npm/svelte@"} {
			if !bytes.Contains(bill, []byte(name)) {
				t.Errorf("the bill of materials of the image for %s does not contain %s", machine, name)
			}
		}
		if n := bytes.Count(content["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")); n < 100 {
			t.Errorf("the image contains %d root certificates, want at least 100", n)
		}
		for name, mode := range map[string]int64{"data/": 0o700, "shared/": 0o700, "tmp/": 0o1777} {
			if h := files[name]; h == nil || h.Mode != mode || name != "tmp/" && h.Uid != person {
				t.Errorf("the folder %s is %+v", name, h)
			}
		}
	}
}

// An image that is built with the Dockerfile must have the same configuration as the image of a
// release.
func TestTheDockerfileHasTheConfigurationOfTheImage(t *testing.T) {
	text := string(read(t, filepath.Join(repository, "cmd/atelier/deploy/Dockerfile")))
	c := (&release{}).imageConfig(runtime.GOARCH).Config
	quoted := func(words []string) string {
		b, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), `","`, `", "`)
	}
	wanted := []string{"ENTRYPOINT " + quoted(c.Entrypoint), "CMD " + quoted(c.Cmd), "STOPSIGNAL " + c.StopSignal,
		"CMD " + quoted(c.Healthcheck.Test[1:]), "--interval=" + seconds(c.Healthcheck.Interval), "--timeout=" + seconds(c.Healthcheck.Timeout),
		"--start-period=" + seconds(c.Healthcheck.StartPeriod), fmt.Sprint("--chown=", person, ":", person)}
	for volume := range c.Volumes {
		wanted = append(wanted, "VOLUME "+volume)
	}
	for port := range c.ExposedPorts {
		wanted = append(wanted, "EXPOSE "+strings.TrimSuffix(port, "/tcp"))
	}
	for _, variable := range c.Env {
		if strings.HasPrefix(variable, "ATELIER_") {
			wanted = append(wanted, variable)
		}
	}
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile does not contain %s", want)
		}
	}
}

func seconds(d time.Duration) string { return fmt.Sprint(d.Seconds(), "s") }

// The test reads the OCI layout with skopeo.
func TestTheLayoutHasBothProcessors(t *testing.T) {
	path := one(t, "*-image.tar")
	if _, err := exec.LookPath("skopeo"); err != nil {
		missing(t, "skopeo")
	}
	for _, machine := range []string{"amd64", "arm64"} {
		var c v1.ConfigFile
		said := execute(t, ".", "skopeo", "--override-os", "linux", "--override-arch", machine, "inspect", "--config", "--raw", "oci-archive:"+path)
		if err := json.Unmarshal([]byte(said), &c); err != nil {
			t.Fatal(err)
		}
		same := load(t, one(t, "*-image-linux-"+machine+".tar")).config
		if c.Architecture != machine || c.Config.Healthcheck == nil || fmt.Sprint(c.RootFS) != fmt.Sprint(same.RootFS) {
			t.Errorf("for %s, the layout contains %s", machine, said)
		}
	}
	// The whole layout can be copied to a registry. In this test, a folder replaces the registry.
	to := filepath.Join(t.TempDir(), "registry")
	execute(t, ".", "skopeo", "copy", "--quiet", "--all", "--insecure-policy", "oci-archive:"+path, "dir:"+to)
}
