package powercut

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mount mounts a disk until the test ends.
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

// A trace rebuilds what the disk holds when everything was synced.
func TestTraceHoldsWhatAnotherProcessDid(t *testing.T) {
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
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
