//go:build linux

package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"atelier/cmd/internal/process"
)

// The help has readable names for values, and shows each default. The usage line shows no optional
// flag.
func TestHelpIsComplete(t *testing.T) {
	var all commands
	k, err := grammar(&all)
	if err != nil {
		t.Fatal(err)
	}
	types := regexp.MustCompile(`=(INT|UINT|FLOAT|STRING)`)
	for _, command := range k.Model.Leaves(true) {
		if u := command.Summary(); strings.Contains(u, "--url") || strings.Contains(u, "--spawn") {
			t.Errorf("%s: the usage shows an optional flag: %s", command.Name, u)
		}
		for _, f := range slices.Concat(command.AllFlags(true)...) {
			shown := f.String()
			if types.MatchString(shown) || strings.Contains(shown, ",...") {
				t.Errorf("%s: the help shows %s", command.Name, shown)
			}
			if f.HasDefault && f.Default != "" && !f.IsBool() && !strings.Contains(shown+f.Help, f.Default) {
				t.Errorf("%s: the help of %s lacks its default: %s", command.Name, shown, f.Help)
			}
		}
	}
}

// The version is available as a flag and as a command, as in the server.
func TestVersionIsShown(t *testing.T) {
	var all commands
	var out bytes.Buffer
	code := -1
	k, err := grammar(&all, kong.Writers(&out, &out), kong.Exit(func(n int) { code = n }))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = k.Parse([]string{"--version"}) // outside of tests the program exits here
	if got := out.String(); code != 0 || !strings.HasPrefix(got, "atelier-bench "+process.Version()) || !strings.Contains(got, " linux/") {
		t.Errorf("exit code %d: %q", code, got)
	}
	if code := run([]string{"version"}); code != 0 {
		t.Errorf("the command ended with %d, want 0", code)
	}
}

// Two servers are an error, even if other flags are missing.
func TestAMissingOrDoubleServerIsReportedFirst(t *testing.T) {
	t.Setenv("ADMIN_PW", "")
	for _, scenario := range []string{"fanout", "workshop", "rest", "tokens", "uploads", "clones", "chaos"} {
		for want, args := range map[string][]string{
			"exclude each other": {scenario, "--spawn", "--url", "http://127.0.0.1:1"},
			"no server is given": {scenario},
		} {
			if scenario == "chaos" && want == "no server is given" {
				continue // it only runs on its own server
			}
			if got := stderrOf(t, func() { run(args) }); !strings.Contains(got, want) || strings.Contains(got, "admin-pw") {
				t.Errorf("%q printed %s", args, got)
			}
		}
	}
}
