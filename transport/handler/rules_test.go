package handler

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of RULES.md and openapi.json")

// The file openapi.json contains the current document. It makes changes of the interface visible in
// a review.
func TestTheDocumentFileIsUpToDate(t *testing.T) {
	const file = "openapi.json"
	var want bytes.Buffer
	if err := json.Indent(&want, OpenAPI(), "", "  "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date (%v); run make generate", file, err)
	}
}

// RULES.md contains the same table as the specification document of the handler.
func TestTheTableOfRefusalsIsUpToDate(t *testing.T) {
	b, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), "<!-- refusals -->\n")
	_, after, ends := strings.Cut(rest, "<!-- end -->")
	if !ok || !ends {
		t.Fatal("RULES.md has no section for the table")
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
		t.Error("the table in RULES.md is out of date; run make generate")
	}
}
