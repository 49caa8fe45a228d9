package codelab

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

func TestDirectsReachTheirAudience(t *testing.T) {
	const stuck, fine = pb.PulseState_PULSE_STATE_STUCK, pb.PulseState_PULSE_STATE_FINE
	l := newLab()
	l.create(t, "one", "two")
	ann, bob, cem, dora := l.joins(t, "Ann"), l.joins(t, "Bob"), l.joins(t, "Cem"), l.joins(t, "Dora")
	l.eventKinds(t, pulse(ann, stuck))
	l.eventKinds(t, goTo(bob, 2))
	l.eventKinds(t, pulse(bob, stuck))
	l.eventKinds(t, pulse(cem, fine))
	l.eventKinds(t, Command{Caller: attendeeCaller(cem), Body: AskHelp{StepNumber: 1}})
	l.eventKinds(t, Command{Caller: attendeeCaller(ann), Body: AskHelp{StepNumber: 1}})
	l.eventKinds(t, Command{Caller: admin, Body: ClaimHelp{HelpID: l.help.At(1).Id}})
	l.eventKinds(t, Command{Caller: admin, Body: Mute{AttendeeID: ann.Id, Muted: true}})
	l.eventKinds(t, goTo(dora, 2))
	l.eventKinds(t, Command{Caller: attendeeCaller(dora), Body: Complete{}})
	for _, tc := range []struct {
		to   Audience
		step int32
		want []string
	}{
		{ToStuck, 0, []string{ann.Id, bob.Id}}, // muted people, too
		{ToStuck, 2, []string{bob.Id}},
		{ToWaiting, 0, []string{cem.Id}}, // nobody helps Cem yet
		{ToWaiting, 2, nil},
		{ToStep, 1, []string{ann.Id, cem.Id}},
		{ToStep, 2, []string{bob.Id}}, // Dora has completed
	} {
		from := len(l.events)
		v, err := l.do(Command{Caller: admin, Body: PostDirects{Message: "m", To: tc.to, StepNumber: tc.step}})
		var got []string
		for _, e := range l.events[from:] {
			m := e.GetChatPosted().GetMessage()
			if m.GetSenderId() != FacilitatorID || m.GetMessage() != "m" || m.GetBroadcast() {
				t.Errorf("%s %d: the event is %v", tc.to, tc.step, e)
			}
			got = append(got, m.GetTargetId())
		}
		if err != nil || !slices.Equal(got, tc.want) || v.(DirectsPosted).Sent != len(tc.want) {
			t.Errorf("%s on step %d reaches %v (%v, %v), want %v", tc.to, tc.step, got, v, err, tc.want)
		}
	}
	l.eventKinds(t, Command{Caller: admin, Body: Remove{AttendeeID: bob.Id}})
	if v, err := l.do(Command{Caller: admin, Body: PostDirects{Message: "m", To: ToStuck}}); err != nil || v.(DirectsPosted).Sent != 1 {
		t.Errorf("after the removal of one of two stuck people, the reply is %v, %v", v, err)
	}
}

func TestInvalidDirectsAreRejectedAsAWhole(t *testing.T) {
	l, ann, _ := taught(t)
	from := l.seq
	for name, tc := range map[string]struct {
		by   *Caller
		body PostDirects
		want durable.Reason
	}{
		"an attendee":         {attendeeCaller(ann), PostDirects{Message: "m", To: ToStep, StepNumber: 1}, durable.Forbidden},
		"no text":             {admin, PostDirects{Message: " ", To: ToStep, StepNumber: 1}, durable.Invalid},
		"no audience":         {admin, PostDirects{Message: "m"}, durable.Invalid},
		"an unknown audience": {admin, PostDirects{Message: "m", To: "all"}, durable.Invalid},
		"no step":             {admin, PostDirects{Message: "m", To: ToStep}, durable.Invalid},
		"a missing step":      {admin, PostDirects{Message: "m", To: ToStuck, StepNumber: 3}, durable.Invalid},
	} {
		var r *durable.Rejection
		if _, err := l.do(Command{Caller: tc.by, Body: tc.body}); !errors.As(err, &r) || r.Reason != tc.want {
			t.Errorf("%s: rejected with %v", name, err)
		}
	}
	for i := range maxDirects - 2 {
		l.applyRegistered(l.seq, &pb.Attendee{Id: fmt.Sprintf("p%04d", i), Name: fmt.Sprint("p", i), CurrentStep: 1})
	}
	all := Command{Caller: admin, Body: PostDirects{Message: "m", To: ToStep, StepNumber: 1}}
	d, err := l.Decide(all, durable.Env{Now: l.now, Seq: l.seq + 1})
	if err != nil || len(d.Events) != maxDirects {
		t.Errorf("a message to %d recipients makes %d events, %v", maxDirects, len(d.Events), err)
	}
	l.applyRegistered(l.seq, &pb.Attendee{Id: "q", Name: "q", CurrentStep: 1})
	var r *durable.Rejection
	if _, err := l.do(all); !errors.As(err, &r) || r.Reason != durable.Conflict || r.Text != "this message has 1001 recipients, but the maximum is 1000: send a broadcast, or choose a step" {
		t.Errorf("one recipient too many: %v", err)
	}
	for _, e := range l.events[from:] {
		if e.GetChatPosted() != nil {
			t.Fatalf("a rejected command posted %v", e)
		}
	}
}

func TestDirectsWithARefAreSentOnce(t *testing.T) {
	l, _, _ := taught(t)
	send := Command{Caller: admin, Ref: "r", Body: PostDirects{Message: "m", To: ToStep, StepNumber: 1}}
	l.eventKinds(t, send)
	at := l.seq
	d, err := l.Decide(send, durable.Env{Now: l.now, Seq: l.seq + 1})
	if err != nil || d.Seq != at || len(d.Events) != 0 || d.Reply != nil {
		t.Errorf("repeated: seq %d, %d events, reply %v, %v; want seq %d", d.Seq, len(d.Events), d.Reply, err, at)
	}
}

func TestDirectsKeepTheFilesThatTheyMention(t *testing.T) {
	l, _, _ := taught(t)
	l.eventKinds(t, Command{Caller: admin, Body: PostDirects{Message: "See " + files.Folder + image, To: ToStuck}})
	key := "uploaduses " + image + " lab " + string(files.ByTalk)
	if l.uses[key] {
		t.Error("a message without recipients keeps a file")
	}
	l.eventKinds(t, Command{Caller: admin, Body: PostDirects{Message: "See " + files.Folder + image, To: ToStep, StepNumber: 1}})
	if !l.uses[key] {
		t.Errorf("the direct message's image has no reference: %v", l.uses)
	}
	for _, m := range list(l.chat.Capture()) {
		l.eventKinds(t, Command{Caller: admin, Body: DeleteChat{MessageID: m.Id}})
	}
	if l.uses[key] {
		t.Error("the file is kept after its messages were removed")
	}
}
