package codelab

import (
	"errors"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
)

// edits are the commands that replace what somebody has read.
func edits(mark string) map[string]Command {
	return map[string]Command{
		"settings": {Caller: admin, Body: Update{Title: &mark}},
		"steps":    {Caller: admin, Body: ReplaceSteps{Steps: []*pb.Step{{Title: mark}}}},
		"quizzes":  {Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: mark, QuizType: Descriptive}}}},
	}
}

func (l *lab) edition(what string) uint64 {
	if what == "quizzes" {
		return l.editions.Quizzes
	}
	return l.editions.Codelab
}

// Two people who have opened the same text and save it one after the other:
// the second overwrote the first without a word.
func TestOfTwoEditsOfOneEditionOneWins(t *testing.T) {
	for _, what := range []string{"settings", "steps", "quizzes"} {
		l := newLab()
		l.create(t, "one")
		first, second := edits("first")[what], edits("second")[what]
		first.IfMatch = []uint64{7777, l.edition(what)}
		second.IfMatch = []uint64{l.edition(what)}
		made, err := l.do(first)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if e := made.(Edited); e.Edition != l.edition(what) || e.Seq != l.seq {
			t.Errorf("%s: answered %+v, it is %d at %d", what, e, l.edition(what), l.seq)
		}
		events := len(l.events)
		_, err = l.do(second)
		var refused *durable.Rejection
		if !errors.As(err, &refused) || refused.Reason != durable.Outdated || len(l.events) != events {
			t.Errorf("%s: the second got %v and wrote %d", what, err, len(l.events)-events)
		}
		// Having read again, it passes; without the condition the last wins.
		second.IfMatch[0] = made.(Edited).Edition
		for range 2 {
			if _, err := l.do(second); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			second.IfMatch = nil
		}
		// One that may replace nothing that exists.
		first.IfMatch = []uint64{}
		if _, err := l.do(first); !errors.As(err, &refused) || refused.Reason != durable.Outdated {
			t.Errorf("%s: an empty list passed: %v", what, err)
		}
	}
}

// What happens while an editor is open is no edit, and neither is a restart.
func TestAnEditionOutlivesWhatIsNoEdit(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	for _, what := range []string{"settings", "quizzes"} {
		if _, err := l.do(edits("x")[what]); err != nil {
			t.Fatal(err)
		}
	}
	want := l.editions
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
	if l.editions != want {
		t.Errorf("editions are %+v, want %+v", l.editions, want)
	}
	b, err := EncodeState(l.Capture())
	if err != nil {
		t.Fatal(err)
	}
	restored := l.empty()
	if err := restored.Restore(l.seq, b); err != nil {
		t.Fatal(err)
	}
	if restored.editions != want || restored.Capture().Editions != want {
		t.Errorf("after a snapshot they are %+v, want %+v", restored.editions, want)
	}
	if again := replay(l.empty(), 0, l.events); again.editions != want {
		t.Errorf("after a replay they are %+v, want %+v", again.editions, want)
	}
	// A snapshot of an older version does not know them.
	var snap pb.Snapshot
	if err := snap.Decode(b); err != nil {
		t.Fatal(err)
	}
	snap.CodelabEdition, snap.QuizzesEdition = 0, 0
	b = pbwire.Encode(&snap)
	if restored = l.empty(); restored.Restore(l.seq, b) != nil || restored.editions != (Editions{l.seq, l.seq}) {
		t.Errorf("of an old snapshot they are %+v", restored.editions)
	}
}
