//go:build linux

package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"atelier/transport/auth"
)

// A process with credentials leaves no core dump. Its memory figures can still be read.
func TestTheServerLeavesNoCoreDump(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "the setting rarely changes")
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path := binary(t)
	// The child inherits this limit, so that core dumps are on when it starts.
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
			t.Errorf("%s contains %s, %v, want a match of %s", file, got, err, has)
		}
	}
}

// The systemd unit disables core dumps, too, also for processes other than the server. It makes
// files readable only to their owner.
func TestTheUnitKeepsMemoryAndFilesPrivate(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../deploy/atelier.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"LimitCORE=0", "UMask=0077", "MemorySwapMax=0", "StateDirectoryMode=0700"} {
		if !strings.Contains(string(unit), "\n"+line+"\n") {
			t.Errorf("the unit lacks %s", line)
		}
	}
}

// Buffers of requests keep earlier content. If the server did not wipe them, a core dump taken
// after the poll is closed could reveal each person's vote.
func TestNoBallotIsInMemoryNextToItsVotersCookie(t *testing.T) {
	t.Parallel()
	cmd, addr := run(t, binary(t), t.TempDir())
	c := newClassOn(t, addr, record{})
	poll := c.poll(record{"kind": "text", "question": "What was hard?", "anonymous": true})
	ballots := map[string]string{} // the ballots by the cookie of their voter
	for i := range 8 {
		p := c.attendee(fmt.Sprint("Voter ", i))
		ballot := fmt.Sprintf("the-ballot-of-number-%d", i)
		p.vote(c, poll, record{"text": ballot}).want(200)
		ballots[p.cookie(auth.SessionCookie)] = ballot
	}
	c.admin.post(c.path+"/polls/"+poll.text("id")+"/close", nil).want(200)
	cookies, found := 0, map[string]bool{}
	for _, part := range memoryOf(t, cmd.Process.Pid) {
		for cookie, ballot := range ballots {
			for at := 0; ; at++ {
				i := bytes.Index(part[at:], []byte(cookie))
				if i < 0 {
					break
				}
				at += i
				cookies++
				// The search covers a request from its header to its body, and looks for the
				// ballot in the form in which it was sent. The texts of the closed poll can be
				// anywhere, but contain no names.
				if bytes.Contains(part[max(at-512, 0):min(at+len(cookie)+2048, len(part))], []byte(`"text":"`+ballot)) {
					found[ballot] = true
				}
			}
		}
	}
	if cookies == 0 || len(found) > 0 {
		t.Errorf("some of the %d cookies in memory are next to the ballot: %v", cookies, found)
	}
}

// memoryOf returns the memory that a core dump of a process could contain. Each part is a mapping
// with pages of the process itself.
func memoryOf(t *testing.T, pid int) (parts [][]byte) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("only root can read the memory of a process that is not dumpable")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(fields[1], "rw") || len(fields) > 5 && strings.HasPrefix(fields[5], "/") {
			continue
		}
		var from, to int64
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		// Only memory in use can be read. Most of the heap's reservation is not in use.
		const step = 4 << 20
		for at := from; at < to; at += step {
			part := make([]byte, min(step, to-at))
			if n, _ := mem.ReadAt(part, at); n > 0 && !allZero(part[:n]) {
				parts = append(parts, part[:n])
			}
		}
	}
	return parts
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
