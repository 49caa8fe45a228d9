package messages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/room"
)

// Attendees never receive the facilitators' view of a poll, such as drafts. A waiting or hidden
// question reaches no attendee except its author.
func TestRecipientsOfPollsAndQuestions(t *testing.T) {
	asked := func(state pb.QuestionState) *pb.Event {
		return &pb.Event{Body: &pb.Event_QuestionAsked{QuestionAsked: &pb.QuestionAsked{Question: &pb.Question{
			Id: "q", AuthorId: "who-asked", AuthorName: "Who Asked", Anonymous: true, State: state,
		}}}}
	}
	poll := &pb.Poll{Id: "p", Kind: pb.PollKind_POLL_KIND_CHOICE, Secret: "sealed-under", Texts: []string{"a-text"}}
	for name, c := range map[string]struct {
		event *pb.Event
		to    room.Audience
	}{
		"a poll":         {&pb.Event{Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: poll}}}, room.Facilitators},
		"a shown poll":   {&pb.Event{Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: "p", Poll: poll}}}, room.Attendees},
		"a removed poll": {&pb.Event{Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: "p"}}}, room.Attendees},
		"waiting":        {asked(pb.QuestionState_QUESTION_STATE_WAITING), room.FacilitatorsAndPeople},
		"open":           {asked(pb.QuestionState_QUESTION_STATE_OPEN), room.Everyone},
		"answered":       {asked(pb.QuestionState_QUESTION_STATE_ANSWERED), room.Everyone},
		"hidden":         {asked(pb.QuestionState_QUESTION_STATE_HIDDEN), room.Facilitators},
		"hidden again":   {&pb.Event{Body: &pb.Event_QuestionHidden{QuestionHidden: &pb.QuestionHidden{QuestionId: "q"}}}, room.Attendees},
	} {
		f, ok := Frames{}.Encode(7, c.event)
		if !ok || f.Audience != c.to {
			t.Errorf("%s is sent to %v", name, f.Audience)
		}
		for _, secret := range []string{"who-asked", "Who Asked", "sealed-under", "a-text"} {
			if strings.Contains(string(f.Payload), secret) {
				t.Errorf("%s reveals a secret: %s", name, f.Payload)
			}
		}
	}
}

// Each audience receives each visible change of the counts once.
func TestShownCountsAreSentOnce(t *testing.T) {
	lab := newSchool(t).lab
	p := &codelab.PollView{Poll: &pb.Poll{Id: "p", State: pb.PollState_POLL_STATE_OPEN, Counts: []int32{1}}}
	v := &codelab.View{Polls: []*codelab.PollView{p}, Questions: []codelab.QuestionView{
		{Question: &pb.Question{Id: "seen", State: pb.QuestionState_QUESTION_STATE_OPEN}},
		{Question: &pb.Question{Id: "waits"}},
		{Question: &pb.Question{Id: "hidden", State: pb.QuestionState_QUESTION_STATE_HIDDEN}},
	}}
	var last counted
	check := func(what string, attendees bool, want ...room.Audience) (payloads string) {
		t.Helper()
		var got []room.Audience
		for _, f := range last.changes(lab, v, attendees) {
			got, payloads = append(got, f.Audience), payloads+string(f.Payload)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: frames were sent to %v, want %v", what, got, want)
		}
		return payloads
	}
	check("not shown", true, room.Facilitators)
	check("unchanged", true)
	p.Votes++
	check("the attendees are not due", false, room.Facilitators)
	p.Shown = true
	check("shown", true, room.Attendees)
	check("unchanged", true)
	for i := range v.Questions {
		v.Questions[i].Votes = 3
	}
	v.Changed.Questions++
	check("the attendees are not due", false)
	if payloads := check("votes", true, room.Everyone); !strings.Contains(payloads, `"votes":{"seen":3}`) {
		t.Errorf("the frame is %s, want the votes of the open question", payloads)
	}
	v.Changed.Questions++
	check("unchanged votes", true)
	v.Polls = nil
	check("closed", true)
	v.Polls = []*codelab.PollView{p}
	check("open again", true, room.Facilitators, room.Attendees)
}

// However often the votes change, facilitators receive counts four times per second and attendees
// once per second.
func TestCountsAreSentAtTheirRate(t *testing.T) {
	lab := newSchool(t).lab
	admin := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID}
	ask := func(body codelab.Body) any {
		t.Helper()
		v, _, err := lab.Ask(codelab.Command{Caller: admin, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	p := ask(codelab.CreatePoll{Poll: &pb.Poll{Kind: codelab.PollKind("words"), Question: "One word?"}}).(*pb.Poll)
	ask(codelab.OpenPoll{PollID: p.Id})
	ask(codelab.ShowPoll{PollID: p.Id, Shown: true})
	if err := lab.Await(lab.View().Changed.Polls); err != nil {
		t.Fatal(err)
	}
	lab.Room.Join("facilitator")
	clocktest.Bubble(t, func(t *testing.T) {
		var facilitators, attendees int
		from := lab.Room.TransientHead()
		rounds := 0
		g := NewGateway(Config{Codelabs: func() []codelab.Codelab {
			rounds++
			lab.Room.Join(fmt.Sprint(rounds)) // changes the number of people of the poll
			return []codelab.Codelab{lab}
		}})
		time.Sleep(12*time.Second + summaryEvery/2)
		g.Close()
		frames, _, missed := lab.Room.TransientsAfter(from, nil, 1<<20)
		for _, f := range frames {
			switch counts := strings.Contains(string(f.Payload), `"poll_counts"`); {
			case counts && f.Audience == room.Facilitators:
				facilitators++
			case counts && f.Audience == room.Attendees:
				attendees++
			}
		}
		if rounds != 12*4 || missed != 0 || facilitators != 12*4 || attendees != 12 {
			t.Errorf("in 12 s, the gateway looked %d times; facilitators got %d counts, attendees %d; %d were missed; want 48, 48, 12, 0", rounds, facilitators, attendees, missed)
		}
	})
}
