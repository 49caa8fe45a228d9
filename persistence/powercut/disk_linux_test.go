package powercut

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mount mounts a disk for the duration of the test.
func mount(t *testing.T) (*Disk, string) {
	t.Helper()
	at := t.TempDir()
	d, err := Mount(at)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return d, at
}

// If everything was synced, the trace rebuilds the contents of the disk.
func TestTheTraceRecordsTheCallsOfAnotherProcess(t *testing.T) {
	d, at := mount(t)
	script := `set -e
cd "$1"
mkdir a
printf hello > a/b
ln a/b a/c
mv a/c d
truncate -s 5000 d
chmod 600 a/b
fallocate -n -l 9000 d
fallocate -l 9000 d
dd if=/dev/zero of=e bs=300000 count=1 status=none
rm e
sync a/b a .
rmdir a 2>/dev/null || true
test "$(ls)" = "a
d"
`
	if out, err := exec.Command("sh", "-c", script, "sh", at).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace := d.Trace()
	seen := map[Kind]bool{}
	for _, op := range trace {
		seen[op.Kind] = true
	}
	for _, k := range Kinds() {
		if !seen[k] && k != Rmdir {
			t.Errorf("no %s was recorded", k)
		}
	}
	to := filepath.Join(t.TempDir(), "rebuilt")
	if err := trace.Rebuild(Cut{Point: len(trace), Seed: 1}).Make(to); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(to, "a/b"))
	if err != nil || !strings.HasPrefix(string(b), "hello\x00") || len(b) != 9000 {
		t.Errorf("the rebuilt file has %d bytes, %v", len(b), err)
	}
}

// Faults affect exactly the selected calls, and leave only failed syncs in the trace.
func TestSelectedCallsFail(t *testing.T) {
	d, at := mount(t)
	for name, c := range map[string]struct {
		kind   Kind
		fault  Fault
		script string // must fail with the text, or succeed if it is empty
		text   string
		ops    string // that are recorded meanwhile
	}{
		"create":     {Create, Fault{Err: syscall.ENOSPC}, "echo x > new", "No space", ""},
		"write":      {Write, Fault{Err: syscall.EIO}, "echo x >> a", "I/O error", ""},
		"sync":       {Sync, Fault{Err: syscall.EIO}, "sync a", "error syncing", "failed sync"},
		"short":      {Write, Fault{Short: 2}, "printf 123456 > b; test $(cat b) != 123456", "", "create write write write"},
		"mapped":     {Sync, Fault{Err: syscall.EIO}, "sync a", "error syncing", "failed sync"},
		"sync names": {SyncFolder, Fault{Err: syscall.EIO}, "sync .", "error syncing", "failed sync folder"},
	} {
		if out, err := exec.Command("sh", "-c", "cd "+at+"; rm -f a b; echo 1 > a").CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		before := len(d.Trace())
		d.Inject(func(call Call) Fault {
			if call.Kind == c.kind {
				return c.fault
			}
			return Fault{}
		})
		out, err := exec.Command("sh", "-c", "cd "+at+"; "+c.script).CombinedOutput()
		d.Inject(nil)
		if err == nil && c.text == "" || !strings.Contains(string(out), c.text) && c.text != "" {
			t.Errorf("%s: the command returned %v, %q", name, err, out)
		}
		var ops []string
		for _, op := range d.Trace()[before:] {
			if op.Failed {
				ops = append(ops, "failed")
			}
			ops = append(ops, op.Kind.String())
		}
		if got := strings.Join(ops, " "); got != c.ops {
			t.Errorf("%s: the recorded calls are %q, want %q", name, got, c.ops)
		}
	}
}

// mapInto makes the test binary write to memory mapped from this file.
const mapInto = "POWERCUT_TEST_MAP"

func TestMain(m *testing.M) {
	if path := os.Getenv(mapInto); path != "" {
		storeMapped(path)
		return
	}
	os.Exit(m.Run())
}

func storeMapped(path string) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Truncate(2 * PageBytes)
	}
	if err != nil {
		panic(err)
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, 2*PageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	mapped[PageBytes+1] = 'x'
	if err := unix.Msync(mapped, unix.MS_SYNC); err != nil {
		panic(err)
	}
}

// Badger maps its files. The kernel writes their pages whole, and marks such writes.
func TestMappedWritesAreDistinguished(t *testing.T) {
	d, at := mount(t)
	d.Inject(func(Call) Fault { return Fault{Short: 1} })
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), mapInto+"="+filepath.Join(at, "file"))
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mapped, synced := 0, false
	for _, op := range d.Trace() {
		if op.Kind == Write {
			if !op.Mapped || len(op.Data)%PageBytes != 0 {
				t.Errorf("a write of %d bytes, mapped: %t", len(op.Data), op.Mapped)
			}
			mapped++
		}
		synced = op.Kind == Sync
	}
	if mapped == 0 || !synced {
		t.Errorf("%d mapped writes were recorded, a sync is last: %t", mapped, synced)
	}
}

// An allocation can keep the file's size, and later writes do not change earlier records of the
// trace.
func TestRecordsDoNotChangeWithLaterWrites(t *testing.T) {
	d, at := mount(t)
	script := `cd "$1"; : > a; fallocate -n -l 9000 a; for i in 1 2 3 4 5 6 7 8; do printf "text $i" > $i; done; sync . [1-8] a`
	if out, err := exec.Command("sh", "-c", script, "sh", at).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace := d.Trace()
	f := trace.Rebuild(Cut{Point: len(trace)})
	for name, number := range f.files[0].names {
		want := "text " + name
		if name == "a" {
			want = ""
		}
		if got := string(f.files[number].data); got != want {
			t.Errorf("%s contains %q, want %q", name, got, want)
		}
	}
}
