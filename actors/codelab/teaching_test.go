package codelab

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// anyTeachingCommand draws a command of live teaching.
func anyTeachingCommand(t *rapid.T, cmd *Command, step int32, word, whom string) {
	number := proto.Int32(step)
	if rapid.Bool().Draw(t, "none") {
		number = nil
	}
	switch rapid.IntRange(0, 8).Draw(t, "teaching") {
	case 0, 1, 2:
		cmd.Body = SetPulse{State: pb.PulseState(step)}
	case 3:
		p := SetPin{Message: &word}
		if number == nil {
			p.Message = nil
		}
		cmd.Body = p
	case 4, 5:
		cmd.Body = Point{StepNumber: number, Hints: step > 2}
	case 6:
		cmd.Body = OfferHelp{AttendeeID: whom, StepNumber: number, Message: word}
	case 7:
		cmd.Body = PostChat{Message: word, Broadcast: true}
		if step > 3 {
			cmd.Caller, cmd.Body = admin, SetEnded{Ended: step > 4}
		}
	case 8:
		to := rapid.SampledFrom(Audiences).Draw(t, "to")
		cmd.Caller, cmd.Body = admin, PostDirects{Message: word, To: Audience(to), StepNumber: step}
	}
}

// checkFigures verifies that the row in the list agrees with the state.
func checkFigures(t *rapid.T, l *lab) {
	t.Helper()
	if int(l.figures.Attendees) != l.attendees.Len() || l.figures.UpdatedAt != l.updatedAt {
		t.Fatalf("the list has %v; the state has %d attendees, edited at %d", l.figures, l.attendees.Len(), l.updatedAt)
	}
}

// checkTeaching recounts the pulses and verifies that pulses and pointer refer to existing steps.
func checkTeaching(t *rapid.T, s *State) {
	t.Helper()
	var count Pulses
	for _, a := range s.attendees.All() {
		p := a.Pulse
		if count.Count(p.GetState(), +1); p == nil {
			continue
		}
		if p.State == pb.PulseState_PULSE_STATE_NONE || p.StepId != s.stepID(p.StepNumber) || p.At == 0 {
			t.Fatalf("the pulse %v does not fit the steps %v", p, s.steps)
		}
	}
	if count != s.pulses {
		t.Fatalf("pulses are counted as %v, but there are %v", s.pulses, count)
	}
	if p := s.pointer; p != nil && (p.StepId == "" || p.StepId != s.stepID(p.StepNumber)) {
		t.Fatalf("the pointer %v does not fit the steps %v", p, s.steps)
	}
	if s.pin != nil && s.pin.Message == "" {
		t.Fatalf("there is a pin without a message")
	}
}

// taught returns a codelab with two steps and two attendees.
func taught(t *testing.T) (l *lab, ann, bob *pb.Attendee) {
	l = newLab()
	l.create(t, "one", "two")
	return l, l.joins(t, "Ann"), l.joins(t, "Bob")
}

func (l *lab) joins(t *testing.T, name string) *pb.Attendee {
	t.Helper()
	v, err := l.do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return v.(Registration).Attendee
}

// eventKinds executes a command and returns the kinds of its events.
func (l *lab) eventKinds(t *testing.T, cmd Command) (kinds []string) {
	t.Helper()
	from := len(l.events)
	if _, err := l.do(cmd); err != nil {
		t.Fatalf("%T: %v", cmd.Body, err)
	}
	for _, e := range l.events[from:] {
		kinds = append(kinds, fmt.Sprintf("%T", e.Body)[len("*codelabpb.Event_"):])
	}
	return kinds
}

func pulse(a *pb.Attendee, s pb.PulseState) Command {
	return Command{Caller: attendeeCaller(a), Body: SetPulse{State: s}}
}

func goTo(a *pb.Attendee, step int32) Command {
	return Command{Caller: attendeeCaller(a), Body: Progress{StepNumber: step}}
}

func TestLiveTeachingCommandsEmitTheirEvents(t *testing.T) {
	const fine, stuck, none = pb.PulseState_PULSE_STATE_FINE, pb.PulseState_PULSE_STATE_STUCK, pb.PulseState_PULSE_STATE_NONE
	l, ann, bob := taught(t)
	one, two := l.steps[0].Id, l.steps[1].Id
	steps := func(ids ...string) Command {
		r := ReplaceSteps{}
		for _, id := range ids {
			r.Steps = append(r.Steps, &pb.Step{Id: id, Title: "t"})
		}
		return Command{Caller: admin, Body: r}
	}
	point := func(step *int32) Command {
		return Command{Caller: admin, Body: Point{StepNumber: step}}
	}
	pin := func(text *string) Command {
		return Command{Caller: admin, Body: SetPin{Message: text}}
	}
	ended := Command{Caller: admin, Body: SetEnded{Ended: true}}
	for i, tc := range []struct {
		cmd  Command
		want []string
	}{
		{pulse(ann, none), nil},
		{pulse(ann, fine), []string{"Pulsed"}},
		{pulse(ann, fine), nil},
		{pulse(ann, stuck), []string{"Pulsed"}},
		{goTo(ann, 1), []string{"Progressed"}}, // she is already on this step
		{goTo(ann, 2), []string{"Progressed", "Pulsed"}},
		{goTo(ann, 1), []string{"Progressed"}}, // no pulse is left
		{pulse(ann, stuck), []string{"Pulsed"}},
		{pulse(ann, none), []string{"Pulsed"}},
		{pulse(ann, fine), []string{"Pulsed"}},
		{pulse(bob, fine), []string{"Pulsed"}},
		{point(nil), nil},
		{point(proto.Int32(1)), []string{"Pointed"}},
		{point(proto.Int32(1)), []string{"Pointed"}}, // calls people back to the step
		{steps(one, two), []string{"StepsReplaced"}},
		{steps(two, one), []string{"StepsReplaced", "Pointed"}}, // the pointer follows its step
		{steps(two), []string{"StepsReplaced", "Pointed", "Pulsed", "Pulsed"}},
		{pin(nil), nil},
		{pin(proto.String("p")), []string{"Pinned"}},
		{pin(proto.String("p")), nil},
		{pin(nil), []string{"Pinned"}},
		{point(proto.Int32(1)), []string{"Pointed"}},
		{ended, []string{"Updated", "Pointed"}},
		{point(proto.Int32(1)), []string{"Pointed"}},
		{Command{Caller: admin, Body: Update{Title: proto.String("t")}}, []string{"Updated"}},
		{point(nil), []string{"Pointed"}}, // a pointer was set
		{Command{Caller: admin, Body: OfferHelp{AttendeeID: ann.Id}}, []string{"HelpOffered"}},
		{Command{Caller: admin, Body: PostChat{Message: "m", TargetID: ann.Id}}, []string{"ChatPosted"}},
		{Command{Caller: admin, Body: PostChat{Message: "m", Broadcast: true}}, []string{"ChatPosted"}},
		{Command{Caller: admin, Body: Remove{AttendeeID: ann.Id}}, []string{"Removed", "ChatGone"}},
	} {
		if got := l.eventKinds(t, tc.cmd); !slices.Equal(got, tc.want) {
			t.Errorf("command %d, %v, made %v, want %v", i, tc.cmd, got, tc.want)
		}
	}
}

func TestAPinKeepsItsFile(t *testing.T) {
	l, _, _ := taught(t)
	for _, text := range []*string{proto.String("see /uploads/" + image), nil} {
		l.eventKinds(t, Command{Caller: admin, Body: SetPin{Message: text}})
		if kept := l.uses["uploaduses "+image+" lab "+string(files.ByText)]; kept != (text != nil) {
			t.Errorf("with the pin %v, the references are %v", text, l.uses)
		}
	}
}

func TestADeletionRemovesTheListsFigures(t *testing.T) {
	l, _, _ := taught(t)
	if l.figures.GetAttendees() != 2 {
		t.Errorf("the list has the figures %v", l.figures)
	}
	if l.eventKinds(t, Command{Caller: admin, Body: Delete{}}); l.figures != nil {
		t.Errorf("after the deletion, the list has the figures %v", l.figures)
	}
}

func TestInvalidLiveTeachingCommandsAreRejected(t *testing.T) {
	l, ann, bob := taught(t)
	for name, tc := range map[string]struct {
		cmd  Command
		want durable.Reason
	}{
		"a facilitator's pulse":   {Command{Caller: admin, Body: SetPulse{State: 1}}, durable.Forbidden},
		"an unknown state":        {pulse(ann, 4), durable.Invalid},
		"an attendee's broadcast": {Command{Body: PostChat{Message: "m", Broadcast: true}}, durable.Forbidden},
		"an attendee's pin":       {Command{Body: SetPin{Message: proto.String("m")}}, durable.Forbidden},
		"an empty pin":            {Command{Caller: admin, Body: SetPin{Message: proto.String(" ")}}, durable.Invalid},
		"an attendee's pointer":   {Command{Body: Point{StepNumber: proto.Int32(1)}}, durable.Forbidden},
		"a missing step":          {Command{Caller: admin, Body: Point{StepNumber: proto.Int32(3)}}, durable.Invalid},
		"an attendee's offer":     {Command{Body: OfferHelp{AttendeeID: bob.Id}}, durable.Forbidden},
		"an unknown attendee":     {Command{Caller: admin, Body: OfferHelp{AttendeeID: "x"}}, durable.Missing},
	} {
		if tc.cmd.Caller == nil {
			tc.cmd.Caller = attendeeCaller(ann)
		}
		var r *durable.Rejection
		if _, err := l.do(tc.cmd); !errors.As(err, &r) || r.Reason != tc.want {
			t.Errorf("%s: the command returned %v", name, err)
		}
	}
}

// In an earlier version, a command with a reference and two events was acked with the seq of the
// second event. When the command was sent again, the ack had the seq of the first.
func TestARepeatedReferenceGetsTheSeqOfTheLastEvent(t *testing.T) {
	l, ann, _ := taught(t)
	l.eventKinds(t, pulse(ann, 1))
	move := goTo(ann, 2)
	move.Ref = "r"
	l.eventKinds(t, move)
	at := l.seq
	l.eventKinds(t, pulse(ann, 1))
	d, err := l.Decide(move, durable.Env{Now: l.now, Seq: l.seq + 1})
	if err != nil || d.Seq != at || len(d.Events) != 0 {
		t.Errorf("repeated: seq %d with %d events, %v; want seq %d", d.Seq, len(d.Events), err, at)
	}
}

// The number of individual notices is bounded, because a commit has a limit of events, and
// every client receives each of them.
func TestIndividualNoticesAreBounded(t *testing.T) {
	l, ann, _ := taught(t)
	for i := range maxGone + 5 {
		l.applyChat(1, &pb.ChatMessage{Id: fmt.Sprintf("%08d", i), SenderId: ann.Id, Message: "m"})
	}
	gone := call{s: l.State}.chatGone(ann.Id)
	if first, last := gone[0].GetChatGone().MessageId, gone[len(gone)-1].GetChatGone().MessageId; len(gone) != maxGone || first != "00001004" || last != "00000005" {
		t.Errorf("%d notices about messages, from %s to %s", len(gone), first, last)
	}
	for i := range maxGone + 5 {
		l.threads.Append(&pb.Thread{Id: fmt.Sprint(i), Messages: []*pb.Comment{{AuthorId: "another"}, {AuthorId: ann.Id}}})
	}
	if n := len(call{s: l.State}.commentsGone(ann.Id)); n != maxGone || len(call{s: l.State}.commentsGone("nobody")) != 0 {
		t.Errorf("%d notices about threads", n)
	}
	for i := range maxPulseNotices + 5 {
		l.applyRegistered(1, &pb.Attendee{Id: fmt.Sprint("p", i), Name: fmt.Sprint("p", i), CurrentStep: 1, Pulse: &pb.Pulse{State: 1, StepNumber: 1, StepId: l.steps[0].Id}})
	}
	if n := len(call{s: l.State}.pulsesOver(nil)); n != maxPulseNotices {
		t.Errorf("%d notices about pulses", n)
	}
}

// The pin, the pointer, the timer and the projector's content are stored and can be removed.
func TestProjectorAndPinSettingsAreStored(t *testing.T) {
	l, _, _ := taught(t)
	ends := l.now.Add(time.Minute).UnixMilli()
	for _, tc := range []struct {
		body Body
		want string
		is   func(v *View) any
	}{
		{SetPin{Message: proto.String("p")}, fmt.Sprint(&pb.Pin{Message: "p"}), func(v *View) any {
			if v.Pin.GetAt() == 0 && v.Pin != nil {
				return "a pin without a time"
			}
			return &pb.Pin{Message: v.Pin.GetMessage()}
		}},
		{SetPin{}, "<nil>", func(v *View) any { return v.Pin }},
		{Point{StepNumber: proto.Int32(2), Hints: true}, fmt.Sprint(&pb.Pointer{StepNumber: 2, StepId: l.steps[1].Id, By: "Facilitator", Leader: "admin", Hints: true}), func(v *View) any { return v.Pointer }},
		{Point{}, "<nil>", func(v *View) any { return v.Pointer }},
		{SetTimer{Seconds: proto.Int32(60), Label: " l ", Break: true}, fmt.Sprint(&pb.Timer{EndsAt: ends, Label: "l", Break: true, By: "Facilitator", Leader: "admin", TotalSeconds: 60}), func(v *View) any { return v.Timer }},
		{SetTimer{}, "<nil>", func(v *View) any { return v.Timer }},
		{SetSpotlight{Kind: SpotlightTimer, ID: "x"}, fmt.Sprint(&pb.Spotlight{Kind: SpotlightTimer}), func(v *View) any { return v.Spotlight }},
		{SetSpotlight{}, "<nil>", func(v *View) any { return v.Spotlight }},
	} {
		before := l.Capture().Changed.Codelab
		l.must(t, admin, tc.body)
		v := l.Capture()
		if got := fmt.Sprint(tc.is(v)); got != tc.want || v.Changed.Codelab == before {
			t.Errorf("after %T: %s, want %s; the version was %d and is %d", tc.body, got, tc.want, before, v.Changed.Codelab)
		}
	}
}

// A pulse is removed with its step, even if no notice reports it, because the number of notices is
// bounded.
func TestAPulseIsRemovedWithItsStep(t *testing.T) {
	l, ann, bob := taught(t)
	one, two := l.steps[0].Id, l.steps[1].Id
	l.must(t, attendeeCaller(ann), SetPulse{State: pb.PulseState_PULSE_STATE_SLOW})
	l.must(t, attendeeCaller(bob), Progress{StepNumber: 2})
	l.must(t, attendeeCaller(bob), SetPulse{State: pb.PulseState_PULSE_STATE_FINE})
	expect := func(what string, fine, slow int, numbers string) {
		t.Helper()
		v := l.Capture()
		got := fmt.Sprint(v.Attendee(ann.Id).Pulse.GetStepNumber(), v.Attendee(bob.Id).Pulse.GetStepNumber())
		if v.Pulses != (Pulses{Fine: fine, Slow: slow}) || got != numbers {
			t.Errorf("%s: pulses %+v, on the steps %s", what, v.Pulses, got)
		}
	}
	expect("at first", 1, 1, "1 2")
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "new"}, {Id: one, Title: "one"}, {Id: two, Title: "two"}}})
	expect("with a new step before them", 1, 1, "2 3")
	// This event has no individual notices, as for people beyond the bound.
	l.seq++
	l.Apply(l.seq, &pb.Event{Body: &pb.Event_StepsReplaced{StepsReplaced: &pb.StepsReplaced{Steps: []*pb.Step{{Id: two, Title: "two"}}, Follow: true}}})
	expect("without the step of one", 1, 0, "0 1")
}

// The projector shows neither waiting nor hidden questions. Otherwise everybody would see a
// question before a facilitator has approved it.
func TestTheProjectorShowsOnlyPublicQuestions(t *testing.T) {
	for state, shown := range map[pb.QuestionState]bool{
		questionWaiting: false, questionOpen: true, questionAnswered: true, questionHidden: false,
	} {
		l := newLab()
		l.create(t, "one")
		l.must(t, admin, Update{Questions: new(askingChecked)})
		ann := register(t, l, "Ann")
		q := l.must(t, ann, AskQuestion{Text: "why"}).(*pb.Question).Id
		l.must(t, admin, ChangeQuestion{QuestionID: q, State: &state})
		if shown {
			l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: q})
		} else {
			l.refused(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: q}, durable.Conflict, "")
		}
		if got := l.Capture().Spotlight.GetId() == q; got != shown {
			t.Errorf("a question in state %v is on the projector: %v", state, got)
		}
		// A question that attendees can no longer see is removed from the projector.
		if shown {
			for _, later := range []pb.QuestionState{questionWaiting, questionHidden} {
				l.must(t, admin, ChangeQuestion{QuestionID: q, State: &state})
				l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: q})
				l.must(t, admin, ChangeQuestion{QuestionID: q, State: &later})
				if got := l.Capture().Spotlight.GetId(); got != "" {
					t.Errorf("a question that went from %v to %v is still on the projector", state, later)
				}
			}
		}
	}
}
