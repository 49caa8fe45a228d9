package lint

import (
	"strings"
	"testing"
)

// A schema's names appear in messages, and a CI system reads commands from lines of a log.
func TestTextsOfASchemaCannotWriteLines(t *testing.T) {
	var out strings.Builder
	r := Report{Files: 1, Findings: []Finding{{File: "a.json\n::error::x", Pointer: "/\x1b[2J", Message: "b\r\n::stop-commands::y", Severity: Error, Code: "c"}}}
	if err := r.Write(&out, "text"); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || strings.ContainsAny(got, "\x1b\r") {
		t.Errorf("the report is %q", got)
	}
}
