package codelab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
)

// Nobody notices a missing audit record until it is needed. For this reason the test runs every
// command that makes a record, and compares the record's target and metadata.
func TestTheAuditTrailRecordsEachAction(t *testing.T) {
	l := newLab()
	from := &Caller{Role: RoleAdmin, ID: FacilitatorID, Name: "Facilitator", AdminID: "leader", IP: "192.0.2.7", UserAgent: "browser"}
	seen := 0
	// did executes a command and compares its records: action, target, and metadata by name.
	did := func(who *Caller, body Body, want ...string) any {
		t.Helper()
		reply := l.must(t, who, body)
		var got []string
		for _, r := range l.audits[seen:] {
			about := fmt.Sprint(r.Metadata) // sorted by key
			got = append(got, strings.TrimSuffix(fmt.Sprint(r.Action, " ", r.TargetId, " ", about[len("map["):len(about)-1]), " "))
			if actor := map[Role]string{RoleAdmin: "admin leader", RoleAttendee: "attendee " + who.ID, RoleSystem: "system ", RoleAnyone: "anonymous "}[who.Role]; r.ActorType+" "+r.ActorId != actor ||
				r.Ip != who.IP || r.UserAgent != who.UserAgent || r.CodelabId != "lab" || r.CreatedAt != l.now.UnixMilli() || r.Id == "" {
				t.Errorf("audit records of %T: %v", body, r)
			}
		}
		if seen = len(l.audits); !slices.Equal(got, want) {
			t.Errorf("%T: audit record %q, want %q", body, got, want)
		}
		return reply
	}
	yes, text := proto.Bool(true), proto.String("text")
	did(from, Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true}}, "codelab_create lab")
	did(from, ReplaceSteps{Steps: []*pb.Step{{Title: "one"}, {Title: "two"}}}, "codelab_steps_update lab steps:2")
	did(from, Update{Title: text, AIEnabled: yes, GuideMarkdown: text, HalfHours: proto.Int32(3)}, "codelab_update lab fields:ai_enabled,guide_markdown,hours,title")
	did(from, Update{ClearGuide: true, ClearHours: true}, "codelab_update lab fields:guide_markdown,hours")
	did(from, SetRegistration{}, "codelab_update lab registration:closed")
	did(from, SetRegistration{Open: true}, "codelab_update lab registration:open")
	did(from, SetRegistration{Open: true})
	quiz := did(from, ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: "why", QuizType: Descriptive}}}, "quiz_update lab questions:1").(Edited).Quizzes[0]
	open := pb.Asking_ASKING_OPEN
	did(from, Update{Questions: &open, ChatRetentionDays: proto.Int32(1)}, "codelab_update lab fields:chat_retention_days,questions")

	code := HashPIN([]byte("key"), "lab", "1234")
	register := func(name string) *Caller {
		t.Helper()
		got := l.must(t, &Caller{Role: RoleAnyone}, Register{Name: name, PINHash: code}).(Registration).Attendee
		if r := l.audits[seen:]; len(r) != 1 || r[0].Action != "attendee_register" || r[0].TargetId != got.Id || r[0].ActorType != "anonymous" {
			t.Errorf("audit records: %v", r)
		}
		seen = len(l.audits)
		return attendeeCaller(got)
	}
	ann, bob := register("Ann"), register("Bob")
	did(&Caller{Role: RoleAnyone}, Register{Name: "Ann", PINHash: code}, "attendee_rejoin "+ann.ID)
	did(from, Rename{AttendeeID: ann.ID, Name: "Anna"}, "attendee_rename "+ann.ID)
	did(from, Mute{AttendeeID: ann.ID, Muted: true}, "attendee_mute "+ann.ID)
	did(from, Mute{AttendeeID: ann.ID}, "attendee_unmute "+ann.ID)

	help := func(who *Caller) string {
		t.Helper()
		h := l.must(t, who, AskHelp{StepNumber: 1}).(*pb.HelpRequest).Id
		if r := l.audits[seen:]; len(r) != 1 || r[0].Action != "help_request" || r[0].TargetId != h {
			t.Errorf("audit records: %v", r)
		}
		seen = len(l.audits)
		return h
	}
	h := help(ann)
	did(from, ClaimHelp{HelpID: h}, "help_claim "+h)
	did(from, ReleaseHelp{HelpID: h, Reason: "away"}, "help_release "+h)
	did(from, ResolveHelp{HelpID: h}, "help_resolve "+h)
	h, other := help(ann), help(bob)
	did(from, AnswerHelp{HelpIDs: []string{h, other}, Message: "restart"}, "help_resolve "+h, "help_resolve "+other)
	helper := &Caller{Role: RoleAdmin, ID: FacilitatorID, AdminID: "leader", Person: PersonPrefix + "helper"}
	h = help(ann)
	did(helper, ClaimHelp{HelpID: h}, "help_claim "+h)
	did(&Caller{Role: RoleSystem}, ReleaseClaims{Persons: []string{helper.Person}}, "help_release "+h)
	offer := l.must(t, from, OfferHelp{AttendeeID: bob.ID}).(*pb.HelpRequest)
	if r := l.audits[seen:]; len(r) != 1 || r[0].Action != "help_offer" || r[0].TargetId != offer.Id {
		t.Errorf("audit records: %v", r)
	}
	seen = len(l.audits)

	did(from, SetPin{Message: text}, "pin_set lab")
	did(from, SetPin{}, "pin_remove lab")
	did(from, SetTimer{Seconds: proto.Int32(60)}, "timer_set lab")
	did(from, SetTimer{}, "timer_set lab seconds:none")
	message := did(ann, PostChat{Message: "hello"}).(*pb.ChatMessage).Id
	did(from, DeleteChat{MessageID: message}, "chat_delete "+message+" author_id:"+ann.ID)

	poll := l.must(t, from, CreatePoll{Poll: &pb.Poll{Kind: PollKind("scale"), Question: "How?"}}).(*pb.Poll).Id
	if r := l.audits[seen:]; len(r) != 1 || r[0].Action != "poll_create" || r[0].TargetId != poll {
		t.Errorf("audit records: %v", r)
	}
	seen = len(l.audits)
	did(from, OpenPoll{PollID: poll}, "poll_open "+poll)
	did(from, ClosePoll{PollID: poll}, "poll_close "+poll)
	did(from, ResetPoll{PollID: poll}, "poll_reset "+poll)
	did(from, DeletePoll{PollID: poll}, "poll_delete "+poll)

	asked := func() string { return did(ann, AskQuestion{Text: "Why?", Anonymous: true}).(*pb.Question).Id }
	a, b := asked(), asked()
	did(from, StopAsker{QuestionID: a}, "question_stop "+a)
	did(from, MergeQuestion{QuestionID: a, Into: b}, "question_merge "+a+" into:"+b)
	did(from, DeleteQuestion{QuestionID: b}, "question_delete "+b)

	thread := did(ann, Annotate{
		TargetType: TargetGuide, AnchorKey: "guide|x", ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "m",
	}).(*pb.Thread)
	comment := thread.Messages[0].Id
	did(from, DeleteComment{ThreadID: thread.Id, CommentID: comment}, "comment_delete "+comment+" author_id:"+ann.ID+" thread_id:"+thread.Id)

	recorded := func(who *Caller, body Body, action string, id func(any) string) string {
		t.Helper()
		of := id(l.must(t, who, body))
		if r := l.audits[seen:]; len(r) != 1 || r[0].Action != action || r[0].TargetId != of {
			t.Errorf("audit records of %T: %v", body, r)
		}
		seen = len(l.audits)
		return of
	}
	material := recorded(from, AddMaterial{Material: &pb.Material{Title: "slides", MaterialType: Link, LinkUrl: "https://example.org"}}, "material_add",
		func(v any) string { return v.(*pb.Material).Id })
	did(from, DeleteMaterial{MaterialID: material}, "material_delete "+material)
	link := recorded(ann, AddSubmission{Submission: &pb.Submission{AttendeeId: ann.ID, SubmissionType: Link, LinkUrl: "https://example.org"}}, "submission_link",
		func(v any) string { return v.(*pb.Submission).Id })
	did(from, DeleteSubmission{AttendeeID: ann.ID, SubmissionID: link}, "submission_delete "+link+" attendee_id:"+ann.ID)
	recorded(ann, AddSubmission{Submission: &pb.Submission{AttendeeId: ann.ID, SubmissionType: File, FileName: "a", FileSize: 1, Sum: make([]byte, 32)}}, "submission_upload",
		func(v any) string { return v.(*pb.Submission).Id })
	recorded(ann, GiveFeedback{Difficulty: "1", Satisfaction: "2"}, "feedback_submit", func(v any) string { return v.(*pb.Feedback).Id })
	did(ann, SubmitQuiz{Items: []SubmittedAnswer{{quiz.Id, "so"}}})

	did(from, CreateWorkspace{ID: "w", StructureType: BranchWorkspace, Heads: []*pb.WorkspaceHead{{Name: KeptHead, Tree: "t1"}}, Current: KeptHead},
		"workspace_create lab structure_type:branch")
	did(from, ChangeWorkspace{WorkspaceID: "w", Name: KeptHead, Before: "t1", After: "t2", About: map[string]string{"files": "2"}}, "workspace_update lab files:2 name:main")
	did(from, ChangeWorkspace{WorkspaceID: "w", Name: "step-1-start", After: "t2"}, "workspace_branch_create lab name:step-1-start")
	did(from, PushWorkspace{WorkspaceID: "w", Moves: []HeadMove{{Name: "step-1-start", Before: "t2"}, {Name: KeptHead, Before: "t2", After: "t3"}}, Commits: 4},
		"git_push lab branches:main,step-1-start commits:4 removed:1")
	did(ann, TakeCode{Name: KeptHead}, "workspace_download lab name:main")
	if took := l.attendee(ann.ID).CodeTaken.GetName(); took != KeptHead {
		t.Errorf("Anna's CodeTaken has the name %q", took)
	}
	did(ann, TakeCode{}, "workspace_download lab")
	did(ann, AskAI{Model: "m", StepNumber: 2}, "ai_query lab model:m step_number:2")
	did(ann, AskAI{Model: "m"}, "ai_query lab model:m")
	did(from, DeleteWorkspace{}, "workspace_delete lab")
	did(from, NoteExport{}, "codelab_export lab")
	did(from, NoteExport{What: "attendee", AttendeeID: ann.ID}, "codelab_export "+ann.ID+" what:attendee")

	did(ann, Complete{}, "codelab_complete "+ann.ID)
	did(ann, PostChat{Message: "bye"})
	l.now = l.now.AddDate(0, 0, 2)
	did(&Caller{Role: RoleSystem}, ApplyRetention{}, "retention_apply lab")
	did(from, SetEnded{Ended: true}, "codelab_update lab ended:true")
	did(bob, Remove{AttendeeID: bob.ID}, "attendee_erase "+bob.ID)
	did(from, ResetPin{Pins: []NewPin{{AttendeeID: ann.ID}, {AttendeeID: bob.ID}}}, "attendee_pin_reset "+ann.ID) // Bob has left
	did(from, Remove{AttendeeID: ann.ID}, "attendee_remove "+ann.ID)
	did(from, Delete{}, "codelab_delete lab")
}
