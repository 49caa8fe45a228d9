package codelab

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/usage"
)

// anyCodeCommand draws a command about conversations, the AI or the workspace if cmd has no body
// yet.
func anyCodeCommand(t *rapid.T, l *lab, cmd *Command, step int32, yes bool) {
	if cmd.Body != nil {
		return
	}
	trees := []string{"", "t1", "t2", "t3"}
	tree := func(label string) string { return rapid.SampledFrom(trees).Draw(t, label) }
	id := "w1"
	if l.workspace != nil && yes {
		id = l.workspace.Id
	}
	switch rapid.IntRange(0, 6).Draw(t, "code") {
	case 0, 1:
		cmd.Body = SaveConversation{StepNumber: step, Question: "why", Answer: strings.Repeat("b", int(step)), Model: "m"}
	case 2:
		cmd.Body = AskAI{Model: "m", StepNumber: step}
	case 3:
		cmd.Body = NoteAIUse{Usage: &usage.AIUsage{Model: fmt.Sprint(step), Queries: 1, TotalTokens: int64(step)}}
	case 4:
		cmd.Caller = admin
		cmd.Body = CreateWorkspace{
			ID: fmt.Sprint("w", step), StructureType: BranchWorkspace, Heads: []*pb.WorkspaceHead{{Name: "main", Tree: "t1"}}, Current: "main",
		}
	case 5:
		cmd.Caller = admin
		cmd.Body = ChangeWorkspace{
			WorkspaceID: id, Name: rapid.SampledFrom([]string{"main", "a", "b"}).Draw(t, "head"), Before: tree("before"), After: "t" + fmt.Sprint(step),
		}
	case 6:
		cmd.Caller = admin
		cmd.Body = DeleteWorkspace{}
	}
}

func ask(t *testing.T, l *lab, who *Caller, body Command) error {
	t.Helper()
	body.Caller = who
	_, err := l.do(body)
	return err
}

func reason(err error) durable.Reason {
	var r *durable.Rejection
	errors.As(err, &r)
	if r == nil {
		return 0
	}
	return r.Reason
}

func register(t *testing.T, l *lab, name string) *Caller {
	t.Helper()
	anyone := &Caller{Role: RoleAnyone}
	if err := ask(t, l, anyone, Command{Body: Register{Name: name}}); err != nil {
		t.Fatal(err)
	}
	for _, a := range l.attendees.All() {
		if a.Name == name {
			return attendeeCaller(a)
		}
	}
	t.Fatal("not registered")
	return nil
}

func TestSavedConversationsDoNotDisplaceThoseOfOthers(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	lin, eve := register(t, l, "Lin"), register(t, l, "Eve")
	save := func(who *Caller, size int) {
		t.Helper()
		c := Command{Body: SaveConversation{Question: "q", Answer: strings.Repeat("a", size)}}
		if err := ask(t, l, who, c); err != nil {
			t.Fatal(err)
		}
	}
	of := func(who *Caller) (n int) {
		for _, c := range l.conversations.All() {
			if c.UserId == who.ID {
				n++
			}
		}
		return n
	}
	save(lin, 10)
	for range 3 * maxPersonConversations {
		save(eve, 1)
		if n := of(eve); n > maxPersonConversations {
			t.Fatalf("Eve has %d saved conversations, more than the limit per person", n)
		}
	}
	if of(lin) != 1 || of(eve) < maxPersonConversations*9/10 {
		t.Errorf("%d of Lin's and %d of Eve's conversations are kept", of(lin), of(eve))
	}
	for range 60 {
		save(eve, 150_000)
	}
	if by := l.saved[eve.ID]; by.bytes > maxPersonConversationSize || by.count != of(eve) || of(lin) != 1 {
		t.Errorf("Eve's saved conversations have %+v, which exceeds the limits or is miscounted", by)
	}
	if l.savedAll.count != l.conversations.Len() {
		t.Errorf("savedAll counts %d conversations, but there are %d", l.savedAll.count, l.conversations.Len())
	}
}

// The number of saved conversations per codelab is bounded. The latest conversations stay,
// regardless of their authors.
func TestTheOldestSavedConversationsAreRemoved(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	var who []*Caller
	for i := range maxConversations/(maxPersonConversations-1) + 2 {
		who = append(who, register(t, l, fmt.Sprint("p", i)))
	}
	for i := range maxConversations + 1 {
		l.now = l.now.Add(time.Millisecond)
		l.must(t, who[i%len(who)], SaveConversation{Question: fmt.Sprint(i), Answer: "a"})
	}
	if first, n := l.conversations.At(0).Question, l.conversations.Len(); n != maxConversations*9/10 || first != fmt.Sprint(maxConversations+1-n) {
		t.Errorf("%d conversations are kept, the oldest is number %s", n, first)
	}
	if l.savedAll.count != l.conversations.Len() {
		t.Errorf("savedAll counts %d conversations, but there are %d", l.savedAll.count, l.conversations.Len())
	}
}

func TestOnlyAdminsAskTheAIWhileItIsOff(t *testing.T) {
	l := newLab()
	l.create(t, "one", "two")
	lin := register(t, l, "Lin")
	try := func(who *Caller, step int32) durable.Reason {
		return reason(ask(t, l, who, Command{Body: AskAI{Model: "m", StepNumber: step}}))
	}
	off := false
	if try(lin, 2) != 0 || try(lin, 3) != durable.Invalid || try(admin, 0) != 0 {
		t.Error("with the AI switched on, permissions are wrong")
	}
	if err := ask(t, l, admin, Command{Body: Update{AIEnabled: &off}}); err != nil {
		t.Fatal(err)
	}
	if try(lin, 0) != durable.Forbidden || try(admin, 0) != 0 {
		t.Error("with the AI switched off, permissions are wrong")
	}
	last := l.audits[len(l.audits)-1]
	if last.Action != "ai_query" || last.ActorType != "admin" || last.Metadata["model"] != "m" {
		t.Errorf("the last audit record is %v", last)
	}
}

func TestAHeadMovesOnlyFromItsCurrentTree(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	change := func(id, name, before, after string) durable.Reason {
		return reason(ask(t, l, admin, Command{Body: ChangeWorkspace{WorkspaceID: id, Name: name, Before: before, After: after}}))
	}
	make := CreateWorkspace{ID: "w", StructureType: FolderWorkspace, Heads: []*pb.WorkspaceHead{{Name: "main", Tree: "t1"}}, Current: "main"}
	if change("w", "main", "t1", "t2") != durable.Missing {
		t.Error("a change without a workspace is not refused as Missing")
	}
	if err := ask(t, l, admin, Command{Body: make}); err != nil {
		t.Fatal(err)
	}
	first := l.Capture()
	for i, try := range []struct {
		id, name, before, after string
		want                    durable.Reason
	}{
		{"w", "main", "t1", "t2", 0}, {"w", "main", "t1", "t3", durable.Conflict}, {"other", "main", "t2", "t3", durable.Missing},
		{"w", "a", "", "t2", 0}, {"w", "a", "", "t2", durable.Conflict}, {"w", "b", "t1", "t2", durable.Missing}, {"w", "main", "t2", "t4", 0},
	} {
		if got := change(try.id, try.name, try.before, try.after); got != try.want {
			t.Errorf("change %d: %v, want %v", i, got, try.want)
		}
	}
	if w := l.workspace; len(w.Heads) != 2 || w.Heads[0].Tree != "t2" || w.Heads[1].Tree != "t4" || w.Current != "main" {
		t.Errorf("the workspace is %v", w)
	}
	if first.Workspace.Heads[0].Tree != "t1" {
		t.Error("an earlier view changed")
	}
	if reason(ask(t, l, admin, Command{Body: make})) != durable.Conflict {
		t.Error("a second workspace was created")
	}
}

func TestAPushSucceedsOrFailsAsAWhole(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	push := func(id string, moves ...HeadMove) durable.Reason {
		return reason(ask(t, l, admin, Command{Body: PushWorkspace{WorkspaceID: id, Moves: moves, Commits: 3}}))
	}
	heads := func() (out string) {
		for _, h := range l.workspace.Heads {
			out += h.Name + ":" + h.Tree + " "
		}
		return out + l.workspace.Current
	}
	if push("w", HeadMove{"main", "", "t2"}) != durable.Missing {
		t.Error("a push without a workspace is not refused as Missing")
	}
	make := CreateWorkspace{ID: "w", StructureType: BranchWorkspace, Heads: []*pb.WorkspaceHead{{Name: "main", Tree: "t1"}}, Current: "main"}
	if err := ask(t, l, admin, Command{Body: make}); err != nil {
		t.Fatal(err)
	}
	before := l.Capture()
	for i, try := range []struct {
		id    string
		moves []HeadMove
		want  durable.Reason
		after string
	}{
		{"w", []HeadMove{{"main", "t1", "t2"}, {"b", "", "t3"}, {"a", "", "t2"}}, 0, "a:t2 b:t3 main:t2 a"},
		{"other", []HeadMove{{"main", "t2", "t4"}}, durable.Missing, ""},
		{"w", nil, durable.Invalid, ""},
		{"w", []HeadMove{{"main", "t2", "t4"}, {"main", "t2", "t5"}}, durable.Invalid, ""},
		{"w", []HeadMove{{"main", "t2", "t4"}, {"b", "t2", "t4"}}, durable.Conflict, ""},
		{"w", []HeadMove{{"main", "t2", "t4"}, {"b", "", "t4"}}, durable.Conflict, ""},
		{"w", []HeadMove{{"main", "t2", "t4"}, {"c", "t2", "t4"}}, durable.Conflict, ""},
		{"w", []HeadMove{{"main", "t2", "t4"}, {"c", "", ""}}, durable.Missing, ""},
		{"w", []HeadMove{{"main", "t2", ""}}, durable.Conflict, ""},
		{"w", []HeadMove{{"a", "t2", ""}, {"c", "", "t6"}}, 0, "b:t3 c:t6 main:t2 c"},
		{"w", []HeadMove{{"c", "t6", ""}}, 0, "b:t3 main:t2 main"},
	} {
		was := heads()
		if got := push(try.id, try.moves...); got != try.want {
			t.Errorf("push %d: %v, want %v", i, got, try.want)
		}
		if try.after == "" {
			try.after = was
		}
		if got := heads(); got != try.after {
			t.Errorf("after push %d, the heads are %s, want %s", i, got, try.after)
		}
	}
	last := l.audits[len(l.audits)-1]
	if last.Action != "git_push" || last.Metadata["commits"] != "3" || last.Metadata["branches"] != "c" || last.Metadata["removed"] != "1" {
		t.Errorf("the last audit record is %v", last)
	}
	if before.Workspace.Heads[0].Tree != "t1" || len(before.Workspace.Heads) != 1 {
		t.Error("an earlier view changed")
	}
	var many []HeadMove
	for i := range maxHeads {
		many = append(many, HeadMove{fmt.Sprint("m", i), "", "t"})
	}
	if push("w", many...) != durable.Conflict {
		t.Error("a push with too many branches is not refused as a Conflict")
	}
}
