package lint

import (
	"cmp"
	"slices"
)

// Finding is a broken convention in one place.
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

// Report is the outcome of a run.
type Report struct {
	Findings []Finding `json:"findings"`
	// Files is how many were looked at.
	Files int `json:"-"`
	// Unreadable says that a path could not be read at all.
	Unreadable bool `json:"-"`
}

// New makes a finding that is in no place of a document.
func New(code, file, message string) Finding {
	return Finding{Code: code, Severity: severities[code], File: file, Message: message, Line: 1}
}

// Failed tells whether the report fails a run: errors do, and with strict
// everything does.
func (r Report) Failed(strict bool) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return strict || f.Severity == Error })
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	r.Findings = slices.Compact(r.Findings)
}
