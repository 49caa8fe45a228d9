package codelab

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The codelab itself checks the permissions of facilitators, of an item's author, and of another
// attendee. The test covers only these checks, not the checks of REST and messages.
func TestPermissionsOfCommands(t *testing.T) {
	// scene is a codelab with items of Ann, and the ids of these items.
	type scene struct {
		l                                           *lab
		ann                                         *Caller
		help, thread, comment, question, submission string
		poll                                        string
	}
	begin := func() (s scene) {
		s.l = newLab()
		l := s.l
		l.create(t)
		l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "one", ContentMarkdown: declaring("a") + "\n- [ ] Save\n"}}})
		l.must(t, admin, Update{GuideMarkdown: proto.String("guide"), Questions: new(askingOpen)})
		s.ann = register(t, l, "Ann")
		register(t, l, "Bob")
		s.help = l.must(t, s.ann, AskHelp{StepNumber: 1}).(*pb.HelpRequest).Id
		l.must(t, admin, ClaimHelp{HelpID: s.help})
		th := l.must(t, s.ann, Annotate{
			TargetType: TargetGuide, AnchorKey: "guide|x", ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "m",
		}).(*pb.Thread)
		s.thread, s.comment = th.Id, th.Messages[0].Id
		s.question = l.must(t, s.ann, AskQuestion{Text: "Why?", Anonymous: true}).(*pb.Question).Id
		s.submission = l.must(t, s.ann, AddSubmission{Submission: &pb.Submission{AttendeeId: s.ann.ID, SubmissionType: Link, LinkUrl: "https://example.org"}}).(*pb.Submission).Id
		s.poll = l.newPoll(t, &pb.Poll{Kind: pollText, Question: "q"}).Id
		l.must(t, admin, OpenPoll{PollID: s.poll})
		return s
	}
	const leads, own, other = 1, 2, 4
	for name, tc := range map[string]struct {
		body func(s scene) Body
		may  int
	}{
		"makes progress":        {func(scene) Body { return Progress{StepNumber: 1} }, own | other},
		"sets their pulse":      {func(scene) Body { return SetPulse{State: 1} }, own | other},
		"sets their seat":       {func(scene) Body { return SetPlace{Place: "here"} }, own | other},
		"completes":             {func(scene) Body { return Complete{} }, own | other},
		"reports a check":       {func(scene) Body { return ReportCheck{Name: "a"} }, own | other},
		"gives feedback":        {func(scene) Body { return GiveFeedback{Difficulty: "1", Satisfaction: "1"} }, own | other},
		"asks for help":         {func(scene) Body { return AskHelp{StepNumber: 1} }, own | other},
		"asks a question":       {func(scene) Body { return AskQuestion{Text: "And?"} }, own | other},
		"votes for a question":  {func(s scene) Body { return VoteQuestion{QuestionID: s.question} }, other},
		"votes in a poll":       {func(s scene) Body { return Vote{PollID: s.poll, Round: 1, Text: proto.String("x")} }, own | other},
		"posts a message":       {func(scene) Body { return PostChat{Message: "m"} }, leads | own | other},
		"sends a broadcast":     {func(scene) Body { return PostChat{Message: "m", Broadcast: true} }, leads},
		"posts direct messages": {func(scene) Body { return PostDirects{Message: "m", To: ToStep, StepNumber: 1} }, leads},
		"comments":              {func(s scene) Body { return Reply{ThreadID: s.thread, Message: "m", ContentHash: "h"} }, leads | own | other},
		"deletes a comment":     {func(s scene) Body { return DeleteComment{ThreadID: s.thread, CommentID: s.comment} }, leads | own},
		"deletes a question":    {func(s scene) Body { return DeleteQuestion{QuestionID: s.question} }, leads | own},
		"answers a question":    {func(s scene) Body { return ChangeQuestion{QuestionID: s.question, State: questionAnswered.Enum()} }, leads},
		"stops an asker":        {func(s scene) Body { return StopAsker{QuestionID: s.question} }, leads},
		"deletes a submission":  {func(s scene) Body { return DeleteSubmission{AttendeeID: s.ann.ID, SubmissionID: s.submission} }, leads | own},
		"submits for Ann": {func(s scene) Body {
			return AddSubmission{Submission: &pb.Submission{AttendeeId: s.ann.ID, SubmissionType: Link, LinkUrl: "https://example.org"}}
		}, own},
		"removes Ann":        {func(s scene) Body { return Remove{AttendeeID: s.ann.ID} }, leads | own},
		"resolves a request": {func(s scene) Body { return ResolveHelp{HelpID: s.help} }, leads | own},
		"answers requests":   {func(s scene) Body { return AnswerHelp{HelpIDs: []string{s.help}, Message: "m"} }, leads},
		"releases a request": {func(s scene) Body { return ReleaseHelp{HelpID: s.help} }, leads},
		"offers help":        {func(s scene) Body { return OfferHelp{AttendeeID: s.l.attendees.At(1).Id} }, leads},
		"pins a message":     {func(scene) Body { return SetPin{Message: proto.String("m")} }, leads},
		"sets the pointer":   {func(scene) Body { return Point{StepNumber: proto.Int32(1)} }, leads},
		"sets the timer":     {func(scene) Body { return SetTimer{Seconds: proto.Int32(60)} }, leads},
		"sets the projector": {func(scene) Body { return SetSpotlight{Kind: SpotlightTimer} }, leads},
		"makes a poll":       {func(scene) Body { return CreatePoll{Poll: &pb.Poll{Kind: pollText, Question: "q"}} }, leads},
		"changes a poll":     {func(s scene) Body { return UpdatePoll{PollID: s.poll, Question: proto.String("r")} }, leads},
		"closes a poll":      {func(s scene) Body { return ClosePoll{PollID: s.poll} }, leads},
		"resets a poll":      {func(s scene) Body { return ResetPoll{PollID: s.poll} }, leads},
		"deletes a poll":     {func(s scene) Body { return DeletePoll{PollID: s.poll} }, leads},
		"starts a rehearsal": {func(scene) Body { return StartRehearsal{People: 1, Minutes: 1, Force: true} }, leads},
		"ticks a task":       {func(s scene) Body { return Tick{StepID: s.l.steps[0].Id, Item: s.l.tasks[0][0].Key, Done: true} }, own | other},
		"writes to Ann":      {func(s scene) Body { return PostChat{Message: "m", TargetID: s.ann.ID} }, leads | own | other},
	} {
		for bit, who := range map[int]string{leads: "a facilitator", own: "Ann", other: "Bob"} {
			s := begin()
			caller := map[int]*Caller{leads: admin, own: s.ann, other: attendeeCaller(s.l.attendees.At(1))}[bit]
			_, err := s.l.do(Command{Caller: caller, Body: tc.body(s)})
			if (err == nil) != (tc.may&bit != 0) {
				t.Errorf("the command %s by %s returned %v", name, who, err)
			}
		}
	}
	// With the setting AuthorOnlyDeletes, facilitators cannot delete comments of others.
	s := begin()
	s.l.rules.AuthorOnlyDeletes = true
	s.l.refused(t, admin, DeleteComment{ThreadID: s.thread, CommentID: s.comment}, durable.Forbidden, "author")
	s.l.must(t, s.ann, DeleteComment{ThreadID: s.thread, CommentID: s.comment})
}

// After the end, attendees can only read.
func TestAttendeesCannotActAfterTheEnd(t *testing.T) {
	for _, body := range []Body{
		Progress{StepNumber: 1}, SetPulse{State: 1}, SetPlace{Place: "here"}, ReportCheck{Name: "a"}, AskHelp{StepNumber: 1},
		AskQuestion{Text: "And?"}, PostChat{Message: "m"}, AskAI{Model: "m"},
		Annotate{TargetType: TargetGuide, AnchorKey: "guide|x", ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "m"},
	} {
		l := newLab()
		l.create(t)
		l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "one", ContentMarkdown: declaring("a")}}})
		l.must(t, admin, Update{GuideMarkdown: proto.String("guide"), Questions: new(askingOpen)})
		ann := register(t, l, "Ann")
		before := replay(l.empty(), 0, l.events)
		if _, err := before.Decide(Command{Caller: ann, Body: body}, durable.Env{Now: l.now, Seq: l.seq + 1}); err != nil {
			t.Errorf("%T before the end returned %v", body, err)
		}
		l.must(t, admin, SetEnded{Ended: true})
		l.refused(t, ann, body, durable.Conflict, "the workshop has ended")
	}
}

// Removing a step removes its threads and no others.
func TestRemovingAStepRemovesOnlyItsThreads(t *testing.T) {
	l := newLab()
	l.create(t, "one", "two")
	l.must(t, admin, Update{GuideMarkdown: proto.String("guide")})
	ann := register(t, l, "Ann")
	l.must(t, ann, Annotate{TargetType: TargetGuide, AnchorKey: "guide|x", ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "of the guide"})
	for _, st := range l.steps {
		l.must(t, ann, Annotate{
			TargetType: TargetStep, TargetStepID: st.Id, AnchorKey: fmt.Sprintf("step|%s|h|0|1", st.Id), ContentHash: "h", SelectedText: "s", EndOffset: 1, Message: "of " + st.Title,
		})
	}
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "new"}, l.steps[1]}})
	var got []string
	for _, th := range l.Capture().Threads.All() {
		got = append(got, th.Messages[0].Message)
	}
	if !slices.Equal(got, []string{"of the guide", "of two"}) {
		t.Errorf("the threads are %q", got)
	}
}

func TestCommandsAreLimited(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	ann := register(t, l, "Ann")
	poll := l.newPoll(t, &pb.Poll{Kind: pollWords, Question: "q"})
	l.must(t, admin, OpenPoll{PollID: poll.Id})
	words := func(n int) Body {
		v := Vote{PollID: poll.Id, Round: 1, Words: []string{}}
		for i := range n {
			v.Words = append(v.Words, fmt.Sprint("w", i))
		}
		return v
	}
	quizzes := func(n int) Body {
		r := ReplaceQuizzes{}
		for range n {
			r.Quizzes = append(r.Quizzes, &pb.Quiz{Question: "q", QuizType: Descriptive})
		}
		return r
	}
	l.must(t, admin, quizzes(maxQuizzes))
	answers := func(n int) Body {
		b := SubmitQuiz{}
		for i := range n {
			b.Items = append(b.Items, SubmittedAnswer{l.quizzes[i%len(l.quizzes)].Id, "a"})
		}
		return b
	}
	l.must(t, admin, CreateWorkspace{ID: "w", StructureType: BranchWorkspace, Heads: []*pb.WorkspaceHead{{Name: KeptHead, Tree: "t"}}, Current: KeptHead})
	for i := range maxHeads - 2 {
		l.must(t, admin, ChangeWorkspace{WorkspaceID: "w", Name: fmt.Sprint("b", i), After: "t"})
	}
	branch := func(n int) Body {
		b := PushWorkspace{WorkspaceID: "w"}
		for i := range n {
			b.Moves = append(b.Moves, HeadMove{Name: fmt.Sprint("c", i), After: "t"})
		}
		return b
	}
	asked := l.must(t, ann, AskHelp{StepNumber: 1}).(*pb.HelpRequest).Id
	try := func(who *Caller, body Body) error {
		l := l
		if _, first := body.(Create); first {
			l = newLab()
		}
		_, err := l.Decide(Command{Caller: who, Body: body}, durable.Env{Now: l.now, Seq: l.seq + 1})
		return err
	}
	for what, tc := range map[string]struct {
		who         *Caller
		body        func(n int) Body
		least, most int
	}{
		"words":                  {ann, words, 1, maxVoteWords},
		"questions":              {admin, quizzes, 0, maxQuizzes},
		"answers":                {ann, answers, 1, maxQuizzes},
		"pushed branches":        {admin, branch, 1, 1},
		"simulated attendees":    {admin, func(n int) Body { return StartRehearsal{People: int32(n), Minutes: 1, Force: true} }, 1, MaxRehearsalPeople},
		"minutes of a rehearsal": {admin, func(n int) Body { return StartRehearsal{People: 1, Minutes: int32(n), Force: true} }, 1, MaxRehearsalMinutes},
		"requests to answer": {admin, func(n int) Body {
			return AnswerHelp{HelpIDs: slices.Repeat([]string{asked}, max(n, 0)), Message: "m"}
		}, 1, maxAnswered},
		"polls of a new codelab": {admin, func(n int) Body {
			return Create{Codelab: &pb.Codelab{Title: "Lab"}, Polls: slices.Repeat([]*pb.Poll{{Kind: pollText, Question: "q"}}, max(n, 0))}
		}, 0, maxPolls},
		"days until the deletion":    {admin, func(n int) Body { return SetDeletion{Days: n} }, 0, MaxDays},
		"a step":                     {ann, func(n int) Body { return Progress{StepNumber: int32(n)} }, 1, 1},
		"a step for help":            {ann, func(n int) Body { return AskHelp{StepNumber: int32(n)} }, 1, 1},
		"a step to ask the AI about": {ann, func(n int) Body { return AskAI{Model: "m", StepNumber: int32(n)} }, 0, 1},
		"a step to help on":          {admin, func(n int) Body { return OfferHelp{AttendeeID: ann.ID, StepNumber: proto.Int32(int32(n))} }, 1, 1},
		"a step to show":             {admin, func(n int) Body { return Point{StepNumber: proto.Int32(int32(n))} }, 1, 1},
		"a step for direct messages": {admin, func(n int) Body {
			return PostDirects{Message: "m", To: ToStep, StepNumber: int32(n)}
		}, 1, 1},
		"a step of a conversation": {ann, func(n int) Body {
			return SaveConversation{Question: "q", Answer: "a", StepNumber: int32(n)}
		}, 0, 1},
	} {
		for n, ok := range map[int]bool{tc.least - 1: false, tc.least: true, tc.most: true, tc.most + 1: false} {
			if n < 0 && (what == "questions" || what == "polls of a new codelab") {
				continue
			}
			if err := try(tc.who, tc.body(n)); (err == nil) != ok {
				t.Errorf("the value %d for %s returned %v", n, what, err)
			}
		}
	}
	// Branches that are created one by one count towards the same maximum.
	l.must(t, admin, ChangeWorkspace{WorkspaceID: "w", Name: "last", After: "t"})
	if err := try(admin, ChangeWorkspace{WorkspaceID: "w", Name: "more", After: "t"}); reason(err) != durable.Conflict {
		t.Errorf("one branch too many returned %v, want Conflict", err)
	}
}

// Setting the seconds again, or an end with another label, starts a new timer instead of extending
// the running one.
func TestSettingTheSameTimerAgainRestartsIt(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.must(t, admin, SetTimer{Seconds: proto.Int32(60), Label: "Try it"})
	l.now = l.now.Add(30 * time.Second)
	l.must(t, admin, SetTimer{Seconds: proto.Int32(60), Label: "Try it"})
	if got := l.Capture().Timer; got.TotalSeconds != 60 {
		t.Errorf("set again, the timer is %v", got)
	}
	ends := l.now.Add(2 * time.Minute).UnixMilli()
	for _, other := range []SetTimer{{EndsAt: &ends, Label: "Another"}, {EndsAt: &ends, Label: "Another", Break: true}} {
		if l.must(t, admin, other); l.Capture().Timer.TotalSeconds != 120 {
			t.Errorf("with another label, the timer is %v", l.Capture().Timer)
		}
	}
}

// The projector shows the item that was set last. Deleting this item clears the projector, and
// deleting another item does not.
func TestTheProjectorShowsTheLatestExistingItem(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.must(t, admin, Update{Questions: new(askingOpen)})
	ann := register(t, l, "Ann")
	first, second := l.must(t, ann, AskQuestion{Text: "a"}).(*pb.Question).Id, l.must(t, ann, AskQuestion{Text: "b"}).(*pb.Question).Id
	third := l.must(t, ann, AskQuestion{Text: "c"}).(*pb.Question).Id
	shows := func(what, want string) {
		t.Helper()
		if x := l.Capture().Spotlight; x.GetKind()+" "+x.GetId() != want {
			t.Errorf("%s: the projector shows %v, want %s", what, x, want)
		}
	}
	l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: first})
	shows("the first", SpotlightQuestion+" "+first)
	if again := l.eventKinds(t, Command{Caller: admin, Body: SetSpotlight{Kind: SpotlightQuestion, ID: first}}); len(again) != 0 {
		t.Errorf("showing the same item again made %v", again)
	}
	l.must(t, admin, SetSpotlight{Kind: SpotlightQuestion, ID: second})
	shows("another question", SpotlightQuestion+" "+second)
	l.must(t, admin, DeleteQuestion{QuestionID: first})
	shows("the first is deleted", SpotlightQuestion+" "+second)
	l.must(t, admin, MergeQuestion{QuestionID: second, Into: third})
	shows("the shown question was merged into another", " ")
	poll, other := l.newPoll(t, &pb.Poll{Kind: pollText, Question: "q"}).Id, l.newPoll(t, &pb.Poll{Kind: pollText, Question: "r"}).Id
	l.must(t, admin, SetSpotlight{Kind: SpotlightPoll, ID: poll})
	l.must(t, admin, DeletePoll{PollID: other})
	shows("another poll is deleted", SpotlightPoll+" "+poll)
	l.must(t, admin, DeletePoll{PollID: poll})
	shows("the poll is deleted", " ")
}

// Feedback can be given once, with the values of the form.
func TestFeedbackCanBeGivenOnce(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	ann := register(t, l, "Ann")
	for _, bad := range []GiveFeedback{{"0", "1", ""}, {"1", "6", ""}, {"", "1", ""}, {"1", "", ""}, {"10", "1", ""}, {"1", "1", string(make([]byte, 2001))}} {
		l.refused(t, ann, bad, durable.Invalid, "")
	}
	l.must(t, ann, GiveFeedback{Difficulty: "1", Satisfaction: "5"})
	l.refused(t, ann, GiveFeedback{Difficulty: "2", Satisfaction: "2"}, durable.Conflict, "already")
	if v := l.Capture(); v.Feedback.Len() != 1 || v.Feedback.At(0).Difficulty != "1" {
		t.Errorf("the stored feedback is %v", list(v.Feedback))
	}
}

// People click on links, so a link must lead to a web page.
func TestALinkMustBeAWebAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.org": true, "http://example.org/a?b#c": true, "HTTPS://example.org": true, " https://example.org ": true,
		"": false, "example.org": false, "//example.org": false, "javascript://example.org/%0aalert(1)": false, "javascript:alert(1)": false,
		"data:text/html,x": false, "ftp://example.org": false, "https://": false, "https:///path": false, "https://exa mple.org": false,
	} {
		l := newLab()
		l.create(t, "one")
		ann := register(t, l, "Ann")
		for _, c := range []Command{
			{Caller: admin, Body: AddMaterial{Material: &pb.Material{Title: "m", MaterialType: Link, LinkUrl: address}}},
			{Caller: ann, Body: AddSubmission{Submission: &pb.Submission{AttendeeId: ann.ID, SubmissionType: Link, LinkUrl: address}}},
		} {
			if _, err := l.do(c); (err == nil) != want {
				t.Errorf("%T with the link %q returned %v", c.Body, address, err)
			}
		}
		if len(l.uses) != 0 {
			t.Errorf("the link %q references uploads: %v", address, l.uses)
		}
	}
	// A material is either a link or a file.
	l := newLab()
	l.create(t, "one")
	for _, m := range []*pb.Material{
		{Title: "m", MaterialType: File, Upload: paper, LinkUrl: "https://example.org"}, {Title: "m", MaterialType: Link, Upload: paper, LinkUrl: "https://example.org"},
		{Title: "m", MaterialType: File}, {Title: "m", MaterialType: Link}, {Title: "m", MaterialType: "", Upload: paper},
	} {
		l.refused(t, admin, AddMaterial{Material: m}, durable.Invalid, "")
	}
}

// The allowed number of options depends on the kind of poll.
func TestPollOptionsAreBoundedByKind(t *testing.T) {
	between := func(least, most int) (out []int) {
		for n := least; n <= most; n++ {
			out = append(out, n)
		}
		return out
	}
	for kind, want := range map[string][]int{
		"choice": between(2, maxPollOptions), "several": between(2, maxPollOptions), "scale": {0, 2}, "words": {0},
		"text": append(between(2, maxPollBoxes), 0), "": nil,
	} {
		for n := range maxPollOptions + 2 {
			p := &pb.Poll{Kind: PollKind(kind), Question: "q"}
			for i := range n {
				p.Options = append(p.Options, fmt.Sprint("o", i))
			}
			if err := CheckPoll(p); (err == nil) != slices.Contains(want, n) {
				t.Errorf("a poll of kind %s with %d options returned %v", kind, n, err)
			}
		}
	}
}
