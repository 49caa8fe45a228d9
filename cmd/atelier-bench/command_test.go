//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/bench/report"
)

func TestReportsShowNoSecret(t *testing.T) {
	got := commandLine([]string{"/opt/bench", "--admin-pw", "secret", "--admin-pw=secret", "--admin-id", "admin", "--header", "Authorization: Bearer x", "--secret=y", "--header=Cookie: z",
		"--hello", `{"token":"x"}`, "--send", "x", "--answer", "y=x", "--resume=x", "--url", "ws://a:b@127.0.0.1:1/ws?token=x", "--postgres=postgres://u:p@h/db", "--url", "http://[::", "--postgres=host=h password=secret"})
	want := []string{"bench", "--admin-pw", "***", "--admin-pw=***", "--admin-id", "admin", "--header", "Authorization: ***", "--secret=***", "--header=Cookie: ***",
		"--hello", "***", "--send", "***", "--answer", "***", "--resume=***", "--url", "ws://hidden@127.0.0.1:1/ws?***", "--postgres=postgres://hidden@h/db", "--url", "***", "--postgres=***"}
	if !slices.Equal(got, want) {
		t.Errorf("the command line is %q", got)
	}
}

func TestWrongUsageIsReported(t *testing.T) {
	t.Setenv("ADMIN_PW", "")
	for _, args := range [][]string{
		{},
		{"workshop"},
		{"workshop", "--spawn", "--url", "http://127.0.0.1:1"},
		{"tokens", "--spawn", "--live", "10000000", "--live-for", "30m"},
		{"workshop", "--url", "http://127.0.0.1:1"},
		{"slow", "--spawn", "--duration", "8s"}, // too short for a phase with stalled clients
		{"workshop", "--url", "http://127.0.0.1:1", "--admin-pw", "x", "--kill-every", "1s"},
		{"workshop", "--spawn", "--codelab-id", "x", "--codelab", "command_test.go"},
		{"workshop", "--spawn", "--attendees", "many"},
		{"workshop", "--spawn", "--attendees", "0"},
		{"workshop", "--spawn", "--threshold", "fast"},
		{"workshop", "--spawn", "--threshold", "p99<1s", "--threshold", "p98<1s"},
		{"fanout", "--spawn", "--threshold", "pairs_per_second>1"},
		{"workshop", "--spawn", "--threshold", "recovery<5s"},
		{"workshop", "--url", "http://127.0.0.1:1", "--admin-pw", "x", "--threshold", "server.rss<1GB"},
		{"tokens", "--spawn", "--threshold", "slowdown<10%"},
		{"rest", "--generic", "--url", "http://127.0.0.1:1", "--threshold", "server.cpu<1"},
		{"idle", "--generic", "--url", "ws://127.0.0.1:1/", "--threshold", "bytes_per_connection<10kB"},
		{"workshop", "--spawn", "--max-busy", "101"},
		{"fanout", "--spawn", "--json", "/nonexistent/x"},
		{"pair", "--a", "command_test.go", "--b", "command_test.go", "--json-a", "/tmp", "fanout"},
		{"fanout"},
		{"fanout", "--spawn", "--subscribers", "0"},
		{"fanout", "--spawn", "--stages", "10s"},
		{"fanout", "--spawn", "--stages", "10s@5,20s@10", "--duration", "29s"},
		{"fanout", "--spawn", "--stages", "300ms@5,400ms@10"},
		{"fanout", "--spawn", "--find-max"},
		{"fanout", "--spawn", "--find-max", "--threshold", "highest_messages_per_second>5"},
		{"fanout", "--spawn", "--find-max", "--threshold", "p99<1s", "--rate", "0"},
		{"fanout", "--spawn", "--find-max", "--threshold", "p99<1s", "--stages", "1s@5"},
		{"fanout", "--spawn", "--find-max", "--threshold", "p99<1s", "--steps", "0"},
		{"fanout", "--spawn", "--threshold", "highest_messages_per_second>5"},
		{"rest", "--spawn", "--threshold", "search.highest_rate>5"},
		{"fanout", "--spawn", "--clients", "command_test.go"},
		{"fanout", "--spawn", "--binary"},
		{"fanout", "--spawn", "--channel", "x"},
		{"fanout", "--spawn", "--prometheus", "9100"},
		{"fanout", "--spawn", "--prometheus", "127.0.0.1:http"},
		{"idle", "--spawn", "--duration", "0s"},
		{"slow", "--spawn", "--stages", "2s@5,6s@10"}, // too short for --part
		{"fanout", "--spawn", "--hello", "x"},
		{"fanout", "--spawn", "--generic", "--send", "{{stamp}} {{seq}}", "--match", "(?P<stamp>1)(?P<seq>2)"},
		{"fanout", "--generic", "--url", "ws://127.0.0.1:1/"},
		{"fanout", "--generic", "--url", "ftp://127.0.0.1:1/", "--send", "{{stamp}} {{seq}}", "--match", "(?P<stamp>1)(?P<seq>2)"},
		{"fanout", "--generic", "--url", "ws://127.0.0.1:1/", "--send", "{{seq}}", "--match", "(?P<stamp>1)(?P<seq>2)"},
		{"fanout", "--generic", "--url", "ws://127.0.0.1:1/", "--send", "{{stamp}} {{seq}}", "--match", "(?P<seq>2)"},
		{"fanout", "--spawn", "--worker-at", "127.0.0.1:1"},
		{"fanout", "--spawn", "--worker-at", "127.0.0.1:1", "--secret", "0123456789abcdef", "--workers", "2"},
		{"worker", "--listen", "127.0.0.1:0", "--secret", "short"},
		{"slow", "--spawn", "--stalled", "100"},
		{"chaos", "--url", "http://127.0.0.1:1", "--admin-pw", "x"},
		{"chaos", "--spawn", "--faults", "burn"},
		{"run", "no-such-profile"},
		{"run", "chaos", "--faults", "burn"},
		{"selftest", "--url", "http://127.0.0.1:1", "--admin-pw", "x"},
		{"compare", "/nonexistent", "/nonexistent"},
		{"regress", "--base", "command_test.go"},
		{"regress", "--base", "command_test.go", "--new", "/nonexistent"},
		{"regress", "--base", "command_test.go", "--new", "command_test.go", "--only", "sleep"},
		{"regress", "--base", "command_test.go", "--new", "command_test.go", "--rounds", "1"},
		{"regress", "--base", "command_test.go", "--new", "command_test.go", "--rounds", "21"},
		{"regress", "--base", "command_test.go", "--new", "command_test.go", "--json", "/nonexistent/x"},
		{"rest", "--spawn", "--row", "5"},
		{"rest", "--spawn", "--reads", "5"},
		{"rest", "--spawn", "--body", "x"},
		{"rest", "--generic", "--url", "http://127.0.0.1:1", "--header", "x"},
		{"reconnect", "--spawn", "--every", "1ms"},
		{"workshop", "--spawn", "--insecure"},
		{"workshop", "--url", "http://127.0.0.1:1", "--admin-pw", "x", "--insecure"},
		{"workshop", "--url", "ftp://127.0.0.1:1", "--admin-pw", "x"},
		{"tokens", "--spawn", "--connections", "0"},
		{"uploads", "--spawn", "--attendees", "-1"},
		{"uploads"},
		{"clones"},
		{"clones", "--spawn", "--people", "0"},
		{"uploads", "--url", "http://127.0.0.1:1"},
	} {
		if code := run(args); code != exitUsage {
			t.Errorf("%q ended with %d, want %d", args, code, exitUsage)
		}
	}
}

func TestWithoutAServerTheRunIsBroken(t *testing.T) {
	for _, args := range [][]string{
		{"workshop", "--spawn", "--server", "/nonexistent"},
		{"workshop", "--spawn", "--server", "/nonexistent", "--kill-every", "10s", "--threshold", "recovery<5s", "--threshold", "server.rss<1GB"},
		{"uploads", "--spawn", "--server", "/nonexistent", "--threshold", "slowdown<10%", "--threshold", "growth<1MiB"},
		{"idle", "--generic", "--url", "ws://127.0.0.1:1/", "--pid", "999999999", "--threshold", "server.rss<10MB"},
		{"fanout", "--spawn", "--server", "/nonexistent"},
		{"fanout", "--generic", "--url", "ws://127.0.0.1:1/", "--send", "{{stamp}} {{seq}}", "--match", "(?P<stamp>1)(?P<seq>2)"},
		{"workshop", "--url", "https://127.0.0.1:1", "--admin-pw", "x", "--insecure"},
	} {
		if code := run(args); code != exitBroken {
			t.Errorf("%q ended with %d, want %d", args, code, exitBroken)
		}
	}
}

// A file that cannot be written, or that would be overwritten, is refused before the run.
func TestOutputFilesAreCheckedBeforeTheRun(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", at("link")); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]outputFlags{
		"--json " + dir + " is a folder":         {JSON: dir},
		"--html -: want a file":                  {HTML: "-"},
		"--csv: there is no folder for":          {CSV: at("none/x")},
		"--json and --csv are the same file":     {JSON: at("new"), CSV: at("./new")},
		"--html and --hdr are the same file":     {HTML: at("old"), HDR: at("link")},
		"--hdr and --cpu-profile are the same f": {HDR: at("x"), CPUProfile: at("x")},
		"":                                       {JSON: at("old"), CSV: at("new"), HTML: "/dev/null", HDR: "/dev/null"},
	} {
		err := o.check(report.Names{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("want the error %q, got %v", want, err)
		}
	}
}

// If one file cannot be written, the others are still written.
func TestOtherFilesAreWrittenIfOneFails(t *testing.T) {
	dir := t.TempDir()
	o := outputFlags{JSON: dir, CSV: filepath.Join(dir, "csv"), HTML: filepath.Join(dir, "html"), HDR: filepath.Join(dir, "hdr")}
	err := o.write(&report.Result{})
	if code := exitCode(0); err == nil || errors.As(err, &code) {
		t.Errorf("writing to a folder succeeded: %v", err)
	}
	for _, path := range []string{o.CSV, o.HTML, o.HDR} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// Two files are compared, with repeated runs or with one run each. A regression sets the exit code.
func TestReportsAreCompared(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, p99 int) string {
		var runs []string
		for i := range 5 {
			runs = append(runs, fmt.Sprintf(`{"format":"atelier-bench/1","scenario":"x","valid":true,"count":5,"p99":%d.%d}`, p99, i))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(`{"format":"atelier-bench-set/1","runs":[`+strings.Join(runs, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	quick, slow := write("quick", 10), write("slow", 20)
	single := func(name string, lost int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"format":"atelier-bench/1","scenario":"x","valid":true,"lost":%d}`, lost), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, lossy := single("whole", 0), single("lossy", 784)
	for args, want := range map[[2]string]int{{quick, slow}: 1, {slow, quick}: 0, {quick, quick}: 0, {whole, lossy}: 1, {lossy, whole}: 0} {
		if code := run([]string{"compare", args[0], args[1]}); code != want {
			t.Errorf("comparing %v ended with %d, want %d", args, code, want)
		}
	}
}

// Every included profile is a valid command line.
func TestIncludedProfilesAreCommands(t *testing.T) {
	all, err := includedProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if code := run(p.args([]string{"--server", "/nonexistent"})); code != exitBroken {
			t.Errorf("the profile %s ended with %d, want %d", p.name, code, exitBroken)
		}
	}
}

func TestAnIdleRunGivesANewServerTimeToRest(t *testing.T) {
	for name, c := range map[string]struct {
		spawn      bool
		rest, want time.Duration
	}{
		"started by the run":  {true, 0, afterStart},
		"another pause":       {true, time.Second, time.Second},
		"already running":     {false, 0, 0},
		"running, with pause": {false, time.Second, time.Second},
	} {
		command := idleCommand{Connections: 1, Rest: c.rest}
		command.Spawn = c.spawn
		_ = command.Validate() // fails, because the command is incomplete
		if got := command.Config.Rest; got != c.want {
			t.Errorf("%s: the pause is %v, want %v", name, got, c.want)
		}
	}
}
