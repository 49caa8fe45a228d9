package codelab

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/internal/pbwire"
)

// marks are the names, addresses, hashes and texts of one person. Each of them is unique.
type marks struct {
	id     string
	values []string
	made   int
}

// mark makes a text of this person and records it.
func (m *marks) mark(what string) string {
	m.made++
	v := fmt.Sprintf("%s-%d-of-%s", what, m.made, m.values[0])
	m.values = append(m.values, v)
	return v
}

// personCommand draws a command by one person, or by a facilitator about this person.
func personCommand(t *rapid.T, l *lab, who, other *marks) Command {
	self := &Caller{Role: RoleAttendee, ID: who.id, Name: who.values[0], Person: who.id, Generation: l.attendee(who.id).Generation}
	cmd := Command{Caller: self}
	if rapid.Bool().Draw(t, "with ref") {
		cmd.Ref = fmt.Sprint("ref", l.seq)
	}
	threads, helps := l.threads.Len(), l.help.Len()
	at := int32(l.seq * 10)
	switch rapid.IntRange(0, 22).Draw(t, "kind") {
	case 0:
		cmd.Body = Progress{StepNumber: int32(rapid.IntRange(1, 3).Draw(t, "step"))}
	case 1:
		cmd.Body = PostChat{Message: who.mark("chat")}
	case 2:
		cmd.Body = PostChat{Message: who.mark("dm"), TargetID: other.id}
	case 3:
		cmd.Caller = admin
		cmd.Body = PostChat{Message: who.mark("to"), TargetID: who.id}
	case 4:
		cmd.Body = AskHelp{StepNumber: 1, Message: who.mark("help")}
	case 5, 6:
		if helps > 0 {
			id := l.help.At(rapid.IntRange(0, helps-1).Draw(t, "help")).Id
			cmd.Caller = admin
			if cmd.Body = (ClaimHelp{HelpID: id}); rapid.Bool().Draw(t, "resolve") {
				cmd.Body = ResolveHelp{HelpID: id}
			}
		}
	case 7:
		cmd.Body = GiveFeedback{Difficulty: "1", Satisfaction: "5", Comment: who.mark("feedback")}
	case 8:
		cmd.Body = SubmitQuiz{Items: []SubmittedAnswer{{QuizID: l.quizzes[0].Id, Answer: who.mark("answer")}}}
	case 9, 10:
		cmd.Body = Annotate{
			TargetType: TargetGuide, AnchorKey: fmt.Sprint("guide|guide|h|", at), StartOffset: at, EndOffset: at + 1,
			SelectedText: "s", ContentHash: "h", Message: who.mark("comment"),
		}
	case 11, 12:
		if threads > 0 {
			cmd.Body = Reply{
				ThreadID: l.threads.At(rapid.IntRange(0, threads-1).Draw(t, "thread")).Id, Message: who.mark("reply"), ContentHash: "h",
			}
		}
	case 13:
		cmd.Body = AddSubmission{Submission: &pb.Submission{
			AttendeeId: who.id, SubmissionType: Link, LinkUrl: "https://example.org/" + who.mark("link"), FileName: who.mark("title"),
		}}
	case 14:
		cmd.Body = SaveConversation{Question: who.mark("question"), Answer: who.mark("ai")}
	case 15:
		cmd.Body = Complete{}
	case 16:
		cmd.Caller = admin
		cmd.Body = Rename{AttendeeID: who.id, Name: who.mark("renamed")}
	case 17:
		cmd.Caller = admin
		cmd.Body = ResetPin{Pins: []NewPin{{AttendeeID: who.id, Hash: []byte(who.mark("pin"))}}}
	case 18:
		cmd.Caller = admin
		cmd.Body = Mute{AttendeeID: who.id, Muted: l.seq%2 == 0}
	case 20, 21:
		cmd.Body = SetPulse{State: pb.PulseState(rapid.IntRange(0, 3).Draw(t, "pulse"))}
	case 22:
		cmd.Caller = admin
		cmd.Body = OfferHelp{AttendeeID: who.id, Message: who.mark("offer")}
	case 19:
		cmd.Caller = &Caller{Role: RoleAnyone}
		cmd.Body = Register{Name: l.attendee(who.id).Name, PINHash: l.attendee(who.id).PinHash, Email: who.mark("mail") + "@example.org"}
	}
	return cmd
}

// After the removal of an attendee, neither the state nor any erased event contains their data:
// their id, names, addresses, hashes or texts. The test searches for the values themselves, so that
// it also covers new fields.
func TestNoDataOfARemovedAttendeeStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLab()
		l.create(t, "one", "two", "three")
		must := func(cmd Command) any {
			t.Helper()
			v, err := l.do(cmd)
			if err != nil {
				t.Fatalf("%T: %v", cmd.Body, err)
			}
			return v
		}
		must(Command{Caller: admin, Body: Update{GuideMarkdown: proto.String("guide"), QuizEnabled: proto.Bool(true)}})
		must(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: "q", QuizType: Descriptive}}}})
		var people []*marks
		for i := range 3 {
			m := &marks{values: []string{fmt.Sprintf("person%cz", 'a'+i)}}
			r := Register{Name: m.values[0], PINHash: []byte(m.mark("pin"))}
			if i != 1 {
				r.Email = m.mark("mail") + "@example.org"
			}
			m.id = must(Command{Caller: &Caller{Role: RoleAnyone}, Body: r}).(Registration).Attendee.Id
			people = append(people, m)
		}
		act := func(n int, among []*marks) {
			for range n {
				l.now = l.now.Add(time.Second)
				who := rapid.SampledFrom(among).Draw(t, "who")
				if cmd := personCommand(t, l, who, rapid.SampledFrom(among).Draw(t, "other")); cmd.Body != nil {
					_, _ = l.do(cmd)
				}
			}
		}
		act(rapid.IntRange(0, 60).Draw(t, "before"), people)
		removed, left := people[0], people[1:]
		caller := admin
		if rapid.Bool().Draw(t, "by themselves") {
			caller = &Caller{Role: RoleAttendee, ID: removed.id, Name: "x", Person: removed.id, Generation: l.attendee(removed.id).Generation}
		}
		must(Command{Caller: caller, Body: Remove{AttendeeID: removed.id}})
		act(rapid.IntRange(0, 10).Draw(t, "after"), left)

		state, err := EncodeState(l.Capture())
		if err != nil {
			t.Fatal(err)
		}
		clean := Erase(l.Capture())
		for _, value := range append(removed.values, removed.id) {
			if bytes.Contains(state, []byte(value)) {
				t.Fatalf("the state still holds %q", value)
			}
			for i, e := range l.events {
				if r, changed := clean(e); changed {
					e = r
				}
				if e.Person != "" || e.Ref != "" {
					t.Fatalf("event %d still identifies its sender: %v", i+1, e)
				}
				if bytes.Contains(pbwire.Encode(e), []byte(value)) {
					t.Fatalf("event %d still holds %q: %v", i+1, value, e)
				}
			}
		}
		// The data of others must stay. Without this check the test would accept erasing too much.
		for _, m := range l.chat.All() {
			kept := false
			for _, e := range l.events {
				r, changed := clean(e)
				kept = kept || !changed && e.GetChatPosted().GetMessage().GetId() == m.Id || changed && r.GetChatPosted().GetMessage().GetId() == m.Id
			}
			if !kept {
				t.Fatalf("the message %v was erased, although its sender and receiver stay", m)
			}
		}
	})
}

// A text whose author stays is also erased from the log when the text is deleted.
func TestDeletedTextsLeaveTheLog(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	do := func(cmd Command) any {
		t.Helper()
		cmd.Caller = admin
		v, err := l.do(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	do(Command{Body: Update{GuideMarkdown: proto.String("guide")}})
	chat := do(Command{Body: PostChat{Message: "regret this"}}).(*pb.ChatMessage)
	annotate := func(at int32, message string) *pb.Thread {
		return do(Command{Body: Annotate{
			TargetType: TargetGuide, AnchorKey: fmt.Sprint("guide|", at), StartOffset: at, EndOffset: at + 1, SelectedText: "s", ContentHash: "h", Message: message,
		}}).(*pb.Thread)
	}
	lone, first, second := annotate(1, "regret a thread"), annotate(3, "regret a start"), annotate(5, "stays")
	do(Command{Body: Reply{ThreadID: first.Id, ContentHash: "h", Message: "lives on"}})
	answered := do(Command{Body: Reply{ThreadID: second.Id, ContentHash: "h", Message: "regret an answer"}}).(*pb.Thread)

	do(Command{Body: DeleteChat{MessageID: chat.Id}})
	for _, c := range []struct{ thread, comment string }{
		{lone.Id, lone.Messages[0].Id}, {first.Id, first.Messages[0].Id}, {second.Id, answered.Messages[1].Id},
	} {
		do(Command{Body: DeleteComment{ThreadID: c.thread, CommentID: c.comment}})
	}
	clean := Erase(l.Capture())
	kept := ""
	for _, e := range l.events {
		if r, changed := clean(e); changed {
			e = r
		}
		kept += e.String()
	}
	if strings.Contains(kept, "regret") {
		t.Errorf("erased texts still in the log: %s", kept)
	}
	for _, text := range []string{"lives on", "stays", "chat_deleted", "comment_deleted"} {
		if !strings.Contains(kept, text) {
			t.Errorf("%q was erased from the log", text)
		}
	}
}

// Commands of a removed person are refused, even with a grant from before the removal.
func TestRemovedPersonCannotAct(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	a := l.register(t, Register{Name: "Lin"})
	if _, err := l.do(Command{Caller: admin, Body: Remove{AttendeeID: a.Id}}); err != nil {
		t.Fatal(err)
	}
	before := len(l.events)
	for _, body := range []Body{
		PostChat{Message: "still here"}, AskHelp{Message: "help"}, Progress{StepNumber: 1}, GiveFeedback{Comment: "good"},
	} {
		var r *durable.Rejection
		if _, err := l.do(Command{Caller: attendeeCaller(a), Body: body}); !errors.As(err, &r) || r.Reason != durable.Forbidden {
			t.Errorf("%T by a removed person: %v", body, err)
		}
	}
	if len(l.events) != before {
		t.Errorf("commands of a removed person made the events %v", l.events[before:])
	}
}

// The deletion triggers erasing, and afterwards no event contains the submission.
func TestADeletedSubmissionLeavesTheLog(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	a := l.register(t, Register{Name: "Lin"})
	caller := attendeeCaller(a)
	v, err := l.do(Command{Caller: caller, Body: AddSubmission{Submission: &pb.Submission{AttendeeId: a.Id, SubmissionType: Link, LinkUrl: "http://regret"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.do(Command{Caller: caller, Body: DeleteSubmission{AttendeeID: a.Id, SubmissionID: v.(*pb.Submission).Id}}); err != nil {
		t.Fatal(err)
	}
	if last := l.events[len(l.events)-1]; !Erases(last) {
		t.Errorf("the deletion made %v, which does not trigger erasing", last)
	}
	clean := Erase(l.Capture())
	for i, e := range l.events {
		if r, changed := clean(e); changed {
			e = r
		}
		if strings.Contains(e.String(), "regret") {
			t.Errorf("event %d still contains the submission: %v", i+1, e)
		}
	}
}

// TestWhichEventsTriggerErasing covers every kind of event. An event triggers erasing if it removes
// a person, deletes or merges texts, or applies the retention. Personal data that was replaced, or
// removed because of a limit (gone), stays in the log until the next erasing.
func TestWhichEventsTriggerErasing(t *testing.T) {
	asks := map[string]bool{
		"removed": true, "retention_applied": true, "chat_deleted": true, "comment_deleted": true, "submission_deleted": true,
		"question_deleted": true, "questions_merged": true, "poll_deleted": true,
	}
	keeps := strings.Fields(`created updated steps_replaced deleted pinned pointed registered rejoined progressed completed
		renamed muted pin_reset help_asked help_claimed help_resolved feedback_given pulsed help_offered help_released placed
		quizzes_replaced quiz_submitted poll_changed poll_shown poll_voted poll_unvoted question_asked question_changed
		question_hidden question_voted asker_stopped timer_set spotlighted check_reported code_taken chat_posted chat_gone
		thread_created comment_added comments_gone erased material_added material_deleted submission_added conversation_saved
		ai_used workspace_created workspace_changed workspace_deleted workspace_pushed ticked rehearsal_started
		rehearsal_ended deletion_set`)
	kinds := (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	for i := range kinds.Len() {
		kind := kinds.Get(i)
		e := &pb.Event{}
		e.ProtoReflect().Set(kind, e.ProtoReflect().NewField(kind))
		if name := string(kind.Name()); asks[name] == slices.Contains(keeps, name) {
			t.Errorf("event %s is in both lists or in none", name)
		} else if Erases(e) != asks[name] {
			t.Errorf("Erases(%s) = %v, want %v", name, Erases(e), asks[name])
		}
	}
	if gone := (&pb.Event{Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{BallotsGone: true}}}); !Erases(gone) {
		t.Error("Erases is false for a change that voids ballots")
	}
}

// BenchmarkForget measures the removal of a person who has sent no messages, in a chat of maximum
// length.
func BenchmarkForget(b *testing.B) {
	var chat cow.Vector[*pb.ChatMessage]
	for range maxChat {
		chat.Append(&pb.ChatMessage{Id: "01a3185c-5000-7000-a960-92969061a3c6", SenderId: "01a3185c-5000-7000-a960-92969061a3c6"})
	}
	b.ResetTimer()
	for range b.N {
		forget(&chat, "01a3185c-5000-7000-a960-000000000000")
	}
}

// A removal deletes all data of the attendee and keeps the data of others, even where one record
// contains both.
func TestARemovalKeepsTheDataOfOthers(t *testing.T) {
	l := newLab()
	l.create(t, "one", "two")
	l.must(t, admin, Update{QuizEnabled: proto.Bool(true), Questions: new(pb.Asking_ASKING_OPEN), GuideMarkdown: proto.String("guide")})
	quiz := l.must(t, admin, ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: "q", QuizType: Descriptive}}}).(Edited).Quizzes[0]
	poll := l.newPoll(t, &pb.Poll{Kind: pollText, Question: "q"})
	l.must(t, admin, OpenPoll{PollID: poll.Id})
	thread, question := "", ""
	all := func(who *Caller) {
		t.Helper()
		l.must(t, who, SetPlace{Place: "seat of " + who.Name})
		l.must(t, who, Progress{StepNumber: 2})
		l.must(t, who, SetPulse{State: pb.PulseState_PULSE_STATE_STUCK})
		h := l.must(t, who, AskHelp{StepNumber: 1, Message: "m"}).(*pb.HelpRequest)
		l.must(t, admin, ResolveHelp{HelpID: h.Id})
		l.must(t, who, AskHelp{StepNumber: 2})
		l.must(t, who, PostChat{Message: "m"})
		l.must(t, who, PostChat{Message: "m", TargetID: FacilitatorID})
		start := int32(l.threads.Len())
		mine := l.must(t, who, Annotate{
			TargetType: TargetGuide, AnchorKey: "guide|" + who.Name, ContentHash: "h", SelectedText: "s", StartOffset: start, EndOffset: start + 1, Message: "m",
		}).(*pb.Thread).Id
		asked := l.must(t, who, AskQuestion{Text: "Why?"}).(*pb.Question).Id
		if thread == "" {
			thread, question = mine, asked
		} else {
			l.must(t, who, Reply{ThreadID: thread, Message: "m", ContentHash: "h"})
			l.must(t, who, VoteQuestion{QuestionID: question})
		}
		l.must(t, who, Vote{PollID: poll.Id, Round: 1, Text: proto.String("said")})
		l.must(t, who, SubmitQuiz{Items: []SubmittedAnswer{{quiz.Id, "so"}}})
		l.must(t, who, GiveFeedback{Difficulty: "1", Satisfaction: "2"})
		l.must(t, who, AddSubmission{Submission: &pb.Submission{AttendeeId: who.ID, SubmissionType: File, FileName: "f", FileSize: 1, Sum: bytes.Repeat([]byte(who.Name[:1]), 32)}})
		l.must(t, who, SaveConversation{Question: "q", Answer: "a"})
		l.must(t, who, Complete{})
	}
	ann := register(t, l, "Ann")
	all(ann)
	once := Command{Caller: ann, Ref: "r", Body: PostChat{Message: "once"}}
	l.eventKinds(t, once)
	before, uses := content(l.State), maps.Clone(l.uses)
	of := l.Capture()
	bob := register(t, l, "Bob")
	all(bob)
	l.eventKinds(t, Command{Caller: bob, Ref: "r", Body: PostChat{Message: "once"}})
	gone := l.must(t, admin, Remove{AttendeeID: bob.ID}).(files.Forgotten)
	if len(gone.Submissions) != 1 || gone.Submissions[0].AttendeeId != bob.ID || len(gone.Uploads) != 0 || !maps.Equal(l.uses, uses) {
		t.Errorf("the removal returned the files %v; references %v, want %v", gone, l.uses, uses)
	}
	state, err := EncodeState(l.Capture())
	if err != nil {
		t.Fatal(err)
	}
	restored := l.empty()
	if err := restored.Restore(l.seq, state); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]*State{"live": l.State, "restored": restored} {
		if d, err := s.Decide(once, durable.Env{Now: l.now, Seq: l.seq + 1}); err != nil || len(d.Events) != 0 {
			t.Errorf("%s: Ann's message, sent again, makes %v, %v", what, d.Events, err)
		}
	}
	if after := content(l.State); !proto.Equal(before, after) {
		t.Errorf("the state with Ann alone was\n%v\nand after Bob's removal\n%v", before, after)
	}
	v := l.Capture()
	if v.Completed != of.Completed || v.Pulses != of.Pulses || !slices.Equal(v.PerStep, of.PerStep) || v.Submitted(l.attendees.At(0).Id) != of.Submitted(l.attendees.At(0).Id) {
		t.Errorf("%d completed, %+v, %v per step; before %d, %+v, %v", v.Completed, v.Pulses, v.PerStep, of.Completed, of.Pulses, of.PerStep)
	}
}

// A view that is being read does not change when people leave.
func TestARemovalChangesNoEarlierView(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.must(t, admin, Update{GuideMarkdown: proto.String("guide")})
	ann, bob := register(t, l, "Ann"), register(t, l, "Bob")
	th := l.must(t, bob, Annotate{TargetType: TargetGuide, AnchorKey: "guide|x", ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "m"}).(*pb.Thread)
	l.must(t, ann, Reply{ThreadID: th.Id, Message: "n", ContentHash: "h"})
	v := l.Capture()
	encode := func() []byte {
		b, err := EncodeState(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before := encode()
	l.must(t, admin, Remove{AttendeeID: bob.ID})
	if !bytes.Equal(before, encode()) {
		t.Error("the earlier view changed")
	}
	if got := l.Capture().Thread(th.Id); got.CreatedBy != "" || len(got.Messages) != 1 || got.Messages[0].AuthorId != ann.ID {
		t.Errorf("the thread is %v, want only Ann's message", got)
	}
}

// Erasing returns a copy of the event without its author, because other readers share the event in
// the log.
func TestErasingAQuestionsAuthorKeepsTheOriginalEvent(t *testing.T) {
	l, people := asking(t, askingOpen, 1)
	l.ask(t, people[0], "Why?")
	e := l.events[len(l.events)-1]
	before := proto.Clone(e)
	l.must(t, admin, Remove{AttendeeID: people[0].ID})
	if erased, changed := Erase(l.Capture())(e); !changed || erased.GetQuestionAsked().GetQuestion().GetAuthorId() != "" {
		t.Errorf("the erased event is %v, want it without its author", erased)
	}
	if !proto.Equal(e, before) {
		t.Errorf("the original event changed to %v", e)
	}
}
