//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write the table of scenarios in bench/README.md anew")

// TestTheReadmeHasEveryScenario: its table is what the program says of the commands that
// make load and have a report.
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
	const page, head = "../../bench/README.md", "| Scenario | What it does |\n|---|---|\n"
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
		t.Errorf("its table is another; go test ./cmd/atelier-bench -run Readme -update makes it:\n%s", table.String())
	}
}
