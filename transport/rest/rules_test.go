package rest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/archive"
	"atelier/transport/intake"
)

var update = flag.Bool("update", false, "write the tables of RULES.md and openapi.json anew")

// TestTheTablesOfTheRulesAreTrue: what RULES.md says of access and limits is what the
// code does.
func TestTheTablesOfTheRulesAreTrue(t *testing.T) {
	b, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, table := range map[string]string{"operations": operationsTable(), "limits": limitsTable()} {
		before, rest, ok := strings.Cut(text, "<!-- "+name+" -->\n")
		_, after, ends := strings.Cut(rest, "<!-- end -->")
		if !ok || !ends {
			t.Fatalf("RULES.md has no place for the table of %s", name)
		}
		text = before + "<!-- " + name + " -->\n" + table + "<!-- end -->" + after
	}
	if *update {
		if err := os.WriteFile("RULES.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(b) {
		t.Error("RULES.md is not what the code says; run make generate")
	}
}

func operationsTable() string {
	who := map[Access]string{
		Anyone: "anybody", Session: "any session", AdminOnly: "facilitators", CodelabAdmin: "facilitators",
		AdminLogin: "the owner, facilitators; no API tokens", OwnerOrToken: "the owner, API tokens", OwnerOnly: "the owner",
		Leader:        "the owner, facilitators, assistants; no API tokens",
		CodelabMember: "facilitators, attendees of the codelab", CodelabAttendee: "attendees of the codelab",
		CodelabReader: "anybody if it is public, else as members", Registrant: "anybody", Somebody: "facilitators, attendees of any codelab",
	}
	var b strings.Builder
	b.WriteString("| Operation | Who |\n|---|---|\n")
	for _, o := range operations {
		root := ""
		if o.Root {
			root = " (not below `/api`)"
		}
		more := ""
		if o.Assistants {
			more = ", assistants of the codelab"
		}
		fmt.Fprintf(&b, "| %s `%s`%s | %s%s |\n", o.Method, o.Path, root, who[o.Access], more)
	}
	return b.String()
}

func limitsTable() string {
	c := codelab.Bounds
	mib := func(bytes int) string { return fmt.Sprintf("%d MiB", bytes>>20) }
	var b strings.Builder
	b.WriteString("| What | At most |\n|---|---|\n")
	for _, l := range []struct {
		what string
		most any
	}{
		{"a title", c.Title}, {"a name of a person", c.Name}, {"an author", c.Author}, {"a description", c.Description},
		{"the text of a step, the guide", c.Markdown}, {"a message, a comment", c.Message}, {"what a request for help says", c.HelpMessage},
		{"a question of a quiz", c.Question}, {"an answer to one", c.Answer}, {"an address", c.URL},
		{"steps of a codelab", c.Steps}, {"questions of its quiz", c.Quizzes}, {"its materials", c.Materials}, {"its attendees", c.Attendees},
		{"threads of comments", c.Threads}, {"comments in one", c.ThreadMessages}, {"messages of its chat", c.Chat},
		{"things that one person hands in", c.Submissions},
		{"polls", c.Polls}, {"options of one", c.PollOptions}, {"boxes of one that asks for a text", c.PollBoxes}, {"an option", c.PollOption}, {"the question of a poll", c.PollQuestion},
		{"words of a vote", c.VoteWords}, {"one of them", c.VoteWord}, {"the text of a vote", c.VoteText},
		{"seconds of a poll, of the timer", c.MostSeconds}, {"the label of the timer", c.TimerLabel},
		{"questions to all", c.Questions}, {"one of them, in characters", c.QuestionText}, {"of one person that are not answered", c.OpenAsked},
		{"a JSON body", mib(maxJSON)}, {"a body of somebody not yet known", fmt.Sprintf("%d KiB", maxUnknown>>10)}, {"the steps of a codelab in one body", mib(maxSteps)},
		{"an image", mib(intake.MaxImage)}, {"a material", mib(intake.MaxMaterial)}, {"a file that is handed in", mib(codelab.MaxSubmissionBytes)}, {"all that one person hands in", mib(codelab.MaxAttendeeBytes)},
		{"an import, packed", mib(archive.MaxPacked)},
	} {
		fmt.Fprintf(&b, "| %s | %v |\n", l.what, l.most)
	}
	return b.String()
}

// TestAVoteIsAnsweredAlthoughThePollWasClosed: it counted, and was answered as if there were
// no such poll.
func TestAVoteIsAnsweredAlthoughThePollWasClosed(t *testing.T) {
	p := &pb.Poll{Id: "p", Kind: pb.PollKind_POLL_KIND_CHOICE, Options: []string{"a", "b"}, Right: []int32{1}, Counts: []int32{2, 3}, Votes: 5, TooFew: true, State: pb.PollState_POLL_STATE_CLOSED}
	if got := unseen(p); got == nil || got.State != "closed" || got.Counts != nil || got.Right != nil || got.TooFew || got.Votes != 5 {
		t.Errorf("answered %+v", got)
	}
	if got := unseen(&pb.Poll{State: pb.PollState_POLL_STATE_DRAFT}); got != nil {
		t.Errorf("of a draft %+v", got)
	}
}
