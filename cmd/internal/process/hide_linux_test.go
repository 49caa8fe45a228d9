package process

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheProcessLeavesNoCoreDump(t *testing.T) {
	if err := Hide(); err != nil {
		t.Fatal(err)
	}
	var cores unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &cores); err != nil || cores.Cur != 0 || cores.Max != 0 {
		t.Errorf("core dumps are limited to %d bytes, at most %d, %v", cores.Cur, cores.Max, err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable is %d, %v", dumpable, err)
	}
}
