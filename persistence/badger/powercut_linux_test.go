package badger

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"atelier/persistence/powercut"
)

// TestPowerCut cuts the power while a process appends, and then verifies every record that was
// acknowledged. In an earlier version, the name of the store's folder was not synced, so all data
// was lost.
func TestPowerCut(t *testing.T) {
	at := t.TempDir()
	disk, err := powercut.Mount(at)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := disk.Unmount(); err != nil {
			t.Error(err)
		}
	}()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+filepath.Join(at, "made", "store"))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	type cut struct {
		at    powercut.Cut
		acked map[string]uint64
	}
	var cuts []cut
	acked := map[string]uint64{}
	lines := bufio.NewScanner(out)
	for n := 1; n <= 600 && lines.Scan(); n++ {
		var actor string
		var seq uint64
		if _, err := fmt.Sscanf(lines.Text(), "%s %d.", &actor, &seq); err != nil {
			t.Error(err)
			break
		}
		acked[actor] = seq
		if n%60 == 0 {
			cuts = append(cuts, cut{powercut.Cut{Point: len(disk.Trace()), Seed: uint64(n), Order: powercut.Unordered}, maps.Clone(acked)})
		}
	}
	_ = child.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = child.Wait()
	for _, c := range cuts {
		root := filepath.Join(t.TempDir(), "disk")
		left := disk.Trace().Rebuild(c.at)
		if err := left.Make(root); err != nil {
			t.Fatal(err)
		}
		s, err := Open(small(filepath.Join(root, "made", "store")))
		if err != nil {
			t.Fatalf("power cut %+v: %v\n%q", c.at, err, left.Unsynced)
		}
		checkAcked(t, s, c.acked)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(cuts) == 0 {
		t.Error("no write was acknowledged")
	}
}
