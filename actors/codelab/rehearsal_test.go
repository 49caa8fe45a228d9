package codelab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/webhook"
)

// rehearses starts a rehearsal and registers simulated attendees with these names.
func (l *lab) rehearses(t *testing.T, force bool, names ...string) (all []*Caller) {
	t.Helper()
	l.must(t, admin, StartRehearsal{People: int32(max(len(names), 1)), Minutes: 5, Force: force})
	for _, name := range names {
		all = append(all, attendeeCaller(l.must(t, system, Register{Name: name, Simulated: true}).(Registration).Attendee))
	}
	return all
}

// peopleNames returns the names of the attendees, with a star for simulated ones.
func (l *lab) peopleNames() string {
	out := []string{}
	for _, a := range l.Capture().Attendees.All() {
		out = append(out, a.Name+map[bool]string{true: "*"}[a.Simulated])
	}
	return strings.Join(out, " ")
}

func TestTheLimitsOfARehearsal(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	lin := register(t, l, "Lin")
	for _, b := range []StartRehearsal{{People: 0, Minutes: 1}, {People: 61, Minutes: 1}, {People: 1, Minutes: 0}, {People: 1, Minutes: 61}} {
		l.refused(t, admin, b, durable.Invalid, "must be 1 to 60")
	}
	l.refused(t, lin, StartRehearsal{People: 1, Minutes: 1}, durable.Forbidden, "")
	l.refused(t, admin, StartRehearsal{People: 1, Minutes: 1, Connected: 1}, durable.Conflict, "connected")
	l.refused(t, admin, EndRehearsal{}, durable.Missing, "")
	l.refused(t, system, Register{Name: "Ann", Simulated: true}, durable.Conflict, "")
	l.must(t, admin, SetRegistration{Open: false})
	l.rehearses(t, true, "Ann")
	l.refused(t, admin, StartRehearsal{People: 1, Minutes: 1}, durable.Conflict, "already running")
	l.refused(t, system, Register{Name: "Bob", Simulated: true}, durable.Conflict, "")
	l.refused(t, admin, Register{Name: "Bob", Simulated: true}, durable.Forbidden, "")
	l.refused(t, lin, EndRehearsal{}, durable.Forbidden, "")
	if kinds := l.eventKinds(t, Command{Caller: system, Body: EndRehearsal{StartedAt: 1}}); len(kinds) != 0 {
		t.Error("EndRehearsal for another rehearsal made", kinds)
	}
	l.must(t, admin, EndRehearsal{})
	l.must(t, admin, SetEnded{Ended: true})
	l.refused(t, admin, StartRehearsal{People: 1, Minutes: 1}, durable.Conflict, "has ended")
}

// In whichever way a rehearsal ends, all data of its simulated attendees is removed, and all other
// data stays.
func TestARehearsalLeavesNothing(t *testing.T) {
	for how, end := range map[string]func(*lab){
		"by a facilitator": func(l *lab) { l.must(t, admin, EndRehearsal{}) },
		"at its end":       func(l *lab) { l.must(t, system, EndRehearsal{Why: rehearsalTime}) },
		"by the workshop's end": func(l *lab) {
			l.must(t, admin, SetEnded{Ended: true})
		},
		"by a registration": func(l *lab) {
			who := l.must(t, &Caller{Role: RoleAnyone}, Register{Name: "Ann"}).(Registration).Attendee
			if who.Name != "Ann" || who.Simulated {
				t.Error("the registered attendee is", who)
			}
			l.must(t, admin, Remove{AttendeeID: who.Id, Erase: true})
		},
	} {
		t.Run(how, func(t *testing.T) {
			l := newLab()
			l.create(t, "one", "two")
			asking := pb.Asking_ASKING_OPEN
			l.must(t, admin, Update{Questions: &asking})
			lin := register(t, l, "Lin")
			mine := l.must(t, lin, AskQuestion{Text: "Mine?", Anonymous: true}).(*pb.Question)
			open, closed, other := l.newPoll(t, choicePoll(false)), l.newPoll(t, choicePoll(false)), l.newPoll(t, choicePoll(false))
			l.must(t, admin, OpenPoll{PollID: other.Id})
			l.must(t, lin, choose(other, 1))
			before := l.peopleNames()

			crowd := l.rehearses(t, false, "Ann", "Bob")
			ann, bob := crowd[0], crowd[1]
			l.must(t, admin, OpenPoll{PollID: closed.Id})
			l.must(t, ann, choose(closed, 1))
			l.must(t, admin, OpenPoll{PollID: open.Id})
			l.must(t, bob, choose(open, 2))
			l.must(t, lin, choose(open, 2))
			l.must(t, ann, AskQuestion{Text: "Whose?", Anonymous: true})
			l.must(t, bob, AskQuestion{Text: "Bob's?"})
			l.must(t, bob, VoteQuestion{QuestionID: mine.Id})
			l.must(t, ann, AskHelp{StepNumber: 1, Message: "help"})
			l.must(t, ann, PostChat{Message: "hi"})
			l.must(t, admin, PostChat{Message: "to Ann", TargetID: ann.ID})
			l.must(t, bob, Progress{StepNumber: 2})
			l.must(t, bob, SetPulse{State: pb.PulseState_PULSE_STATE_STUCK})
			l.must(t, bob, GiveFeedback{Difficulty: "1", Satisfaction: "2"})
			l.must(t, bob, Complete{})

			end(l)
			v := l.Capture()
			if got := l.peopleNames(); got != before {
				t.Errorf("the attendees are %q, want %q", got, before)
			}
			if v.Meta.Rehearsal != nil || l.simulated != 0 || v.Chat.Len()+v.Help.Len()+v.Feedback.Len() != 0 || v.Completed != 0 {
				t.Errorf("left: %v, %d messages, %d requests, %d feedbacks, %d completed", v.Meta.Rehearsal, v.Chat.Len(), v.Help.Len(), v.Feedback.Len(), v.Completed)
			}
			if len(v.Questions) != 1 || v.Questions[0].Id != mine.Id || v.Questions[0].Votes != 0 {
				t.Errorf("the questions are %v", v.Questions)
			}
			for _, p := range []*pb.Poll{open, closed} {
				if now := v.Poll(p.Id); now.State != pollDraft || now.Votes != 0 || now.Round != 2 || now.Rehearsed {
					t.Errorf("a poll with simulated votes is %v, want a draft in round 2", now)
				}
			}
			if p := v.Poll(other.Id); p.Votes != 1 {
				t.Errorf("the other poll has %d votes, want 1", p.Votes)
			}
			// The erased log does not contain the simulated attendees either.
			erase := Erase(v)
			for _, e := range l.events {
				if out, changed := erase(e); changed {
					e = out
				}
				for _, who := range []string{ann.ID, bob.ID} {
					if strings.Contains(fmt.Sprint(e), who) {
						t.Errorf("the erased log still contains %v", e)
					}
				}
			}
		})
	}
}

// A real person can take the name of a simulated attendee, who then gets another one.
func TestRealPeopleCanTakeNamesOfSimulatedOnes(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.rehearses(t, true, "Ann", "Ann 2")
	someone := &Caller{Role: RoleAnyone}
	l.must(t, someone, Register{Name: "ann", PINHash: []byte("1")})
	if got := l.peopleNames(); got != "Ann 3* Ann 2* ann" {
		t.Errorf("the attendees are %q", got)
	}
	lin := l.must(t, someone, Register{Name: "Lin"}).(Registration).Attendee
	l.must(t, admin, Rename{AttendeeID: lin.Id, Name: "Ann 2"})
	if got := l.peopleNames(); got != "Ann 3* Ann 2 2* ann Ann 2" {
		t.Errorf("the attendees are %q", got)
	}
	l.refused(t, system, Register{Name: "Lin", Simulated: true}, durable.Conflict, "has ended")
	ann3 := l.Capture().Attendees.At(0)
	l.refused(t, admin, Rename{AttendeeID: ann3.Id, Name: "ann"}, durable.Conflict, "another attendee")
	l.refused(t, admin, ResetPin{Pins: []NewPin{{AttendeeID: ann3.Id, Hash: []byte("1")}}}, durable.Conflict, "simulated")
	l.must(t, admin, EndRehearsal{})
	if got := l.peopleNames(); got != "ann Ann 2" {
		t.Errorf("the attendees are %q", got)
	}
}

// Simulated attendees vote in an anonymous poll only among themselves. No result mixes their votes
// with the votes of real people.
func TestSimulatedAttendeesStayOutOfAnonymousPolls(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	crowd := l.rehearses(t, true, "A", "B", "C", "D", "E")
	p := l.newPoll(t, choicePoll(true))
	l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret})
	for _, who := range crowd {
		l.must(t, who, choose(p, 0))
	}
	if got := l.must(t, admin, ClosePoll{PollID: p.Id}).(*pb.Poll); got.Votes != 5 || got.TooFew {
		t.Errorf("with simulated votes only, the closed poll is %v", got)
	}
	lin := attendeeCaller(l.must(t, &Caller{Role: RoleAnyone}, Register{Name: "Lin"}).(Registration).Attendee)
	p = l.Capture().Poll(p.Id).Poll
	if p.State != pollDraft || p.Votes != 0 {
		t.Errorf("after a real person registered, the poll is %v", p)
	}
	l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret})
	l.refused(t, crowd[0], choose(p, 0), durable.Forbidden, "anonymous")
	l.must(t, lin, choose(p, 1))
	l.must(t, admin, Remove{AttendeeID: lin.ID})
	l.refused(t, crowd[0], choose(p, 0), durable.Forbidden, "anonymous")
	l.must(t, admin, EndRehearsal{})
	if got := l.must(t, admin, ClosePoll{PollID: p.Id}).(*pb.Poll); got.Votes != 1 || !got.TooFew {
		t.Errorf("with one real vote, the closed poll is %v", got)
	}
}

// A vote still counts as simulated after a facilitator has removed its voter.
func TestAnAnonymousPollIsResetEvenWithoutItsSimulatedVoter(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	crowd := l.rehearses(t, false, "A")
	p := l.newPoll(t, choicePoll(true))
	l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret})
	l.must(t, crowd[0], choose(p, 0))
	l.must(t, admin, Remove{AttendeeID: crowd[0].ID})
	l.must(t, admin, EndRehearsal{})
	if p := l.Capture().Poll(p.Id); p.State != pollDraft || p.Votes != 0 {
		t.Errorf("the poll is %v, want a draft without votes", p)
	}
}

// Only the codelab's own data contains simulated attendees. The list's figures, the audit trail and
// webhooks do not contain them.
func TestSimulatedAttendeesLeaveNoRows(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	lin := register(t, l, "Lin")
	before, figures := len(l.audits), l.figures.String()
	crowd := l.rehearses(t, true, "A", "B")
	l.must(t, crowd[0], Complete{})
	l.must(t, crowd[0], GiveFeedback{Difficulty: "1", Satisfaction: "2"})
	l.must(t, admin, Mute{AttendeeID: crowd[0].ID, Muted: true})
	asked := l.must(t, crowd[1], AskHelp{StepNumber: 1}).(*pb.HelpRequest)
	l.must(t, admin, ClaimHelp{HelpID: asked.Id})
	l.must(t, admin, ReleaseHelp{HelpID: asked.Id})
	l.must(t, admin, ResolveHelp{HelpID: asked.Id})
	l.must(t, admin, OfferHelp{AttendeeID: crowd[0].ID})
	message := l.must(t, crowd[1], PostChat{Message: "Hello"}).(*pb.ChatMessage)
	l.must(t, admin, DeleteChat{MessageID: message.Id})
	l.must(t, admin, Remove{AttendeeID: crowd[1].ID})
	if l.figures.String() != figures {
		t.Errorf("the list's figures are %v, want %v", l.figures, figures)
	}
	l.must(t, lin, Complete{})
	l.must(t, admin, EndRehearsal{})
	actions := []string{}
	for _, r := range l.audits[before:] {
		actions = append(actions, r.Action)
	}
	if want := []string{"rehearsal_start", "codelab_complete", "rehearsal_end"}; !slices.Equal(actions, want) {
		t.Errorf("the audit trail has %q, want %q", actions, want)
	}
	if l.figures.String() != figures {
		t.Errorf("after the rehearsal the list's figures are %v, want %v", l.figures, figures)
	}
}

func TestWebhooksReportNoSimulatedAttendees(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	register(t, l, "Lin")
	crowd := l.rehearses(t, true, "A")
	l.must(t, crowd[0], Complete{})
	ended := l.meta.Clone()
	ended.EndedAt = 1
	for _, e := range []*pb.Event{
		{Body: &pb.Event_Registered{Registered: &pb.Registered{Attendee: &pb.Attendee{Id: "x", Simulated: true}}}},
		{Body: &pb.Event_HelpAsked{HelpAsked: &pb.HelpAsked{Request: &pb.HelpRequest{AttendeeId: crowd[0].ID}}}},
		{Body: &pb.Event_Updated{Updated: &pb.Updated{Codelab: ended}}},
	} {
		kind, data := l.webhookEvent(e)
		switch {
		case kind == webhook.WorkshopEnded:
			if data.Attendees != 1 || data.Completed != 0 {
				t.Errorf("the end of the workshop is reported with %v", data)
			}
		case kind != "":
			t.Errorf("a webhook event of a simulated attendee: %s %v", kind, data)
		}
	}
}
