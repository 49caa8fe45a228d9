package rest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/settings"
	"atelier/transport/archive"
	"atelier/transport/auth"
	"atelier/transport/intake"
)

var update = flag.Bool("update", false, "rewrite the tables of RULES.md and openapi.json")

// The tables of access and limits in RULES.md match the code.
func TestTheTablesOfTheRulesAreUpToDate(t *testing.T) {
	b, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, table := range map[string]string{"operations": operationsTable(), "limits": limitsTable()} {
		before, rest, ok := strings.Cut(text, "<!-- "+name+" -->\n")
		_, after, ends := strings.Cut(rest, "<!-- end -->")
		if !ok || !ends {
			t.Fatalf("RULES.md has no section for the table of %s", name)
		}
		text = before + "<!-- " + name + " -->\n" + table + "<!-- end -->" + after
	}
	if *update {
		if err := os.WriteFile("RULES.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(b) {
		t.Error("the tables in RULES.md are out of date; run make generate")
	}
}

func operationsTable() string {
	who := map[Access]string{
		Anyone: "anybody", Session: "any session", AdminOnly: "facilitators", CodelabAdmin: "facilitators",
		AdminLogin: "the owner, facilitators; no API tokens", OwnerOrToken: "the owner, API tokens", OwnerOnly: "the owner",
		Leader:        "the owner, facilitators, assistants; no API tokens",
		CodelabMember: "facilitators, attendees of the codelab", CodelabAttendee: "attendees of the codelab",
		CodelabReader: "anybody if the codelab is public, else facilitators, attendees of the codelab", Registrant: "anybody", Somebody: "facilitators, attendees of any codelab",
	}
	var b strings.Builder
	b.WriteString("| Operation | Who | API tokens |\n|---|---|---|\n")
	for _, o := range operations {
		root := ""
		if o.Root {
			root = " (not below `/api`)"
		}
		more := ""
		if o.Assistants {
			more = ", assistants of the codelab"
		}
		fmt.Fprintf(&b, "| %s `%s`%s | %s%s | %s |\n", o.Method, o.Path, root, who[o.Access], more, tokensOf(&o))
	}
	return b.String()
}

// tokensOf returns the API tokens that can call an operation, by their scope.
func tokensOf(o *Operation) string {
	switch o.Access {
	case OwnerOnly, AdminLogin, Leader, CodelabAttendee:
		return "none"
	}
	var scopes []string
	for _, scope := range []string{settings.ScopeAll, settings.ScopeRead, settings.ScopeImport} {
		if (&Request{op: o, who: auth.Identity{Token: &settings.ApiToken{Scope: scope}}}).inScope() {
			scopes = append(scopes, "`"+scope+"`")
		}
	}
	return strings.Join(scopes, ", ")
}

func limitsTable() string {
	c := codelab.Bounds
	mib := func(bytes int) string { return fmt.Sprintf("%d MiB", bytes>>20) }
	letters := func(n int) string { return grouped(n) + " characters" }
	var b strings.Builder
	b.WriteString("| What | At most |\n|---|---|\n")
	for _, l := range []struct {
		what string
		most string
	}{
		{"title", letters(c.Title)}, {"name of a person", letters(c.Name)}, {"author", letters(c.Author)}, {"description", letters(c.Description)},
		{"text of a step, or the guide", letters(c.Markdown)}, {"chat message, or comment", letters(c.Message)}, {"message of a help request", letters(c.HelpMessage)},
		{"question of a quiz", letters(c.QuizQuestion)}, {"option of a quiz question", letters(c.QuizOption)}, {"answer to a quiz question", letters(c.Answer)},
		{"question to the AI", letters(c.AIQuestion)}, {"URL", letters(c.URL)},
		{"poll question", letters(c.PollQuestion)}, {"poll option", letters(c.PollOption)}, {"word of a vote", letters(c.VoteWord)}, {"text of a vote", letters(c.VoteText)},
		{"label of the timer", letters(c.TimerLabel)}, {"question of an attendee", letters(c.QuestionText)},
		{"steps of a codelab", grouped(c.Steps)}, {"tasks of a step that can be ticked", grouped(c.Tasks)}, {"questions of a quiz", grouped(c.Quizzes)}, {"options of a quiz question", grouped(c.QuizOptions)},
		{"materials of a codelab", grouped(c.Materials)}, {"attendees of a codelab", grouped(c.Attendees)},
		{"comment threads of a codelab", grouped(c.Threads)}, {"comments in a thread", grouped(c.ThreadMessages)}, {"chat messages of a codelab", grouped(c.Chat)},
		{"submissions of an attendee", grouped(c.Submissions)},
		{"polls of a codelab", grouped(c.Polls)}, {"options of a poll", grouped(c.PollOptions)}, {"boxes of a text poll", grouped(c.PollBoxes)}, {"words of a vote", grouped(c.VoteWords)},
		{"attendees' questions of a codelab", grouped(c.Questions)}, {"unanswered questions of an attendee", grouped(c.OpenAsked)},
		{"duration of a poll or the timer", grouped(c.MaxSeconds) + " s"},
		{"JSON body", mib(maxJSON)}, {"JSON body of a client without a session", fmt.Sprintf("%d KiB", maxUnknown>>10)}, {"JSON body with the steps of a codelab", mib(maxSteps)},
		{"image", mib(intake.MaxImage)}, {"material", mib(intake.MaxMaterial)}, {"submitted file", mib(codelab.MaxSubmissionBytes)}, {"all files of an attendee", mib(codelab.MaxAttendeeBytes)},
		{"import, packed", mib(archive.MaxPacked)},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", l.what, l.most)
	}
	return b.String()
}

// The response to a vote contains the poll even if the poll has closed meanwhile. In an earlier
// version, such a vote was counted, but the response was the one for a missing poll.
func TestAVoteIsAnsweredWithAClosedPoll(t *testing.T) {
	p := &pb.Poll{Id: "p", Kind: pb.PollKind_POLL_KIND_CHOICE, Options: []string{"a", "b"}, Right: []int32{1}, Counts: []int32{2, 3}, Votes: 5, TooFew: true, State: pb.PollState_POLL_STATE_CLOSED}
	if got := unseen(p); got == nil || got.State != "closed" || got.Counts != nil || got.Right != nil || got.TooFew || got.Votes != 5 {
		t.Errorf("for a closed poll, unseen returned %+v", got)
	}
	if got := unseen(&pb.Poll{State: pb.PollState_POLL_STATE_DRAFT}); got != nil {
		t.Errorf("for a draft, unseen returned %+v, want nil", got)
	}
}
