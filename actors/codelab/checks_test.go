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

func TestACheckCountsWhereItIsDeclaredFirst(t *testing.T) {
	many := make([]string, MaxChecks+3)
	for i := range many {
		many[i] = fmt.Sprint("c", i)
	}
	checks := checksOf([]*pb.Step{{ContentMarkdown: declaring("a", "b")}, {ContentMarkdown: declaring("b", "d")}})
	if len(checks) != 3 || checks[1].Name != "b" || checks[1].StepNumber != 1 || checks[2].StepNumber != 2 {
		t.Errorf("the checks are %v", checks)
	}
	if n := len(checksOf([]*pb.Step{{ContentMarkdown: declaring(many...)}})); n != MaxChecks {
		t.Errorf("there are %d", n)
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
		t.Error("kept are", got)
	}
	l.refused(t, lin, ReportCheck{Name: "c"}, durable.Missing, "there are a, b")
	l.refused(t, admin, ReportCheck{Name: "a"}, durable.Forbidden, "only attendees")
	// A check that is no longer declared is removed with the next report: the declared
	// checks bound the reports.
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: declaring("b")}}})
	l.must(t, lin, ReportCheck{Name: "b", OK: false})
	if got := fmt.Sprint(of()); got != "[bfalse 3]" {
		t.Error("kept are", got)
	}
	l.must(t, admin, SetEnded{Ended: true})
	l.refused(t, lin, ReportCheck{Name: "b", OK: true}, durable.Conflict, "")
}
