//go:build linux

package acceptance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that holds credentials leaves no core dump, and can be weighed
// nevertheless.
func TestTheServerLeavesNoCoreDump(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the setting changes seldom")
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path := binary(t)
	// What the child inherits, or nothing would have to be switched off.
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &before); err != nil || before.Max == 0 {
		t.Skip("core dumps are off already")
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: before.Max, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	cmd, _ := run(t, path, t.TempDir())
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &before); err != nil {
		t.Fatal(err)
	}
	for file, has := range map[string]string{"limits": `Max core file size +0 +0 `, "status": `VmHWM:\s+\d+ kB`, "stat": `^\d+ \(atelier\)`} {
		got, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file))
		if err != nil || !regexp.MustCompile(has).Match(got) {
			t.Errorf("%s says %s, %v", file, got, err)
		}
	}
}

// The unit says the same, for what runs beside the server, and keeps files to
// their owner.
func TestTheUnitKeepsMemoryAndFilesPrivate(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../deploy/atelier.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"LimitCORE=0", "UMask=0077", "MemorySwapMax=0", "StateDirectoryMode=0700"} {
		if !strings.Contains(string(unit), "\n"+line+"\n") {
			t.Errorf("it lacks %s", line)
		}
	}
}
