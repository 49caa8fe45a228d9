package codelab

import (
	"fmt"
	"strings"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

func declaring(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "```check %s\nTitle of %s\n```\n\n", n, n)
	}
	return b.String()
}

func TestACheckBelongsToTheFirstStepThatDeclaresIt(t *testing.T) {
	many := make([]string, MaxChecks+3)
	for i := range many {
		many[i] = fmt.Sprint("c", i)
	}
	checks := checksOf([]*pb.Step{{ContentMarkdown: declaring("a", "b")}, {ContentMarkdown: declaring("b", "d")}})
	if len(checks) != 3 || checks[1].Name != "b" || checks[1].StepNumber != 1 || checks[2].StepNumber != 2 {
		t.Errorf("checksOf returns %v", checks)
	}
	if n := len(checksOf([]*pb.Step{{ContentMarkdown: declaring(many...)}})); n != MaxChecks {
		t.Errorf("%d checks are counted", n)
	}
}

func TestReportsOfChecksReplaceEarlierOnes(t *testing.T) {
	l := newLab()
	l.create(t)
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: declaring("a", "b")}}})
	lin := register(t, l, "Lin")
	l.must(t, lin, ReportCheck{Name: "b", OK: false, Note: " no "})
	l.must(t, lin, ReportCheck{Name: "a", OK: true})
	l.must(t, lin, ReportCheck{Name: "b", OK: true})
	of := func() (out []string) {
		for _, r := range l.attendee(lin.ID).Checks {
			out = append(out, fmt.Sprint(r.Name, r.Ok, r.Note, " ", r.Tries))
		}
		return out
	}
	if got := fmt.Sprint(of()); got != "[atrue 1 btrue 2]" {
		t.Error("the reports are", got)
	}
	l.refused(t, lin, ReportCheck{Name: "c"}, durable.Missing, "the declared checks are a, b")
	l.refused(t, admin, ReportCheck{Name: "a"}, durable.Forbidden, "only attendees")
	// A check that is no longer declared is removed with the next report, so the declared checks
	// bound the reports.
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: declaring("b")}}})
	l.must(t, lin, ReportCheck{Name: "b", OK: false})
	if got := fmt.Sprint(of()); got != "[bfalse 3]" {
		t.Error("the reports are", got)
	}
	l.must(t, admin, SetEnded{Ended: true})
	l.refused(t, lin, ReportCheck{Name: "b", OK: true}, durable.Conflict, "")
}

// Characters that control a terminal or a page are removed from a note. Line breaks and tabs stay.
func TestControlCharactersAreRemovedFromACheckNote(t *testing.T) {
	l := newLab()
	l.create(t)
	var names []string
	for i := range 11 {
		names = append(names, fmt.Sprint("c", i))
	}
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: declaring(names...)}}})
	lin := register(t, l, "Lin")
	l.must(t, lin, ReportCheck{Name: "c0", Note: "\x1b[31mred\r\n\tline\u0085 two\x00\n"})
	if got := Reported(l.attendee(lin.ID), "c0").GetNote(); got != "[31mred\n\tline two" {
		t.Errorf("the stored note is %q", got)
	}
	l.must(t, lin, ReportCheck{Name: "c0", Note: strings.Repeat("n", maxCheckNote)})
	l.refused(t, lin, ReportCheck{Name: "c0", Note: strings.Repeat("n", maxCheckNote+1)}, durable.Invalid, "note")
	// If there are many checks, the error names the first ten.
	l.refused(t, lin, ReportCheck{Name: "x"}, durable.Missing, "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and more")
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: declaring(names[:10]...)}}})
	if _, err := l.do(Command{Caller: lin, Body: ReportCheck{Name: "x"}}); err == nil || strings.Contains(err.Error(), "more") {
		t.Errorf("error with ten checks: %v", err)
	}
}
