package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finding is a violation of a convention in one place.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	// Pointer is the place in the file, a JSON Pointer.
	Pointer string `json:"pointer"`
	Message string `json:"message"`
	// Line counts from 1.
	Line int `json:"-"`
}

// Report is the result of a run.
type Report struct {
	Findings []Finding `json:"findings"`
	// Files is the number of checked files.
	Files int `json:"-"`
	// Unreadable means that a path could not be read, or is a folder without *.json files.
	Unreadable bool `json:"-"`
}

// New returns a finding without a position in a document.
func New(code, file, message string) Finding {
	return Finding{Code: code, Severity: severities[code], File: file, Message: message, Line: 1}
}

// Failed reports whether the run failed: on errors, or with strict on any finding.
func (r Report) Failed(strict bool) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return strict || f.Severity == Error })
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	r.Findings = slices.Compact(r.Findings)
}

// Formats are the output formats.
var Formats = []string{"text", "json", "sarif", "github"}

// Write writes a report in one of Formats.
func (r Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return r.text(w)
	case "json":
		return r.json(w)
	case "sarif":
		return r.sarif(w)
	case "github":
		return r.github(w)
	}
	return fmt.Errorf("format %q: want %s", format, strings.Join(Formats, ", "))
}

func (r Report) text(w io.Writer) error {
	counts := map[Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if f.Pointer != "" {
			place += " " + f.Pointer
		}
		line := fmt.Sprintf("%s: %s: %s [%s]", place, f.Severity, f.Message, f.Code)
		if _, err := fmt.Fprintln(w, strings.Map(printable, line)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "files %d, errors %d, warnings %d, advice %d\n", r.Files, counts[Error], counts[Warning], counts[Advice])
	return err
}

// printable replaces control characters. A hostile schema could otherwise write lines of its own,
// such as commands to a CI system, or control a terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return utf8.RuneError
	}
	return r
}

func (r Report) json(w io.Writer) error {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(r)
}

// github writes workflow commands, which mark the lines of a pull request.
func (r Report) github(w io.Writer) error {
	command := map[Severity]string{Error: "error", Warning: "warning", Advice: "notice"}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range r.Findings {
		message := f.Message
		if f.Pointer != "" {
			message = f.Pointer + ": " + message
		}
		if _, err := fmt.Fprintf(w, "::%s file=%s,line=%d,title=%s::%s\n", command[f.Severity], property.Replace(f.File), max(f.Line, 1), property.Replace(f.Code), data.Replace(message)); err != nil {
			return err
		}
	}
	return nil
}
