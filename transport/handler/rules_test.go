package handler

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of RULES.md anew")

// TestTheTableOfRefusalsIsTrue: RULES.md has the table that the specification document
// of the handler has.
func TestTheTableOfRefusalsIsTrue(t *testing.T) {
	b, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), "<!-- refusals -->\n")
	_, after, ends := strings.Cut(rest, "<!-- end -->")
	if !ok || !ends {
		t.Fatal("RULES.md has no place for the table")
	}
	var table strings.Builder
	table.WriteString("| Status | Code | What it means, and what to do |\n|---|---|---|\n")
	for _, e := range errorTable {
		fmt.Fprintf(&table, "| %d | `%s` | %s |\n", e.Status, e.Code, e.About)
	}
	text := before + "<!-- refusals -->\n" + table.String() + "<!-- end -->" + after
	if *update {
		if err := os.WriteFile("RULES.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(b) {
		t.Error("RULES.md is not what the code says; run make generate")
	}
}
