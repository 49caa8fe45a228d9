package acceptance

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/cmd/internal/servertest"
)

// binary returns the path of the server's binary.
func binary(t *testing.T) string {
	t.Helper()
	if os.Getenv("TEST_NODES") != "" {
		t.Skip("this test starts its own server")
	}
	path, err := servertest.Build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var listening = regexp.MustCompile(`msg=listening addr=(\S+)`)

// run starts the binary on a data folder and waits until it listens.
func run(t *testing.T, path, data string, flags ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(path, append([]string{"serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data", data}, flags...)...)
	cmd.Dir = data
	cmd.Env = append(os.Environ(), "ADMIN_PW="+adminPW, "ATELIER_STORAGE_MEMTABLE_MIB=16", "ATELIER_STORAGE_MIN_FREE_MIB=64", "ATELIER_LIMITS_MESSAGES_PER_SECOND=0",
		"ATELIER_HANDLER_REQUESTS_PER_SECOND=0")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	var output []string
	for lines.Scan() {
		output = append(output, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // read the pipe until the end, so that the process never blocks
				}
			}()
			return cmd, m[1]
		}
	}
	t.Fatalf("the server did not start:\n%s", strings.Join(output, "\n"))
	return nil, ""
}

func TestAcknowledgedWritesSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, data := binary(t), t.TempDir()
	cmd, addr := run(t, path, data)
	c := newClassOn(t, addr, record{})
	lin := c.join(open(t, addr), record{"name": "Lin", "code": "4711"})
	var acked []string
	epoch, n := "", 0
	for round := range 4 {
		live := lin.connect(c.id, "")
		if e := live.welcome.text("epoch"); epoch != "" && e != epoch {
			t.Errorf("round %d: the epoch of the stream changed", round)
		}
		epoch = live.welcome.text("epoch")
		enough, killed := make(chan struct{}), make(chan struct{})
		kill := sync.OnceFunc(func() { close(enough) })
		go func() { // kill while messages are in flight
			defer close(killed)
			<-enough
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		for i := range 200 {
			if i == 25 {
				kill()
			}
			text := fmt.Sprintf("m%05d", n)
			n++
			if live.conn.WriteJSON(record{"type": "chat", "message": text, "ref": text}) != nil {
				break
			}
			if !confirmed(live, text) {
				break
			}
			acked = append(acked, text)
		}
		kill()
		<-killed
		cmd, addr = run(t, path, data)
		for _, b := range []*browser{c.admin, lin.browser} {
			b.base = "http://" + addr
			b.http.CloseIdleConnections()
		}
		stored := texts(lin.get(c.path+"/chat?limit=1000").list(), "message")
		for _, text := range acked {
			if !slices.Contains(stored, text) {
				t.Fatalf("round %d: %s was acknowledged, but is lost", round, text)
			}
		}
		if len(stored) > n {
			t.Errorf("round %d: %d messages are stored, but only %d were sent", round, len(stored), n)
		}
	}
	if len(acked) < 4*25 {
		t.Errorf("only %d messages were acknowledged", len(acked))
	}
}

// confirmed reads up to the answer to a ref, and reports whether this is an ack. It returns false
// if the connection breaks.
func confirmed(s *socket, ref string) bool {
	for {
		m, err := s.read()
		if err != nil {
			return false
		}
		if m.text("ref") == ref {
			return m.kind() == "ack"
		}
	}
}

// After a kill, the restarted server has none of the earlier simulated attendees.
func TestARehearsalDoesNotSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	path, data := binary(t), t.TempDir()
	cmd, addr := run(t, path, data)
	c := newClassOn(t, addr, record{})
	c.rehearses(20, nil)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_, addr = run(t, path, data)
	c.admin.base = "http://" + addr
	c.admin.http.CloseIdleConnections()
	c.rehearsalOver()
}
