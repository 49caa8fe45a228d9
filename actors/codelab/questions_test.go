package codelab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/room"
)

// asking returns a codelab with this setting for questions and this number of attendees.
func asking(t *testing.T, how pb.Asking, people int) (*lab, []*Caller) {
	t.Helper()
	l, all := polled(t, people)
	l.must(t, admin, Update{Questions: &how})
	return l, all
}

func (l *lab) ask(t *testing.T, who *Caller, text string) *pb.Question {
	t.Helper()
	return l.must(t, who, AskQuestion{Text: text, Anonymous: true}).(*pb.Question)
}

func TestQuestionsAreOffByDefault(t *testing.T) {
	l, people := polled(t, 1)
	l.refused(t, people[0], AskQuestion{Text: "Why?"}, durable.Conflict, "switched off")
	l.must(t, admin, Update{Questions: askingOpen.Enum(), QuestionsNamed: proto.Bool(true)})
	l.refused(t, people[0], AskQuestion{Text: "Why?", Anonymous: true}, durable.Conflict, "anonymous questions")
	l.refused(t, people[0], AskQuestion{Text: strings.Repeat("x", 501)}, durable.Invalid, "500")
	l.refused(t, people[0], AskQuestion{Text: " "}, durable.Invalid, "required")
	l.refused(t, people[0], AskQuestion{Text: "Why?", StepID: "x"}, durable.Invalid, "step_id")
	l.refused(t, admin, AskQuestion{Text: "Why?"}, durable.Forbidden, "attendees")
	l.must(t, admin, Mute{AttendeeID: people[0].ID, Muted: true})
	l.refused(t, people[0], AskQuestion{Text: "Why?"}, durable.Forbidden, "muted")
}

// Until a facilitator approves a question, no attendee except its author can see it, vote for it or
// delete it.
func TestAQuestionWaitsForApproval(t *testing.T) {
	l, people := asking(t, askingChecked, 2)
	q := l.ask(t, people[0], "Why?")
	v := l.Capture()
	if n := len(v.QuestionsFor(people[1].ID)); n != 0 || len(v.QuestionsFor(people[0].ID)) != 1 || len(v.QuestionsFor("")) != 1 {
		t.Errorf("another attendee sees %d questions, or the author or the facilitators do not see theirs", n)
	}
	l.refused(t, people[1], VoteQuestion{QuestionID: q.Id}, durable.Missing, "not found")
	l.refused(t, people[1], DeleteQuestion{QuestionID: q.Id}, durable.Missing, "not found")
	l.must(t, admin, ChangeQuestion{QuestionID: q.Id, State: questionOpen.Enum()})
	l.must(t, people[1], VoteQuestion{QuestionID: q.Id})
	l.refused(t, people[0], VoteQuestion{QuestionID: q.Id}, durable.Conflict, "your own")
	l.refused(t, people[1], DeleteQuestion{QuestionID: q.Id}, durable.Forbidden, "another")
	answered := l.must(t, admin, ChangeQuestion{QuestionID: q.Id, Answer: proto.String("Because.")}).(*pb.Question)
	if answered.State != questionAnswered || answered.AnsweredBy != "Facilitator" || answered.Votes != 1 {
		t.Errorf("the answered question is %v", answered)
	}
	l.refused(t, people[0], DeleteQuestion{QuestionID: q.Id}, durable.Conflict, "answered")
	l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: q.Id})
	l.must(t, admin, ChangeQuestion{QuestionID: q.Id, State: questionHidden.Enum()})
	v = l.Capture()
	if len(v.QuestionsFor(people[1].ID)) != 0 || v.Spotlight != nil {
		t.Errorf("a hidden question is still visible, the projector shows %v", v.Spotlight)
	}
	if last := l.events[len(l.events)-2]; last.GetQuestionHidden() == nil {
		t.Errorf("no event hides the question from attendees: %v", last)
	}
}

func TestOpenQuestionsOfAPersonAreBounded(t *testing.T) {
	l, people := asking(t, askingOpen, 1)
	var last *pb.Question
	for i := range maxOpenAsked {
		last = l.ask(t, people[0], fmt.Sprint(i))
	}
	l.refused(t, people[0], AskQuestion{Text: "one more"}, durable.Conflict, "not answered yet")
	l.must(t, people[0], DeleteQuestion{QuestionID: last.Id})
	l.ask(t, people[0], "one more")
}

// The remaining question has the voters of both questions, each once, except its own author.
func TestMergedQuestionsCombineTheirVoters(t *testing.T) {
	l, people := asking(t, askingOpen, 4)
	a, b := l.ask(t, people[0], "a"), l.ask(t, people[1], "b")
	for _, who := range []*Caller{people[1], people[2]} {
		l.must(t, who, VoteQuestion{QuestionID: a.Id})
	}
	for _, who := range []*Caller{people[2], people[3]} {
		l.must(t, who, VoteQuestion{QuestionID: b.Id})
	}
	l.refused(t, admin, MergeQuestion{QuestionID: a.Id, Into: a.Id}, durable.Invalid, "another")
	if got := l.must(t, admin, MergeQuestion{QuestionID: a.Id, Into: b.Id}).(*pb.Question); got.Id != b.Id || got.Votes != 3 {
		t.Errorf("the merged question is %v", got) // p0, the author of a, and p2 and p3
	}
	v := l.Capture()
	if len(v.Questions) != 1 || v.Questions[0].Votes != 3 || v.VotedFor(&v.Questions[0], people[1].ID) {
		t.Errorf("after the merge, the questions are %v", v.Questions)
	}
	l.refused(t, admin, ChangeQuestion{QuestionID: a.Id}, durable.Missing, "not found")
}

// The author is stopped until the workshop ends. The event and the audit record contain only the id
// of the question.
func TestStoppedAuthorCannotAsk(t *testing.T) {
	l, people := asking(t, askingOpen, 1)
	q := l.ask(t, people[0], "a")
	l.must(t, admin, StopAsker{QuestionID: q.Id})
	if e := l.events[len(l.events)-1].String(); strings.Contains(e, people[0].ID) || strings.Contains(fmt.Sprint(l.audits[len(l.audits)-1]), people[0].ID) {
		t.Errorf("the event or the audit record contains the author: %s", e)
	}
	l.refused(t, people[0], AskQuestion{Text: "b"}, durable.Conflict, "stopped") // a Conflict, because the audit log records Forbidden with the name
	l.must(t, admin, SetEnded{Ended: true})
	l.must(t, admin, SetEnded{Ended: false})
	l.ask(t, people[0], "b")
}

// An attendee who registers in the browser of a stopped attendee is stopped, too, even after the
// stopped attendee was removed.
func TestStoppedAuthorCannotAskUnderAnotherName(t *testing.T) {
	l, people := asking(t, askingOpen, 2)
	author, other := people[0], people[1]
	l.must(t, admin, StopAsker{QuestionID: l.ask(t, author, "a").Id})
	came := l.must(t, &Caller{Role: RoleAnyone}, Register{Name: "another", Siblings: []string{author.ID}}).(Registration)
	again := attendeeCaller(came.Attendee)
	l.must(t, author, Remove{AttendeeID: author.ID})
	l.refused(t, again, AskQuestion{Text: "b", Siblings: []string{author.ID}}, durable.Conflict, "stopped")
	l.ask(t, other, "c")
}

func TestQuestionsAreTakenFromChatAndHelp(t *testing.T) {
	l, people := asking(t, askingOff, 2)
	message := l.must(t, people[0], PostChat{Message: "Why is that?"}).(*pb.ChatMessage)
	direct := l.must(t, people[0], PostChat{Message: "Psst", TargetID: people[1].ID}).(*pb.ChatMessage)
	help := l.must(t, people[1], AskHelp{StepNumber: 2, Message: "private words"}).(*pb.HelpRequest)
	if q := l.must(t, admin, TakeQuestion{ChatID: message.Id}).(*pb.Question); q.Text != message.Message || q.AuthorName != "p0" || q.Anonymous {
		t.Errorf("the question from the chat is %v", q)
	}
	if q := l.must(t, admin, TakeQuestion{HelpID: help.Id, Text: "How does it start?"}).(*pb.Question); !q.Anonymous || q.Text != "How does it start?" {
		t.Errorf("the question from a help request is %v", q)
	}
	l.refused(t, admin, TakeQuestion{HelpID: help.Id}, durable.Invalid, "required")
	l.refused(t, admin, TakeQuestion{ChatID: direct.Id}, durable.Conflict, "to all")
	l.refused(t, people[0], TakeQuestion{ChatID: message.Id}, durable.Forbidden, "facilitators")
}

// A named question also leaves the log when its author is removed.
func TestADeletedQuestionLeavesTheLog(t *testing.T) {
	l, people := asking(t, askingOpen, 3)
	kept := l.ask(t, people[1], "stays")
	deleted, removed := l.ask(t, people[0], "regret one"), l.must(t, people[2], AskQuestion{Text: "regret two"}).(*pb.Question)
	merged := l.ask(t, people[1], "regret three")
	l.must(t, people[1], VoteQuestion{QuestionID: deleted.Id})
	l.must(t, admin, ChangeQuestion{QuestionID: removed.Id, Answer: proto.String("regret an answer")})
	l.must(t, admin, DeleteQuestion{QuestionID: deleted.Id})
	if last := l.events[len(l.events)-1]; !Erases(last) {
		t.Errorf("the deletion made %v, which does not trigger erasing", last)
	}
	l.must(t, admin, MergeQuestion{QuestionID: merged.Id, Into: kept.Id})
	l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: removed.Id})
	l.must(t, admin, Remove{AttendeeID: people[2].ID})
	v := l.Capture()
	if v.Spotlight != nil {
		t.Error("the question of a removed attendee stays on the projector")
	}
	clean := Erase(v)
	for _, e := range l.events {
		if r, changed := clean(e); changed {
			e = r
		}
		if strings.Contains(e.String(), "regret") {
			t.Errorf("still in the erased log: %v", e)
		}
	}
	if !slices.ContainsFunc(l.events, func(e *pb.Event) bool { return e.GetQuestionDeleted().GetQuestionId() == removed.Id }) {
		t.Error("no event reports the deletion of a removed attendee's question")
	}
}

// When a facilitator removes the author, the anonymous question stays. Removing it would reveal its
// author.
func TestAnAnonymousQuestionStaysWithoutItsAuthor(t *testing.T) {
	l, people := asking(t, askingChecked, 4)
	author := people[0]
	open, waiting := l.ask(t, author, "mine, open"), l.ask(t, author, "mine, waiting")
	others := l.ask(t, people[1], "another's")
	for _, q := range []*pb.Question{open, others} {
		l.must(t, admin, ChangeQuestion{QuestionID: q.Id, State: questionOpen.Enum()})
	}
	for _, who := range people[2:] {
		l.must(t, who, VoteQuestion{QuestionID: open.Id})
	}
	l.must(t, author, VoteQuestion{QuestionID: others.Id})
	l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: open.Id})
	name := l.Capture().Attendee(author.ID).Name
	before := len(l.events)
	l.must(t, admin, Remove{AttendeeID: author.ID})
	v := l.Capture()
	for _, id := range []string{open.Id, waiting.Id} {
		for _, e := range l.events[before:] {
			if strings.Contains(e.String(), id) {
				t.Errorf("an event of the removal contains a question: %v", e)
			}
		}
		if q := v.Question(id); q == nil || q.AuthorId+q.AuthorName != "" || q.LeavesAt != 0 {
			t.Errorf("the question is %v, want it without its author", q)
		}
	}
	if q := v.Question(open.Id); q.State != questionOpen || q.Votes != 2 || v.Spotlight.GetId() != open.Id {
		t.Errorf("the open question is %v", q)
	}
	if q := v.Question(others.Id); q.Votes != 0 {
		t.Errorf("the vote of the removed attendee still counts: %v", q)
	}

	// The log contains the texts but not their author.
	texts := 0
	for _, e := range l.cleaned() {
		if strings.Contains(e.String(), author.ID) || strings.Contains(e.String(), `"`+name+`"`) {
			t.Errorf("the erased log still contains the author: %v", e)
		}
		if strings.Contains(e.String(), "mine, ") {
			texts++
		}
	}
	if texts != 3 { // two events ask the questions, and one opens the first
		t.Errorf("%d events contain the questions, want 3", texts)
	}

	// Stopping the author succeeds as usual but stops nobody.
	events, audits := len(l.events), len(l.audits)
	l.must(t, admin, StopAsker{QuestionID: open.Id})
	if len(l.events) != events || len(l.audits) != audits+1 || len(l.stopped) != 0 {
		t.Errorf("stopping a removed author made %v, stopped %v", l.events[events:], l.stopped)
	}
	l.must(t, admin, SetEnded{Ended: true})
	if l.Capture().Question(open.Id) == nil {
		t.Error("the question was removed when the workshop ended")
	}
}

// The change is decided before the question's author is removed, but applied after the removal.
func TestAChangeAfterARemovalDoesNotRestoreTheAuthor(t *testing.T) {
	l, people := polled(t, 1)
	id := people[0].ID
	q := &pb.Question{Id: "q1", Text: "Why?", AuthorId: id, AuthorName: "p0", Anonymous: true, State: questionWaiting}
	changed := q.Clone()
	changed.State = questionOpen
	for _, e := range []*pb.Event{
		{Body: &pb.Event_QuestionAsked{QuestionAsked: &pb.QuestionAsked{Question: q}}},
		{Body: &pb.Event_Removed{Removed: &pb.Removed{AttendeeId: id}}},
		{Body: &pb.Event_QuestionChanged{QuestionChanged: &pb.QuestionChanged{Question: changed}}},
	} {
		l.seq++
		l.Apply(l.seq, e)
	}
	if got := l.question("q1").rec; got.State != questionOpen || got.AuthorId != "" || got.AuthorName != "" {
		t.Errorf("the question is %v, want it open and without its author", got)
	}
}

func TestFramesOfAQuestionWithoutItsAuthor(t *testing.T) {
	l, people := asking(t, askingChecked, 2)
	waiting, open := l.ask(t, people[0], "a"), l.ask(t, people[0], "b")
	named := l.must(t, people[0], AskQuestion{Text: "c"}).(*pb.Question)
	l.must(t, admin, ChangeQuestion{QuestionID: open.Id, State: questionOpen.Enum()})
	of := func(q *pb.Question, audience room.Audience) room.Frame {
		return room.Frame{People: [2]string{people[0].ID}, Item: q.Id, Audience: audience}
	}
	frames := []room.Frame{of(waiting, room.FacilitatorsAndPeople), of(open, room.Everyone), of(named, room.Everyone)}
	for _, f := range frames {
		if got, ok := l.Capture().Present().Frame(f); !ok || got.People != f.People || got.Audience != f.Audience {
			t.Errorf("before the removal, frame %+v became %+v, %v", f, got, ok)
		}
	}
	l.must(t, admin, Remove{AttendeeID: people[0].ID})
	present := l.Capture().Present()
	for i, want := range []room.Audience{room.Facilitators, room.Everyone} {
		if got, ok := present.Frame(frames[i]); !ok || got.People != [2]string{} || got.Audience != want {
			t.Errorf("frame %+v became %+v, %v", frames[i], got, ok)
		}
	}
	if got, ok := present.Frame(frames[2]); ok {
		t.Errorf("the frame of a named question is still delivered: %+v", got)
	}
}

// Removing the questions person by person would reveal who asked them.
func TestQuestionsOfErasedPeopleAreRemovedTogether(t *testing.T) {
	for how, leave := range map[string]func(who *Caller) (*Caller, Body){
		"themselves":       func(who *Caller) (*Caller, Body) { return who, Remove{AttendeeID: who.ID} },
		"by a facilitator": func(who *Caller) (*Caller, Body) { return admin, Remove{AttendeeID: who.ID, Erase: true} },
	} {
		t.Run(how, func(t *testing.T) {
			began := func() (*lab, []*pb.Question) {
				l, people := asking(t, askingOpen, 3)
				var asked []*pb.Question
				for i, who := range people {
					asked = append(asked, l.ask(t, who, fmt.Sprint("regret ", i)))
				}
				for _, who := range people[:2] {
					by, body := leave(who)
					l.must(t, by, body)
					l.now = l.now.Add(time.Hour)
				}
				return l, asked
			}
			gone := func(when string, l *lab, asked []*pb.Question, want bool) {
				t.Helper()
				v := l.Capture()
				if v.Question(asked[2].Id) == nil {
					t.Errorf("%s: the question of the remaining attendee is gone", when)
				}
				for i, q := range asked[:2] {
					there := v.Question(q.Id)
					if (there == nil) != want || there != nil && there.AuthorId != "" {
						t.Errorf("%s: a removed attendee's question is %v", when, there)
					}
					for _, e := range l.cleaned() {
						if want && strings.Contains(e.String(), fmt.Sprint("regret ", i)) {
							t.Errorf("%s: still in the erased log: %v", when, e)
						}
					}
				}
			}
			l, asked := began()
			if v := l.Capture(); v.Question(asked[0].Id).LeavesAt != v.Question(asked[1].Id).LeavesAt {
				t.Error("the questions of two removed attendees are not removed at the same time")
			}
			l.now = l.now.Add(questionsStay - 2*time.Hour - time.Millisecond)
			l.must(t, system, DropQuestions{})
			gone("just before a day has passed", l, asked, false)
			l.now = l.now.Add(time.Millisecond)
			l.must(t, system, DropQuestions{})
			gone("a day after the first", l, asked, true)
			l, asked = began()
			l.must(t, admin, SetEnded{Ended: true})
			gone("at the end", l, asked, true)
		})
	}
}

// After any votes, merges and removals, a question has the votes of the remaining people who voted
// for it.
func TestQuestionVotesAreCorrectAfterAnyCommands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, people := asking(t, askingOpen, 5)
		votes := map[string]map[string]bool{} // question to voters
		author := map[string]string{}
		gone := map[string]bool{}
		for range rapid.IntRange(1, 50).Draw(rt, "commands") {
			who := rapid.SampledFrom(people).Draw(rt, "who")
			ids := []string{"nothing"}
			for _, q := range l.questions {
				ids = append(ids, q.rec.Id)
			}
			id, other := rapid.SampledFrom(ids).Draw(rt, "question"), rapid.SampledFrom(ids).Draw(rt, "other")
			switch rapid.IntRange(0, 6).Draw(rt, "kind") {
			case 0, 1:
				if v, err := l.do(Command{Caller: who, Body: AskQuestion{Text: "q"}}); err == nil {
					q := v.(*pb.Question)
					votes[q.Id], author[q.Id] = map[string]bool{}, who.ID
				}
			case 2, 3, 4:
				back := rapid.IntRange(0, 3).Draw(rt, "back") == 0
				if _, err := l.do(Command{Caller: who, Body: VoteQuestion{QuestionID: id, Withdrawn: back}}); err == nil {
					votes[id][who.ID] = !back
				}
			case 5:
				if _, err := l.do(Command{Caller: admin, Body: MergeQuestion{QuestionID: id, Into: other}}); err == nil {
					for v, yes := range votes[id] {
						votes[other][v] = votes[other][v] || yes
					}
					votes[other][author[id]] = true
					votes[other][author[other]] = false
					delete(votes, id)
				}
			case 6:
				if rapid.IntRange(0, 3).Draw(rt, "remove") == 0 {
					_, _ = l.do(Command{Caller: admin, Body: Remove{AttendeeID: who.ID}})
					gone[who.ID] = true
					for id, a := range author {
						if a == who.ID {
							delete(votes, id)
						}
					}
				}
			}
			v := l.Capture()
			if len(v.Questions) != len(votes) {
				rt.Fatalf("there are %d questions, want %d", len(v.Questions), len(votes))
			}
			for i := range v.Questions {
				q, n := &v.Questions[i], int32(0)
				for _, who := range people {
					want := votes[q.Id][who.ID] && !gone[who.ID]
					if want {
						n++
					}
					if v.VotedFor(q, who.ID) != want {
						rt.Fatalf("vote of %s for %s is counted: %v", who.Name, q.Id, !want)
					}
				}
				if q.Votes != n {
					rt.Fatalf("the question has %d votes, want %d", q.Votes, n)
				}
			}
		}
		same(rt, "full replay", replay(l.empty(), 0, l.events), l.State)
	})
}

func TestTheTimerUsesTheServersTime(t *testing.T) {
	l, people := polled(t, 1)
	l.refused(t, people[0], SetTimer{Seconds: proto.Int32(60)}, durable.Forbidden, "facilitators")
	for _, seconds := range []int32{4, 14_401} {
		l.refused(t, admin, SetTimer{Seconds: &seconds}, durable.Invalid, "5 to 14400")
	}
	l.refused(t, admin, SetTimer{Seconds: proto.Int32(60), Label: strings.Repeat("x", 81)}, durable.Invalid, "80")
	for _, seconds := range []int32{5, 14_400} {
		l.must(t, admin, SetTimer{Seconds: &seconds})
	}
	l.must(t, admin, SetTimer{Seconds: proto.Int32(60), Label: "Try it", Break: true})
	timer := l.Capture().Timer
	if timer.EndsAt != l.now.UnixMilli()+60_000 || timer.TotalSeconds != 60 || !timer.Break || timer.By != "Facilitator" {
		t.Errorf("the timer is %v", timer)
	}
	// The same exercise gets one more minute.
	l.now = l.now.Add(30 * time.Second)
	later := timer.EndsAt + 60_000
	l.must(t, admin, SetTimer{EndsAt: &later, Label: "Try it", Break: true})
	if timer := l.Capture().Timer; timer.EndsAt != later || timer.TotalSeconds != 120 {
		t.Errorf("one minute longer, the timer is %v", timer)
	}
	// After the timer has ended, the same exercise starts a new one.
	l.now = time.UnixMilli(later).Add(time.Second)
	next := l.now.Add(time.Minute).UnixMilli()
	l.must(t, admin, SetTimer{EndsAt: &next, Label: "Try it", Break: true})
	if timer := l.Capture().Timer; timer.TotalSeconds != 60 {
		t.Errorf("the new timer is %v", timer)
	}
	l.must(t, admin, SetTimer{})
	if l.Capture().Timer != nil {
		t.Error("the timer is not cleared")
	}
	l.must(t, admin, SetTimer{Seconds: proto.Int32(60)})
	l.must(t, admin, SetEnded{Ended: true})
	if l.Capture().Timer != nil {
		t.Error("the timer still runs after the end of the workshop")
	}
}

func TestOnlyOpenQuestionsGetVotes(t *testing.T) {
	l, people := asking(t, askingOpen, 2)
	q := l.ask(t, people[0], "a")
	l.must(t, admin, ChangeQuestion{QuestionID: q.Id, State: questionAnswered.Enum()}) // answered aloud, without a text
	l.refused(t, people[1], VoteQuestion{QuestionID: q.Id}, durable.Conflict, "not open")
	l.must(t, admin, ChangeQuestion{QuestionID: q.Id, State: questionHidden.Enum()})
	l.refused(t, people[1], VoteQuestion{QuestionID: q.Id}, durable.Missing, "not found")
	l.refused(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: q.Id}, durable.Conflict, "do not see")
	l.refused(t, admin, VoteQuestion{QuestionID: q.Id}, durable.Forbidden, "attendees")
	if n := len(l.Capture().QuestionsFor(people[0].ID)); n != 0 {
		t.Errorf("the author sees %d hidden questions", n)
	}
}

func TestQuestionsOfACodelabAreBounded(t *testing.T) {
	l, people := asking(t, askingOpen, 1)
	for len(l.questions) < maxQuestions {
		l.questions = append(l.questions, &question{rec: &pb.Question{AuthorId: "somebody"}})
	}
	l.refused(t, people[0], AskQuestion{Text: "one more"}, durable.Conflict, "at most 500")
}

// Only messages of attendees to everyone become questions, and only authors of anonymous questions
// can be stopped.
func TestOnlyAttendeesMessagesToAllBecomeQuestions(t *testing.T) {
	l, people := asking(t, askingOpen, 1)
	message := l.must(t, admin, PostChat{Message: "to all"}).(*pb.ChatMessage)
	cast := l.must(t, admin, PostChat{Message: "to all", Broadcast: true}).(*pb.ChatMessage)
	for _, m := range []*pb.ChatMessage{message, cast} {
		l.refused(t, admin, TakeQuestion{ChatID: m.Id}, durable.Conflict, "an attendee")
	}
	l.refused(t, admin, TakeQuestion{ChatID: "nothing"}, durable.Missing, "message")
	named := l.must(t, people[0], AskQuestion{Text: "a"}).(*pb.Question)
	l.refused(t, admin, StopAsker{QuestionID: named.Id}, durable.Conflict, "mute")
	l.ask(t, people[0], "b")
}

// A merged question no longer exists, so a chain of merges cannot return to it.
func TestQuestionsCannotBeMergedInACycle(t *testing.T) {
	l, people := asking(t, askingOpen, 4)
	var asked []*pb.Question
	for _, who := range people {
		asked = append(asked, l.ask(t, who, "why"))
	}
	for i := range 3 {
		l.must(t, admin, MergeQuestion{QuestionID: asked[i].Id, Into: asked[i+1].Id})
	}
	l.refused(t, admin, MergeQuestion{QuestionID: asked[3].Id, Into: asked[0].Id}, durable.Missing, "into")
	l.refused(t, admin, MergeQuestion{QuestionID: asked[0].Id, Into: asked[3].Id}, durable.Missing, "not found")
	if q := l.Capture().Questions; len(q) != 1 || q[0].Votes != 3 {
		t.Errorf("after the merges, the questions are %v", q)
	}
}

// A vote that was decided before the removal of its voter, but is applied after it, does not count.
func TestAVoteOfARemovedAttendeeDoesNotCount(t *testing.T) {
	l, people := asking(t, askingOpen, 2)
	q := l.ask(t, people[0], "Why?")
	l.must(t, admin, Remove{AttendeeID: people[1].ID})
	l.seq++
	l.Apply(l.seq, &pb.Event{Body: &pb.Event_QuestionVoted{QuestionVoted: &pb.QuestionVoted{QuestionId: q.Id, AttendeeId: people[1].ID}}})
	if n := l.Capture().Question(q.Id).Votes; n != 0 {
		t.Errorf("the question has %d votes, want 0", n)
	}
}
