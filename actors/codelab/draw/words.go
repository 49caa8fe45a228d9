// Package draw generates random commands for a codelab, from the whole vocabulary, about the
// content of a view. The simulator and property tests use it, so all of them cover additions to the
// vocabulary.
package draw

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/proto"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/files"
	"atelier/actors/usage"
)

// Checked is the end of the text of a step that declares the check "build".
const Checked = "\n\n```check build\nIt builds\n```\n"

// tasks returns the end of a step, with a check and tasks. One of the tasks differs from step to
// step.
func (s *Source) tasks() string {
	return Checked + fmt.Sprintf("\n- [ ] Save\n- [x] Run %d\n- [ ] Save\n", s.made%3)
}

// tick ticks a task of a step, or removes the tick; sometimes the task does not exist. It uses no
// randomness, so that stored seeds draw the same commands as before tasks existed.
func (s *Source) tick(v *codelab.View) codelab.Tick {
	i := s.made % len(v.Tasks)
	b := codelab.Tick{StepID: v.Steps[i].Id, Item: "none", Done: s.made%8 > 0}
	if n := s.made / 2 % 8; n < 2*len(v.Tasks[i]) {
		b.Item = v.Tasks[i][n/2].Key
	}
	return b
}

// rehearse sometimes starts a rehearsal, registers a simulated attendee, or ends the rehearsal.
// Otherwise it returns a command without a body. The names of simulated attendees are not marks,
// because a real attendee can have the same name. Like tick, rehearse uses no randomness.
func (s *Source) rehearse(v *codelab.View) codelab.Command {
	switch run := v.Meta.GetRehearsal(); {
	case run == nil && s.made%16 == 7:
		return Lead(codelab.StartRehearsal{People: 3, Minutes: 2, Force: s.made%32 < 16})
	case run == nil:
		return codelab.Command{}
	case s.made%4 == 1:
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.Register{Name: fmt.Sprint("Simulated ", s.made), Simulated: true}}
	case s.made%16 == 14:
		return Lead(codelab.EndRehearsal{})
	}
	return codelab.Command{}
}

// Facilitator is the caller of facilitators' commands.
var Facilitator = &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Facilitator", Person: codelab.PersonPrefix + "login", AdminID: "admin"}

// Helper is another facilitator.
var Helper = &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Helper", Person: codelab.PersonPrefix + "helper", AdminID: "helper"}

// Source provides the drawn values. Not safe for concurrent use.
type Source struct {
	Rand *rand.Rand
	// Name is part of each text, so that texts of different sources differ.
	Name string
	// Uploads are names of uploads to which half of the texts and materials refer.
	Uploads []string
	// Sums are contents of submissions; without any, submissions are links.
	Sums [][]byte
	// Secret is the id of the secret for the ballots of anonymous polls.
	Secret string
	made   int
}

// Mark returns a unique text.
func (s *Source) Mark(what string) string {
	s.made++
	return fmt.Sprintf("%s-%d-of-%s", what, s.made, s.Name)
}

// Word draws one command of the vocabulary for a view. It returns a command without a body if it
// draws no command, for example because the view contains nothing to which the command applies.
type Word func(s *Source, v *codelab.View) codelab.Command

// Words are the commands of a codelab by name. A test fails if a command of the vocabulary is
// missing here and is not one of the test's exceptions.
var Words = map[string]Word{
	"Register": func(s *Source, v *codelab.View) codelab.Command {
		name := s.Mark("person")
		if cmd := s.rehearse(v); cmd.Body != nil {
			return cmd
		}
		body := codelab.Register{Name: name, Email: name + "@example.org", PINHash: []byte(s.Mark("pin"))}
		if a := One(s, v.Attendees); a != nil && s.coin() {
			body.Siblings = []string{a.Id}
		}
		switch a := One(s, v.Attendees); s.Rand.IntN(8) {
		case 0, 1:
			body.Email = ""
		case 2: // a returning attendee
			if a != nil {
				body.Name, body.PINHash = a.Name, a.PinHash
			}
		}
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleAnyone}, Body: body}
	},
	"Remove": func(s *Source, v *codelab.View) codelab.Command {
		id := One(s, v.Attendees).GetId()
		return Lead(codelab.Remove{AttendeeID: id, Erase: s.coin()})
	},
	"Rename": func(s *Source, v *codelab.View) codelab.Command {
		id, name := One(s, v.Attendees).GetId(), s.Mark("renamed")
		return Lead(codelab.Rename{AttendeeID: id, Name: name})
	},
	"ResetPin": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.ResetPin{Pins: []codelab.NewPin{{AttendeeID: One(s, v.Attendees).GetId(), Hash: []byte(s.Mark("pin"))}}})
	},
	"Mute": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.Mute{AttendeeID: One(s, v.Attendees).GetId(), Muted: s.coin()})
	},
	"Progress": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.Progress{StepNumber: s.step()})
	},
	"Complete": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.Complete{})
	},
	"SetPulse": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.SetPulse{State: pb.PulseState(s.Rand.IntN(4))})
	},
	"PostChat": func(s *Source, v *codelab.View) codelab.Command {
		a, body := One(s, v.Attendees), codelab.PostChat{Message: s.mention(s.Mark("chat"))}
		if s.Rand.IntN(4) == 0 {
			body.TargetID = One(s, v.Attendees).GetId()
		}
		if s.Rand.IntN(6) == 0 {
			return Lead(codelab.PostChat{Message: s.mention(s.Mark("said")), Broadcast: s.coin()})
		}
		return as(a, body)
	},
	"DeleteChat": func(s *Source, v *codelab.View) codelab.Command {
		m := One(s, v.Chat)
		if m == nil {
			return codelab.Command{}
		}
		return Lead(codelab.DeleteChat{MessageID: m.Id})
	},
	"AskHelp": func(s *Source, v *codelab.View) codelab.Command {
		ask := codelab.AskHelp{StepNumber: s.step(), Message: s.Mark("help")}
		if s.coin() {
			ask.Message = ""
		}
		return as(One(s, v.Attendees), ask)
	},
	"OfferHelp": func(s *Source, v *codelab.View) codelab.Command {
		return s.lead(codelab.OfferHelp{AttendeeID: One(s, v.Attendees).GetId(), Message: s.Mark("offer")})
	},
	"ClaimHelp": func(s *Source, v *codelab.View) codelab.Command {
		return s.lead(codelab.ClaimHelp{HelpID: One(s, v.Help).GetId()})
	},
	"ResolveHelp": func(s *Source, v *codelab.View) codelab.Command {
		return s.lead(codelab.ResolveHelp{HelpID: One(s, v.Help).GetId()})
	},
	"ReleaseHelp": func(s *Source, v *codelab.View) codelab.Command {
		return s.lead(codelab.ReleaseHelp{HelpID: One(s, v.Help).GetId(), Reason: s.Mark("reason")})
	},
	"AnswerHelp": func(s *Source, v *codelab.View) codelab.Command {
		ids := []string{One(s, v.Help).GetId(), One(s, v.Help).GetId()}
		return Lead(codelab.AnswerHelp{HelpIDs: ids, Message: s.Mark("answered")})
	},
	"ReleaseClaims": func(s *Source, v *codelab.View) codelab.Command {
		return codelab.Command{
			Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.ReleaseClaims{Persons: []string{One(s, v.Help).GetClaimedPerson()}},
		}
	},
	"ReportCheck": func(s *Source, v *codelab.View) codelab.Command {
		a := One(s, v.Attendees)
		check := codelab.ReportCheck{Name: "build", OK: s.coin(), Note: s.Mark("note")}
		if s.made%2 == 0 && len(v.Tasks) > 0 {
			return as(a, s.tick(v))
		}
		return as(a, check)
	},
	"SetPlace": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.SetPlace{Place: s.Mark("place")})
	},
	"Annotate": func(s *Source, v *codelab.View) codelab.Command {
		at := int32(s.Rand.IntN(500) * 10)
		return as(One(s, v.Attendees), codelab.Annotate{
			TargetType: "guide", AnchorKey: fmt.Sprintf("guide|guide|h|%d|%d", at, at+5), StartOffset: at, EndOffset: at + 5,
			SelectedText: "s", ContentHash: "h", Message: s.mention(s.Mark("comment")),
		})
	},
	"Reply": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.Reply{ThreadID: One(s, v.Threads).GetId(), Message: s.mention(s.Mark("reply")), ContentHash: "h"})
	},
	"DeleteComment": func(s *Source, v *codelab.View) codelab.Command {
		t := One(s, v.Threads)
		if t == nil || len(t.Messages) == 0 {
			return codelab.Command{}
		}
		return Lead(codelab.DeleteComment{ThreadID: t.Id, CommentID: t.Messages[s.Rand.IntN(len(t.Messages))].Id})
	},
	"ReplaceQuizzes": func(s *Source, v *codelab.View) codelab.Command {
		quizzes := slices.Clone(v.Quizzes)
		if len(quizzes) > 3 {
			quizzes = quizzes[1:]
		}
		return Lead(codelab.ReplaceQuizzes{Quizzes: append(quizzes, &pb.Quiz{Question: s.mention(s.Mark("q")), QuizType: codelab.Descriptive})})
	},
	"SubmitQuiz": func(s *Source, v *codelab.View) codelab.Command {
		if len(v.Quizzes) == 0 {
			return codelab.Command{}
		}
		items := []codelab.SubmittedAnswer{{QuizID: v.Quizzes[s.Rand.IntN(len(v.Quizzes))].Id, Answer: s.Mark("answer")}}
		return as(One(s, v.Attendees), codelab.SubmitQuiz{Items: items})
	},
	"GiveFeedback": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.GiveFeedback{Difficulty: "1", Satisfaction: "5", Comment: s.Mark("feedback")})
	},
	"AddMaterial": func(s *Source, _ *codelab.View) codelab.Command {
		m := &pb.Material{Title: s.Mark("m"), MaterialType: codelab.Link, LinkUrl: "https://example.org"}
		if name := s.upload(); name != "" {
			m.MaterialType, m.LinkUrl, m.Upload = codelab.File, "", name
		}
		return Lead(codelab.AddMaterial{Material: m})
	},
	"DeleteMaterial": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.DeleteMaterial{MaterialID: One(s, v.Materials).GetId()})
	},
	"AddSubmission": func(s *Source, v *codelab.View) codelab.Command {
		a := One(s, v.Attendees)
		work := &pb.Submission{
			AttendeeId: a.GetId(), SubmissionType: codelab.Link, LinkUrl: "https://example.org/" + s.Mark("link"), FileName: s.Mark("title"),
		}
		if len(s.Sums) > 0 {
			work.SubmissionType, work.LinkUrl, work.FileSize = codelab.File, "", 1
			work.Sum = s.Sums[s.Rand.IntN(len(s.Sums))]
		}
		return as(a, codelab.AddSubmission{Submission: work})
	},
	"DeleteSubmission": func(s *Source, v *codelab.View) codelab.Command {
		work := One(s, v.Submissions)
		return Lead(codelab.DeleteSubmission{AttendeeID: work.GetAttendeeId(), SubmissionID: work.GetId()})
	},
	"AskAI": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.AskAI{Model: "m", StepNumber: s.step()})
	},
	"NoteAIUse": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.NoteAIUse{Usage: &usage.AIUsage{Model: "m"}})
	},
	"SaveConversation": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.SaveConversation{StepNumber: 1, Question: s.Mark("question"), Answer: s.Mark("ai"), Model: "m"})
	},
	"Update": func(s *Source, _ *codelab.View) codelab.Command {
		guide := s.mention("guide")
		return Lead(codelab.Update{Title: proto.String(s.Mark("title")), GuideMarkdown: &guide, QuizEnabled: proto.Bool(s.coin()), Questions: pb.Asking(s.Rand.IntN(3)).Enum(), ChatRetentionDays: proto.Int32(int32(s.Rand.IntN(2))), EmailRetentionDays: proto.Int32(int32(s.Rand.IntN(2)))})
	},
	"ReplaceSteps": func(s *Source, v *codelab.View) codelab.Command {
		steps := slices.Clone(v.Steps)
		s.Rand.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		if len(steps) > 4 {
			steps = steps[:3]
		}
		return Lead(codelab.ReplaceSteps{Steps: append(steps, &pb.Step{Title: s.Mark("step"), ContentMarkdown: s.mention("text") + s.tasks()})})
	},
	"Publish": func(s *Source, v *codelab.View) codelab.Command {
		steps := slices.Clone(v.Steps)
		s.Rand.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		steps = append(steps[:min(len(steps), 3)], &pb.Step{Title: s.Mark("step"), ContentMarkdown: s.mention("text") + s.tasks()})
		guide, materials := s.mention("guide"), []*pb.Material{{Title: s.Mark("material"), MaterialType: codelab.Link, LinkUrl: "https://example.org"}}
		b := codelab.Publish{Title: s.Mark("title"), Guide: &guide, Steps: steps, DryRun: s.Rand.IntN(5) == 0}
		if s.coin() {
			b.Materials = &materials
		}
		return Lead(b)
	},
	"SetRegistration": func(s *Source, _ *codelab.View) codelab.Command {
		return Lead(codelab.SetRegistration{Open: s.Rand.IntN(4) > 0})
	},
	"SetEnded": func(s *Source, _ *codelab.View) codelab.Command {
		return Lead(codelab.SetEnded{Ended: s.Rand.IntN(6) == 0, DeletionDays: s.made % 3 * 7})
	},
	"NoteExport": func(*Source, *codelab.View) codelab.Command {
		return Lead(codelab.NoteExport{})
	},
	"ApplyRetention": func(s *Source, _ *codelab.View) codelab.Command {
		c := codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.ApplyRetention{}}
		if s.made%2 == 0 { // not random, so that stored seeds draw the same as before
			c.Body = codelab.SetDeletion{Days: s.made % 50}
		}
		return c
	},
	"SetPin": func(s *Source, _ *codelab.View) codelab.Command {
		return Lead(codelab.SetPin{Message: proto.String(s.mention(s.Mark("pinned")))})
	},
	"Point": func(s *Source, _ *codelab.View) codelab.Command {
		step := s.step()
		return Lead(codelab.Point{StepNumber: &step, Hints: s.coin()})
	},
	"CreatePoll": func(s *Source, v *codelab.View) codelab.Command {
		kind := pb.PollKind(1 + s.Rand.IntN(5))
		p := &pb.Poll{Kind: kind, Question: s.Mark("poll"), Anonymous: s.coin()}
		if kind <= pb.PollKind_POLL_KIND_SCALE || kind == pb.PollKind_POLL_KIND_TEXT && s.coin() {
			p.Options = []string{"a", "b"}
		}
		if kind <= pb.PollKind_POLL_KIND_SEVERAL && s.coin() {
			p.Right = []int32{1}
		}
		return Lead(codelab.CreatePoll{Poll: p})
	},
	"UpdatePoll": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.UpdatePoll{PollID: s.poll(v).GetId(), Question: proto.String(s.Mark("poll"))})
	},
	"OpenPoll": func(s *Source, v *codelab.View) codelab.Command {
		body := codelab.OpenPoll{PollID: s.poll(v).GetId(), Secret: s.Secret}
		if s.coin() {
			body.Seconds = proto.Int32(5)
		}
		return Lead(body)
	},
	"ClosePoll": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.ClosePoll{PollID: s.poll(v).GetId()})
	},
	"CloseDuePoll": func(*Source, *codelab.View) codelab.Command {
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.CloseDuePoll{}}
	},
	"DropQuestions": func(*Source, *codelab.View) codelab.Command {
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.DropQuestions{}}
	},
	"ShowPoll": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.ShowPoll{PollID: s.poll(v).GetId(), Shown: s.coin()})
	},
	"ResetPoll": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.ResetPoll{PollID: s.poll(v).GetId()})
	},
	"DeletePoll": func(s *Source, v *codelab.View) codelab.Command {
		if s.Rand.IntN(4) > 0 {
			return codelab.Command{}
		}
		return Lead(codelab.DeletePoll{PollID: s.poll(v).GetId()})
	},
	"Vote": func(s *Source, v *codelab.View) codelab.Command {
		p := s.poll(v)
		if open := v.OpenPoll(); open != nil {
			p = open.Poll
		}
		body := codelab.Vote{PollID: p.GetId(), Round: p.GetRound()}
		mark := s.Mark
		if p.GetAnonymous() { // not a mark, because texts in anonymous polls stay when their author is erased
			mark = func(what string) string { s.made++; return fmt.Sprint("some ", what, " ", s.made) }
		}
		switch p.GetKind() {
		case pb.PollKind_POLL_KIND_SCALE:
			body.Scale = proto.Int32(int32(1 + s.Rand.IntN(5)))
		case pb.PollKind_POLL_KIND_WORDS:
			body.Words = []string{"same", mark("word")}
		case pb.PollKind_POLL_KIND_TEXT:
			body.Text = proto.String(mark("text"))
		default:
			body.Choice = []int32{int32(s.Rand.IntN(2))}
		}
		return as(One(s, v.Attendees), body)
	},
	"Unvote": func(s *Source, v *codelab.View) codelab.Command {
		p := s.poll(v)
		if open := v.OpenPoll(); open != nil {
			p = open.Poll
		}
		return as(One(s, v.Attendees), codelab.Unvote{PollID: p.GetId()})
	},
	"AskQuestion": func(s *Source, v *codelab.View) codelab.Command {
		a := One(s, v.Attendees)
		if a != nil && s.coin() { // one person asks often, and sometimes exceeds the permitted number of questions
			a = v.Attendees.At(0)
		}
		return as(a, codelab.AskQuestion{Text: s.Mark("asked"), Anonymous: s.coin()})
	},
	"TakeQuestion": func(s *Source, v *codelab.View) codelab.Command {
		if s.coin() {
			return Lead(codelab.TakeQuestion{ChatID: One(s, v.Chat).GetId()})
		}
		return Lead(codelab.TakeQuestion{HelpID: One(s, v.Help).GetId(), Text: s.Mark("taken")})
	},
	"ChangeQuestion": func(s *Source, v *codelab.View) codelab.Command {
		body := codelab.ChangeQuestion{QuestionID: s.question(v)}
		if s.coin() {
			body.Answer = proto.String(s.Mark("answer"))
		} else {
			body.State = pb.QuestionState(s.Rand.IntN(4)).Enum()
		}
		return Lead(body)
	},
	"DeleteQuestion": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.DeleteQuestion{QuestionID: s.question(v)})
	},
	"VoteQuestion": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.VoteQuestion{QuestionID: s.question(v), Withdrawn: s.Rand.IntN(4) == 0})
	},
	"MergeQuestion": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.MergeQuestion{QuestionID: s.question(v), Into: s.question(v)})
	},
	"StopAsker": func(s *Source, v *codelab.View) codelab.Command {
		return Lead(codelab.StopAsker{QuestionID: s.question(v)})
	},
	"SetTimer": func(s *Source, _ *codelab.View) codelab.Command {
		if s.coin() {
			return Lead(codelab.SetTimer{})
		}
		return Lead(codelab.SetTimer{Seconds: proto.Int32(int32(5 + s.Rand.IntN(100))), Label: s.Mark("timer"), Break: s.coin()})
	},
	"SetSpotlight": func(s *Source, v *codelab.View) codelab.Command {
		switch s.Rand.IntN(3) {
		case 0:
			return Lead(codelab.SetSpotlight{Kind: codelab.SpotlightPoll, ID: s.poll(v).GetId()})
		case 1:
			return Lead(codelab.SetSpotlight{Kind: codelab.SpotlightQuestion, ID: s.question(v)})
		}
		return Lead(codelab.SetSpotlight{Kind: codelab.SpotlightTimer})
	},
	"CreateWorkspace": func(s *Source, _ *codelab.View) codelab.Command {
		heads := []*pb.WorkspaceHead{{Name: "main", Tree: s.Mark("tree")}}
		return Lead(codelab.CreateWorkspace{ID: s.Mark("workspace"), StructureType: codelab.BranchWorkspace, Heads: heads, Current: "main"})
	},
	"ChangeWorkspace": func(s *Source, v *codelab.View) codelab.Command {
		if v.Workspace == nil {
			return codelab.Command{}
		}
		h := v.Workspace.Heads[0]
		return Lead(codelab.ChangeWorkspace{WorkspaceID: v.Workspace.Id, Name: h.Name, Before: h.Tree, After: s.Mark("tree")})
	},
	"PushWorkspace": func(s *Source, v *codelab.View) codelab.Command {
		if v.Workspace == nil {
			return Lead(codelab.PushWorkspace{WorkspaceID: s.Mark("workspace"), Moves: []codelab.HeadMove{{Name: "main", After: s.Mark("tree")}}})
		}
		h := v.Workspace.Heads[0]
		return Lead(codelab.PushWorkspace{WorkspaceID: v.Workspace.Id, Commits: 2, Moves: []codelab.HeadMove{
			{Name: h.Name, Before: h.Tree, After: s.Mark("tree")}, {Name: s.Mark("branch"), After: s.Mark("tree")},
		}})
	},
	"DeleteWorkspace": func(*Source, *codelab.View) codelab.Command {
		return Lead(codelab.DeleteWorkspace{})
	},
	"TakeCode": func(s *Source, v *codelab.View) codelab.Command {
		return as(One(s, v.Attendees), codelab.TakeCode{Name: s.Mark("branch")})
	},
}

// Names lists the sorted names of Words, so that a seed always draws the same commands.
var Names = slices.Sorted(maps.Keys(Words))

// Subjects are groups of related commands, in which a frequent command occurs several times.
// Behaviour that needs several commands, like a poll in which five people vote, hardly ever occurs
// if commands are drawn from all subjects.
var Subjects = [][]string{
	{"Register", "CreatePoll", "OpenPoll", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Vote", "Unvote", "Unvote", "ClosePoll", "ShowPoll", "ResetPoll", "UpdatePoll", "CloseDuePoll", "DeletePoll", "Remove", "Remove", "SetSpotlight"},
	{"Register", "Register", "AskQuestion", "AskQuestion", "AskQuestion", "VoteQuestion", "VoteQuestion", "VoteQuestion", "MergeQuestion", "ChangeQuestion", "TakeQuestion", "DeleteQuestion", "StopAsker", "PostChat", "Remove", "Update", "SetSpotlight"},
	{"Register", "AskHelp", "AskHelp", "OfferHelp", "ClaimHelp", "ClaimHelp", "ReleaseHelp", "ReleaseHelp", "ResolveHelp", "AnswerHelp", "ReleaseClaims", "SetPlace", "Rename", "Remove", "TakeQuestion"},
	{"Register", "Progress", "Progress", "Progress", "Publish", "ReplaceSteps", "Point", "SetPulse", "AskHelp", "Annotate", "Complete", "SetTimer", "SetPin", "ReportCheck"},
	{"Register", "PostChat", "PostChat", "DeleteChat", "Annotate", "Reply", "DeleteComment", "AddSubmission", "DeleteSubmission", "SaveConversation", "GiveFeedback", "SubmitQuiz", "ReplaceQuizzes", "ApplyRetention", "Mute", "Remove"},
}

// Of draws the name of a command. Most draws are from the subject, and some from all commands.
func Of(s *Source, subject []string) string {
	if s.Rand.IntN(4) == 0 {
		return Names[s.Rand.IntN(len(Names))]
	}
	return subject[s.Rand.IntN(len(subject))]
}

// One draws an item of a list, or returns nil if the list is empty.
func One[T any](s *Source, list cow.View[*T]) *T {
	if list.Len() == 0 {
		return nil
	}
	return list.At(s.Rand.IntN(list.Len()))
}

// Lead returns a command of the facilitator.
func Lead(body codelab.Body) codelab.Command { return codelab.Command{Caller: Facilitator, Body: body} }

// lead returns a command of one of two facilitators.
func (s *Source) lead(body codelab.Body) codelab.Command {
	if s.coin() {
		return codelab.Command{Caller: Helper, Body: body}
	}
	return Lead(body)
}

// as returns an attendee's command, or an empty command if a is nil.
func as(a *pb.Attendee, body codelab.Body) codelab.Command {
	if a == nil {
		return codelab.Command{}
	}
	return codelab.Command{
		Caller: &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Name: a.Name, Person: a.Id, Generation: a.Generation}, Body: body,
	}
}

// upload draws one of Uploads in half the cases, and otherwise returns "".
func (s *Source) upload() string {
	if len(s.Uploads) == 0 || s.coin() {
		return ""
	}
	return s.Uploads[s.Rand.IntN(len(s.Uploads))]
}

// mention adds an upload to a text in half the cases.
func (s *Source) mention(text string) string {
	if name := s.upload(); name != "" {
		text += " ![](" + files.Folder + name + ")"
	}
	return text
}

// poll draws a poll, or returns nil if there are no polls.
func (s *Source) poll(v *codelab.View) *pb.Poll {
	if len(v.Polls) == 0 {
		return nil
	}
	return v.Polls[s.Rand.IntN(len(v.Polls))].Poll
}

// question draws the id of a question, or returns "" without questions.
func (s *Source) question(v *codelab.View) string {
	if len(v.Questions) == 0 {
		return ""
	}
	return v.Questions[s.Rand.IntN(len(v.Questions))].Id
}

func (s *Source) coin() bool { return s.Rand.IntN(2) == 0 }

func (s *Source) step() int32 { return int32(1 + s.Rand.IntN(3)) }
