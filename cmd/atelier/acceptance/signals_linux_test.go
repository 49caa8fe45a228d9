package acceptance

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A hangup signal makes the server read the log level again. The server does not end because of a
// hangup signal, a closed log pipe, or a stop signal from the terminal.
func TestHangupSuspensionAndAClosedLogDoNotEndTheServer(t *testing.T) {
	t.Parallel()
	path, data := binary(t), t.TempDir()
	file := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[log]\nlevel = \"info\"\naccess = true\n")
	cmd := exec.Command(path, "serve", "--config", file, "--listen", "127.0.0.1:0", "--internal-listen", "", "--data", data)
	cmd.Env = append(os.Environ(), "ADMIN_PW="+adminPW, "ATELIER_STORAGE_MIN_FREE_MIB=64")
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
	until := func(text string) (line string) {
		t.Helper()
		for lines.Scan() {
			if line = lines.Text(); strings.Contains(line, text) {
				return line
			}
		}
		t.Fatalf("the log ends without %q", text)
		return ""
	}
	b := open(t, listening.FindStringSubmatch(until("msg=listening"))[1])
	hangUp := func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	write("[log]\nlevel = \"loud\"\n")
	hangUp()
	until("reloading the configuration failed; the previous values stay in use")
	write("[log]\nlevel = \"error\"\n")
	hangUp()
	until("were reloaded")
	b.get("/app").want(200)
	write("[log]\nlevel = \"info\"\n")
	hangUp()
	until("were reloaded")
	b.get("/codelabs").want(200)
	if line := until("GET"); !strings.Contains(line, "/api/codelabs") {
		t.Errorf("at the level error, the server logged %s", line)
	}

	if err := cmd.Process.Signal(syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	b.get("/app").want(200)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.get("/codelabs").want(200) // each request writes a log line that is never read
	}
}
