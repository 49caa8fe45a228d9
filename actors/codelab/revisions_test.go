package codelab

import (
	"errors"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// edits returns the commands that replace content that an editor has loaded.
func edits(mark string) map[string]Command {
	return map[string]Command{
		"settings": {Caller: admin, Body: Update{Title: &mark}},
		"steps":    {Caller: admin, Body: ReplaceSteps{Steps: []*pb.Step{{Title: mark}}}},
		"quizzes":  {Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: mark, QuizType: Descriptive}}}},
	}
}

func (l *lab) revision(what string) uint64 {
	if what == "quizzes" {
		return l.revisions.Quizzes
	}
	return l.revisions.Codelab
}

// Two people open the same text and save it one after the other. In an earlier version, the second
// person silently overwrote the changes of the first.
func TestOnlyOneOfTwoEditsOfARevisionSucceeds(t *testing.T) {
	for _, what := range []string{"settings", "steps", "quizzes"} {
		l := newLab()
		l.create(t, "one")
		first, second := edits("first")[what], edits("second")[what]
		first.IfMatch = []uint64{7777, l.revision(what)}
		second.IfMatch = []uint64{l.revision(what)}
		made, err := l.do(first)
		if err != nil {
			t.Fatalf("%s: the first command returned %v", what, err)
		}
		if e := made.(Edited); e.Revision != l.revision(what) || e.Seq != l.seq {
			t.Errorf("%s: returned %+v, but the revision is %d at seq %d", what, e, l.revision(what), l.seq)
		}
		events := len(l.events)
		_, err = l.do(second)
		var refused *durable.Rejection
		if !errors.As(err, &refused) || refused.Reason != durable.Outdated || len(l.events) != events {
			t.Errorf("%s: the second edit returned %v and made %d events", what, err, len(l.events)-events)
		}
		// With the new revision the second edit succeeds. Without a revision an edit always
		// succeeds.
		second.IfMatch[0] = made.(Edited).Revision
		for range 2 {
			if _, err := l.do(second); err != nil {
				t.Errorf("%s: editing again returned %v", what, err)
			}
			second.IfMatch = nil
		}
		// With an empty list of revisions, nothing that exists can be replaced.
		first.IfMatch = []uint64{}
		if _, err := l.do(first); !errors.As(err, &refused) || refused.Reason != durable.Outdated {
			t.Errorf("%s: an empty list of revisions returned %v, want Outdated", what, err)
		}
	}
}

// Other changes while an editor is open do not change the revision, and neither does a restart.
func TestOtherCommandsDoNotChangeRevisions(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	for _, what := range []string{"settings", "quizzes"} {
		if _, err := l.do(edits("x")[what]); err != nil {
			t.Fatal(err)
		}
	}
	want := l.revisions
	for _, cmd := range []Command{
		{Caller: admin, Body: SetRegistration{}},
		{Caller: admin, Body: SetEnded{Ended: true}},
		{Caller: admin, Body: PostChat{Message: "x"}},
		edits("x")["settings"],
	} {
		if _, err := l.do(cmd); err != nil {
			t.Fatal(err)
		}
	}
	if l.revisions != want {
		t.Errorf("the revisions are %+v, want %+v", l.revisions, want)
	}
	b, err := EncodeState(l.Capture())
	if err != nil {
		t.Fatal(err)
	}
	restored := l.empty()
	if err := restored.Restore(l.seq, b); err != nil {
		t.Fatal(err)
	}
	if restored.revisions != want || restored.Capture().Revisions != want {
		t.Errorf("after a snapshot, the revisions are %+v, want %+v", restored.revisions, want)
	}
	if again := replay(l.empty(), 0, l.events); again.revisions != want {
		t.Errorf("after a replay, the revisions are %+v, want %+v", again.revisions, want)
	}
}
