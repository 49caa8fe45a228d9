package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheLowestLimitOfAllGroupsCounts(t *testing.T) {
	root := t.TempDir()
	self := filepath.Join(root, "self")
	write := func(path, text string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := limitOf(self, root, 1000); got != 1000 {
		t.Errorf("without groups, the limit is %d, want 1000", got)
	}
	write("self", "1:name=systemd:/x\n0::/a/b\n")
	write("a/b/memory.max", "max\n")
	write("a/memory.max", "700\n")
	write("memory.max", "800\n")
	if got := limitOf(self, root, 1000); got != 700 {
		t.Errorf("with a limit of a parent group, it is %d, want 700", got)
	}
	write("a/b/memory.max", "600\n")
	if got := limitOf(self, root, 1000); got != 600 {
		t.Errorf("with a limit of its own, it is %d, want 600", got)
	}
	if got := limitOf(self, root, 500); got != 500 {
		t.Errorf("with less memory than the limits, it is %d, want 500", got)
	}
}

func TestTheMemoryOfTheMachineIsFound(t *testing.T) {
	if has, err := MachineMemory(); err != nil || has < 64<<20 {
		t.Errorf("the memory is %d, %v", has, err)
	}
}
