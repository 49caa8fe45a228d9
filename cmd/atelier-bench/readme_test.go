//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "rewrite the table of scenarios in bench/REFERENCE.md")

// The table contains the help of the demo, and of all commands that create load and have a report.
func TestTheReadmeHasEveryScenario(t *testing.T) {
	app, err := kong.New(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, c := range app.Model.Children {
		if flagged := func(name string) bool {
			for _, f := range c.Flags {
				if f.Name == name {
					return true
				}
			}
			return false
		}; c.Hidden || !flagged("threshold") && c.Name != "demo" {
			continue
		}
		fmt.Fprintf(&table, "| `%s` | %s |\n", c.Name, c.Help)
	}
	const page, head = "../../bench/REFERENCE.md", "| Scenario | What it does |\n|---|---|\n"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(b), head)
	if !ok {
		t.Fatal("the page has no table of scenarios")
	}
	end := strings.Index(after, "\n\n")
	if *update {
		if err := os.WriteFile(page, []byte(before+head+strings.TrimSuffix(table.String(), "\n")+after[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if after[:end+1] != table.String() {
		t.Errorf("the table differs; go test ./cmd/atelier-bench -run Readme -update writes it:\n%s", table.String())
	}
}

// Each command on a page exists, and so do its flags.
func TestCommandsOfThePagesParse(t *testing.T) {
	command := regexp.MustCompile(`(?m)^ {4}(?:bin/)?atelier-bench ((?:.*\\\n)*.*)$`)
	pages := map[string][]byte{}
	for path, least := range map[string]int{"README.md": 2, "../../bench/README.md": 4, "../../bench/REFERENCE.md": 4} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(command.FindAll(page, -1)); n < least {
			t.Errorf("%s has only %d commands", path, n)
		}
		pages[path] = page
	}
	t.Chdir(t.TempDir())
	t.Setenv("ADMIN_PW", "secret")
	if err := os.WriteFile("people.csv", []byte("token\nabc\ndef\n"), 0o600); err != nil { // a page names this file
		t.Fatal(err)
	}
	for path, page := range pages {
		for _, c := range command.FindAllSubmatch(page, -1) {
			// The shell resolves the quotes.
			words, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\000' `+string(c[1])).Output()
			if err != nil {
				t.Fatalf("the command %s: %v", c[0], err)
			}
			app, err := grammar(&commands{})
			if err != nil {
				t.Fatal(err)
			}
			args := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
			if last := len(args) - 1; args[last] == "…" {
				args = args[:last]
			}
			if _, err := app.Parse(args); err != nil {
				t.Errorf("%s: the command %q does not parse: %v", path, args, err)
			}
		}
	}
}
