package codelab

import (
	"slices"
	"strings"
	"unicode"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/markdown"
)

// Checks test attendees' work (transport/rest/RULES.md, "Checks"). The text of a step declares
// them, and programs on the attendees' own machines report the results.

const (
	// MaxChecks is the maximum number of checks of a codelab. Further declarations are ignored.
	MaxChecks    = 50
	maxCheckNote = 500
)

// Check is a check that a step declares. If two checks have the same name, only the first counts.
type Check struct {
	markdown.Check
	// StepNumber is the number of the step, from 1.
	StepNumber int
}

// checksOf returns the checks that steps declare: the first of each name,
// and at most MaxChecks.
func checksOf(steps []*pb.Step) (out []Check) {
	for i, st := range steps {
		for _, c := range markdown.Checks(st.ContentMarkdown) {
			if len(out) < MaxChecks && !slices.ContainsFunc(out, func(x Check) bool { return x.Name == c.Name }) {
				out = append(out, Check{c, i + 1})
			}
		}
	}
	return out
}

// ReportCheck reports the result of a check of the caller's work.
type ReportCheck struct {
	Name string
	OK   bool
	Note string
}

func (b ReportCheck) decide(c call) (decision, error) {
	a := c.s.attendee(c.ID)
	if a == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can report checks")
	}
	if err := c.live(); err != nil {
		return decision{}, err
	}
	if !slices.ContainsFunc(c.s.checks, func(x Check) bool { return x.Name == b.Name }) {
		return decision{}, durable.Reject(durable.Missing, "no step declares this check; %s", declared(c.s.checks))
	}
	if err := text("note", b.Note, 0, maxCheckNote); err != nil {
		return decision{}, err
	}
	return decided(nil, &pb.Event{Body: &pb.Event_CheckReported{CheckReported: &pb.CheckReported{
		AttendeeId: a.Id, Name: b.Name, Ok: b.OK, Note: printable(b.Note), Tries: Reported(a, b.Name).GetTries() + 1,
	}}}), nil
}

// printable trims a text, and removes control characters except line breaks and tabs.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))
}

// declared lists the names of the first ten declared checks for an error text.
func declared(checks []Check) string {
	if len(checks) == 0 {
		return "no checks are declared"
	}
	var names []string
	for _, c := range checks[:min(len(checks), 10)] {
		names = append(names, c.Name)
	}
	list := "the declared checks are " + strings.Join(names, ", ")
	if len(checks) > len(names) {
		list += " and more"
	}
	return list
}

// applyCheckReported replaces the report of a check, and drops the reports of checks that are no
// longer declared.
func (s *State) applyCheckReported(seq uint64, at int64, b *pb.CheckReported) {
	s.changeAttendee(seq, b.AttendeeId, func(a *pb.Attendee) {
		latest := &pb.CheckResult{Name: b.Name, Ok: b.Ok, Note: b.Note, At: at, Tries: b.Tries}
		kept := make([]*pb.CheckResult, 0, len(a.Checks)+1)
		for _, r := range a.Checks {
			if r.Name != b.Name && slices.ContainsFunc(s.checks, func(x Check) bool { return x.Name == r.Name }) {
				kept = append(kept, r)
			}
		}
		i, _ := slices.BinarySearchFunc(kept, b.Name, func(r *pb.CheckResult, name string) int { return strings.Compare(r.Name, name) })
		a.Checks = slices.Insert(kept, i, latest)
	})
}

// Reported returns the latest report of a person's check, or nil if there is none.
func Reported(a *pb.Attendee, check string) *pb.CheckResult {
	for _, r := range a.GetChecks() {
		if r.Name == check {
			return r
		}
	}
	return nil
}

// Passed reports whether the latest report of a person's check is a success.
func Passed(a *pb.Attendee, check string) bool { return Reported(a, check).GetOk() }

// unchecked returns the checks that a person has not passed.
func unchecked(a *pb.Attendee, checks []Check) (names []string) {
	for _, c := range checks {
		if !Passed(a, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}
