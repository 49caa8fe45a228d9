package codelab

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
)

// A record is kept as it was sent, with its sender and time.
func TestRecordsAreStoredAsSent(t *testing.T) {
	l := newLab()
	l.create(t, "one", "two")
	l.must(t, admin, Update{QuizEnabled: proto.Bool(true), Questions: new(pb.Asking_ASKING_OPEN)})
	ann, bob := register(t, l, "Ann"), register(t, l, "Bob")
	l.must(t, ann, SetPlace{Place: "row 2"})
	l.now = l.now.Add(12345678)
	now, one := l.now.UnixMilli(), l.steps[0].Id
	for _, tc := range []struct {
		who  *Caller
		body Body
		want proto.Message // without its id
		kept func(v *View, id string) proto.Message
	}{
		{ann, GiveFeedback{Difficulty: "2", Satisfaction: "5", Comment: "fine"},
			&pb.Feedback{AttendeeId: ann.ID, Difficulty: "2", Satisfaction: "5", Comment: "fine", CreatedAt: now},
			func(v *View, _ string) proto.Message { return v.Feedback.At(0) }},
		{ann, SaveConversation{StepNumber: 2, Question: "why", Answer: "so", Model: "m"},
			&pb.Conversation{UserType: "attendee", UserId: ann.ID, UserName: "Ann", StepNumber: 2, Question: "why", Answer: "so", Model: "m", CreatedAt: now},
			func(v *View, id string) proto.Message { return v.Conversation(id) }},
		{admin, SaveConversation{Question: "why", Answer: "so"},
			&pb.Conversation{UserType: "admin", UserId: FacilitatorID, UserName: "Facilitator", Question: "why", Answer: "so", CreatedAt: now},
			func(v *View, id string) proto.Message { return v.Conversation(id) }},
		{ann, PostChat{Message: "hello", TargetID: bob.ID},
			&pb.ChatMessage{SenderId: ann.ID, SenderName: "Ann", Message: "hello", TargetId: bob.ID, CreatedAt: now},
			func(v *View, id string) proto.Message { return v.ChatMessage(id) }},
		{admin, PostChat{Message: "hello", Broadcast: true},
			&pb.ChatMessage{SenderId: FacilitatorID, SenderName: "Facilitator", Message: "hello", Broadcast: true, Leader: "admin", CreatedAt: now},
			func(v *View, id string) proto.Message { return v.ChatMessage(id) }},
		{ann, AskHelp{StepNumber: 2, Message: "stuck"},
			&pb.HelpRequest{AttendeeId: ann.ID, AttendeeName: "Ann", StepNumber: 2, Status: pending, Message: "stuck", Place: "row 2", CreatedAt: now},
			func(v *View, _ string) proto.Message { return v.Help.At(0) }},
		{admin, OfferHelp{AttendeeID: bob.ID, StepNumber: proto.Int32(2), Message: "coming"},
			&pb.HelpRequest{
				AttendeeId: bob.ID, AttendeeName: "Bob", StepNumber: 2, Status: inProgress, Message: "coming", CreatedAt: now,
				ClaimedBy: "Facilitator", ClaimedPerson: admin.Person, Leader: "admin", ClaimedAt: now, Offered: true,
			},
			func(v *View, _ string) proto.Message { return v.Help.At(1) }},
		{admin, AddMaterial{Material: &pb.Material{Title: "slides", MaterialType: Link, LinkUrl: "https://example.org"}},
			&pb.Material{Title: "slides", MaterialType: Link, LinkUrl: "https://example.org", CreatedAt: now},
			func(v *View, _ string) proto.Message { return v.Materials.At(0) }},
		{admin, AddMaterial{Material: &pb.Material{Title: "slides", MaterialType: File, Upload: image}},
			&pb.Material{Title: "slides", MaterialType: File, Upload: image, CreatedAt: now},
			func(v *View, _ string) proto.Message { return v.Materials.At(1) }},
		{ann, AddSubmission{Submission: &pb.Submission{AttendeeId: ann.ID, SubmissionType: File, FileName: "a/b.txt", FileSize: 3, MediaType: "text/plain", Sum: make([]byte, 32)}},
			&pb.Submission{AttendeeId: ann.ID, SubmissionType: File, FileName: "b.txt", FileSize: 3, MediaType: "text/plain", Sum: make([]byte, 32), CreatedAt: now},
			func(v *View, _ string) proto.Message { return v.Submissions.At(0) }},
		{ann, AddSubmission{Submission: &pb.Submission{AttendeeId: ann.ID, SubmissionType: Link, FileName: "mine", LinkUrl: "https://example.org"}},
			&pb.Submission{AttendeeId: ann.ID, SubmissionType: Link, FileName: "mine", LinkUrl: "https://example.org", CreatedAt: now},
			func(v *View, _ string) proto.Message { return v.Submissions.At(1) }},
		{admin, CreatePoll{Poll: &pb.Poll{Kind: PollKind("choice"), Question: "q?", Options: []string{"a", "b"}, Anonymous: true, StepId: one, Right: []int32{1}}},
			&pb.Poll{Kind: PollKind("choice"), Question: "q?", Options: []string{"a", "b"}, Anonymous: true, StepId: one, Right: []int32{1}, State: pollDraft, Round: 1, CreatedAt: now},
			func(v *View, id string) proto.Message { return v.Poll(id).Poll }},
	} {
		reply, err := l.do(Command{Caller: tc.who, Body: tc.body})
		if err != nil {
			t.Errorf("the command %+v returned %v", tc.body, err)
			continue
		}
		got := reply.(proto.Message).ProtoReflect()
		id := got.Descriptor().Fields().ByName("id")
		if got.Get(id).String() == "" {
			t.Errorf("%T has no id", tc.body)
		}
		tc.want.ProtoReflect().Set(id, got.Get(id))
		if !proto.Equal(reply.(proto.Message), tc.want) {
			t.Errorf("%T returned\n%v, want\n%v", tc.body, reply, tc.want)
		}
		if kept := tc.kept(l.Capture(), got.Get(id).String()); !proto.Equal(kept, tc.want) {
			t.Errorf("%T is stored as\n%v, want\n%v", tc.body, kept, tc.want)
		}
	}
}

// A comment contains its author. If a facilitator wrote the comment, it also contains the
// facilitator's account.
func TestACommentContainsItsAuthor(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.must(t, admin, Update{GuideMarkdown: proto.String("guide")})
	ann := register(t, l, "Ann")
	now := l.now.UnixMilli()
	th := l.must(t, ann, Annotate{
		TargetType: TargetGuide, AnchorKey: "guide|x", ContentHash: "h", SelectedText: "s", StartOffset: 2, EndOffset: 4, Message: "m",
	}).(*pb.Thread)
	l.must(t, admin, Reply{ThreadID: th.Id, Message: "n", ContentHash: "h"})
	got := l.Capture().Thread(th.Id)
	want := &pb.Thread{
		Id: th.Id, AnchorKey: "guide|x", TargetType: TargetGuide, StartOffset: 2, EndOffset: 4, SelectedText: "s", ContentHash: "h",
		CreatedBy: ann.ID, CreatedAt: now, ContentSum: l.meta.GuideSum, Messages: []*pb.Comment{
			{Id: got.Messages[0].Id, AuthorRole: "attendee", AuthorId: ann.ID, AuthorName: "Ann", Message: "m", CreatedAt: now},
			{Id: got.Messages[1].Id, AuthorRole: "admin", AuthorId: FacilitatorID, AuthorName: "Facilitator", Message: "n", CreatedAt: now, Leader: "admin"},
		},
	}
	if !proto.Equal(got, want) {
		t.Errorf("the thread is\n%v, want\n%v", got, want)
	}
	of := l.must(t, ann, Annotate{
		TargetType: TargetStep, TargetStepID: l.steps[0].Id, AnchorKey: "step|" + l.steps[0].Id + "|h|0|1", ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "m",
	}).(*pb.Thread)
	before := of.Clone()
	l.must(t, admin, Reply{ThreadID: of.Id, Message: "n", ContentHash: "h"})
	step := l.Capture().Thread(of.Id).Clone()
	if step.Messages = step.Messages[:1]; !proto.Equal(step, before) {
		t.Errorf("after another comment, the thread of a step is\n%v, want\n%v", step, before)
	}
	l.must(t, admin, DeleteComment{ThreadID: of.Id, CommentID: of.Messages[0].Id})
	// Clients are informed of the threads that contained comments of the removed person.
	from := len(l.events)
	l.must(t, admin, Remove{AttendeeID: ann.ID})
	var notices []*pb.CommentsGone
	for _, e := range l.events[from:] {
		if b := e.GetCommentsGone(); b != nil {
			notices = append(notices, b)
		}
	}
	if len(notices) != 1 || !proto.Equal(notices[0], &pb.CommentsGone{ThreadId: th.Id, TargetType: TargetGuide}) {
		t.Errorf("clients received messages about the threads %v", notices)
	}
}
