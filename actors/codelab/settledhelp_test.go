package codelab

import (
	"fmt"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
)

// A codelab keeps a bounded number of settled requests and drops the oldest. A person who has
// waited longer than all of them keeps their place in the queue.
func TestOnlySettledRequestsAreDropped(t *testing.T) {
	l, people := polled(t, 3)
	seq := l.seq
	ask := func(n int, who *Caller) string {
		seq++
		h := &pb.HelpRequest{Id: fmt.Sprintf("help %08d", n), AttendeeId: who.ID, Status: pending, StepNumber: 1}
		l.applyHelpAsked(seq, h)
		return h.Id
	}
	first := ask(0, people[0])
	second := ask(1, people[1])
	seq++
	l.applyHelpClaimed(seq, 1, &pb.HelpClaimed{HelpId: second, By: "Ada"})
	last := ""
	const most = maxSettledHelp + maxSettledHelp/10
	for n := range most + 1 {
		last = ask(2+n, people[2])
		seq++
		l.applyHelpResolved(seq, 1, &pb.HelpResolved{HelpId: last})
		if left := l.help.Len(); n < most && left != 3+n {
			t.Fatalf("after %d settled requests, there are %d requests", n+1, left)
		}
	}
	v := l.Capture()
	if n := v.Help.Len(); n != maxSettledHelp+2 {
		t.Fatalf("there are %d requests", n)
	}
	for i, want := range []string{first, second} {
		if h := v.Help.At(i); h.Id != want || h.Status == resolved {
			t.Errorf("request %d is %v, want the open %s", i+1, h, want)
		}
	}
	if h := v.Help.At(v.Help.Len() - 1); h.Id != last || h.Status != resolved {
		t.Errorf("the newest request is %v, want %s", h, last)
	}
	// Both open requests are still found: asking again updates the open request instead of adding
	// another.
	for _, who := range people[:2] {
		if h := l.must(t, who, AskHelp{StepNumber: 2}).(*pb.HelpRequest); h.Id != first && h.Id != second || h.StepNumber != 2 {
			t.Errorf("asking again returned %v", h)
		}
	}
}
