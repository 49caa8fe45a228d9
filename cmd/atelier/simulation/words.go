package simulation

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/usage/usagepb"
)

// word says one command of the vocabulary, about what a view shows. after is
// called with the reply when it was acknowledged. No body: there is nothing to say
// it about.
type word func(c *client, v *codelab.View) (cmd codelab.Command, after func(value any, seq uint64))

// words are the commands of a codelab. TestEveryCommandIsDrawn fails for one that
// is missing here, so what is added to the vocabulary is tried from then on. Create
// and Delete are for codelabs of their own, see client.shortLived.
var words = map[string]word{
	"Register": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		name := c.mark("person")
		body := codelab.Register{Name: name, Email: name + "@example.org", PINHash: []byte(c.mark("pin"))}
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleAnyone}, Body: body}, func(value any, seq uint64) {
			c.w.model.registered(value.(codelab.Registration).Attendee.Id, name, seq)
		}
	},
	"Remove": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		id := one(c, v.Attendees).GetId()
		c.w.model.removing(id)
		return lead(codelab.Remove{AttendeeID: id}), func(_ any, seq uint64) { c.w.model.wasRemoved(id, seq) }
	},
	"Rename": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		id, name := one(c, v.Attendees).GetId(), c.mark("renamed")
		c.w.model.naming(id, name)
		return lead(codelab.Rename{AttendeeID: id, Name: name}), nil
	},
	"ResetPin": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.ResetPin{AttendeeID: one(c, v.Attendees).GetId(), PINHash: []byte(c.mark("pin"))}), nil
	},
	"Mute": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.Mute{AttendeeID: one(c, v.Attendees).GetId(), Muted: c.coin()}), nil
	},
	"Progress": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.Progress{StepNumber: c.step()}), nil
	},
	"Complete": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.Complete{}), nil
	},
	"SetPulse": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.SetPulse{State: pb.PulseState(c.rand.IntN(4))}), nil
	},
	"PostChat": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		a, body := one(c, v.Attendees), codelab.PostChat{Message: c.mark("chat")}
		if c.rand.IntN(4) == 0 {
			body.TargetID = one(c, v.Attendees).GetId()
		}
		if c.rand.IntN(6) == 0 {
			return lead(codelab.PostChat{Message: c.mark("said"), Broadcast: c.coin()}), nil
		}
		return as(a, body), func(value any, seq uint64) {
			c.w.model.posted(value.(*pb.ChatMessage).Id, seq, a.GetId(), body.TargetID)
		}
	},
	"DeleteChat": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		m := one(c, v.Chat)
		if m == nil {
			return codelab.Command{}, nil
		}
		c.w.model.deleting(m.Id)
		return lead(codelab.DeleteChat{MessageID: m.Id}), func(_ any, seq uint64) { c.w.model.wasDeleted(m.Id, seq) }
	},
	"AskHelp": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.AskHelp{StepNumber: c.step(), Message: c.mark("help")}), nil
	},
	"OfferHelp": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.OfferHelp{AttendeeID: one(c, v.Attendees).GetId(), Message: c.mark("offer")}), nil
	},
	"ClaimHelp": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.ClaimHelp{HelpID: one(c, v.Help).GetId()}), nil
	},
	"ResolveHelp": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.ResolveHelp{HelpID: one(c, v.Help).GetId()}), nil
	},
	"Annotate": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		at := int32(c.rand.IntN(500) * 10)
		return as(one(c, v.Attendees), codelab.Annotate{
			TargetType: "guide", AnchorKey: fmt.Sprintf("guide|guide|h|%d|%d", at, at+5), StartOffset: at, EndOffset: at + 5,
			SelectedText: "s", ContentHash: "h", Message: c.mark("comment"),
		}), nil
	},
	"Reply": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.Reply{ThreadID: one(c, v.Threads).GetId(), Message: c.mark("reply"), ContentHash: "h"}), nil
	},
	"DeleteComment": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		t := one(c, v.Threads)
		if t == nil || len(t.Messages) == 0 {
			return codelab.Command{}, nil
		}
		return lead(codelab.DeleteComment{ThreadID: t.Id, CommentID: t.Messages[c.rand.IntN(len(t.Messages))].Id}), nil
	},
	"ReplaceQuizzes": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		quizzes := slices.Clone(v.Quizzes)
		if len(quizzes) > 3 {
			quizzes = quizzes[1:]
		}
		return lead(codelab.ReplaceQuizzes{Quizzes: append(quizzes, &pb.Quiz{Question: c.mark("q"), QuizType: codelab.Descriptive})}), nil
	},
	"SubmitQuiz": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		if len(v.Quizzes) == 0 {
			return codelab.Command{}, nil
		}
		items := []codelab.SubmittedAnswer{{QuizID: v.Quizzes[c.rand.IntN(len(v.Quizzes))].Id, Answer: c.mark("answer")}}
		return as(one(c, v.Attendees), codelab.SubmitQuiz{Items: items}), nil
	},
	"GiveFeedback": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.GiveFeedback{Difficulty: "1", Satisfaction: "5", Comment: c.mark("feedback")}), nil
	},
	"AddMaterial": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.AddMaterial{Material: &pb.Material{Title: c.mark("m"), MaterialType: codelab.Link, LinkUrl: "https://example.org"}}), nil
	},
	"DeleteMaterial": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.DeleteMaterial{MaterialID: one(c, v.Materials).GetId()}), nil
	},
	"AddSubmission": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		a := one(c, v.Attendees)
		s := &pb.Submission{AttendeeId: a.GetId(), SubmissionType: codelab.Link, LinkUrl: "https://example.org/" + c.mark("link"), FileName: c.mark("title")}
		return as(a, codelab.AddSubmission{Submission: s}), nil
	},
	"DeleteSubmission": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		s := one(c, v.Submissions)
		return lead(codelab.DeleteSubmission{AttendeeID: s.GetAttendeeId(), SubmissionID: s.GetId()}), nil
	},
	"AskAI": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.AskAI{Model: "m", StepNumber: c.step()}), nil
	},
	"NoteAIUse": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.NoteAIUse{Usage: &usagepb.AIUsage{Model: "m"}}), nil
	},
	"SaveConversation": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		return as(one(c, v.Attendees), codelab.SaveConversation{StepNumber: 1, Question: c.mark("question"), Answer: c.mark("ai"), Model: "m"}), nil
	},
	"Update": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		guide := "guide"
		return lead(codelab.Update{Title: proto.String(c.mark("title")), GuideMarkdown: &guide, QuizEnabled: proto.Bool(c.coin())}), nil
	},
	"ReplaceSteps": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		steps := slices.Clone(v.Steps)
		c.rand.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		if len(steps) > 4 {
			steps = steps[:3]
		}
		return lead(codelab.ReplaceSteps{Steps: append(steps, &pb.Step{Title: c.mark("step"), ContentMarkdown: "text"})}), nil
	},
	"SetRegistration": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.SetRegistration{Open: c.rand.IntN(4) > 0}), nil
	},
	"SetEnded": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.SetEnded{Ended: c.rand.IntN(6) == 0}), nil
	},
	"NoteExport": func(*client, *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.NoteExport{}), nil
	},
	"ApplyRetention": func(*client, *codelab.View) (codelab.Command, func(any, uint64)) {
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.ApplyRetention{}}, nil
	},
	"SetPin": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.SetPin{Message: proto.String(c.mark("pinned"))}), nil
	},
	"Point": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		step := c.step()
		return lead(codelab.Point{StepNumber: &step, Hints: c.coin()}), nil
	},
	"CreateWorkspace": func(c *client, _ *codelab.View) (codelab.Command, func(any, uint64)) {
		heads := []*pb.WorkspaceHead{{Name: "main", Tree: c.mark("tree")}}
		return lead(codelab.CreateWorkspace{ID: c.mark("workspace"), StructureType: codelab.BranchWorkspace, Heads: heads, Current: "main"}), nil
	},
	"ChangeWorkspace": func(c *client, v *codelab.View) (codelab.Command, func(any, uint64)) {
		if v.Workspace == nil {
			return codelab.Command{}, nil
		}
		h := v.Workspace.Heads[0]
		return lead(codelab.ChangeWorkspace{WorkspaceID: v.Workspace.Id, Name: h.Name, Before: h.Tree, After: c.mark("tree")}), nil
	},
	"DeleteWorkspace": func(*client, *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.DeleteWorkspace{}), nil
	},
	"NoteDownload": func(*client, *codelab.View) (codelab.Command, func(any, uint64)) {
		return lead(codelab.NoteDownload{}), nil
	},
}

// names are those of words, sorted: a seed draws the same each time.
var names = slices.Sorted(maps.Keys(words))

// one draws an item of a list; nil of an empty one.
func one[T any](c *client, list cow.View[*T]) *T {
	if list.Len() == 0 {
		return nil
	}
	return list.At(c.rand.IntN(list.Len()))
}

func lead(body codelab.Body) codelab.Command { return codelab.Command{Caller: facilitator, Body: body} }

func as(a *pb.Attendee, body codelab.Body) codelab.Command {
	return codelab.Command{
		Caller: &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Name: a.Name, Person: a.Id, Generation: a.Generation}, Body: body,
	}
}

func (c *client) coin() bool { return c.rand.IntN(2) == 0 }

func (c *client) step() int32 { return int32(1 + c.rand.IntN(3)) }
