package codelab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// textOf parses steps of the form "Title", "Title=content" or "#mark Title".
func textOf(lines ...string) (out []*pb.Step) {
	for _, l := range lines {
		mark := ""
		if strings.HasPrefix(l, "#") {
			mark, l, _ = strings.Cut(l[1:], " ")
			mark = "<!-- id: " + mark + " -->\n"
		}
		title, content, _ := strings.Cut(l, "=")
		out = append(out, &pb.Step{Title: title, ContentMarkdown: mark + content})
	}
	return out
}

func TestStepsAreMatched(t *testing.T) {
	for name, c := range map[string]struct {
		old, made, want string // want: the numbers of the old steps, - for a new one
	}{
		"nothing changed": {"A B C", "A B C", "1 2 3"},
		"steps are matched by their titles in any order":        {"A B C", "C A B", "3 1 2"},
		"an inserted step is new":                               {"A B", "A X B", "1 - 2"},
		"a renamed step is matched with the next unmatched one": {"A B C", "A X C", "1 2 3"},
		"unmatched steps are matched in order":                  {"A B C", "X Y Z", "1 2 3"},
		"a title that occurs twice does not match":              {"A A B", "B A A", "3 1 2"},
		"an id takes precedence over a title":                   {"#one A/B", "B/#one C", "2 1"},
		"an id of a stored step is matched":                     {"A B", "#id2 X/Y", "2 1"},
		"an id that occurs twice is matched once":               {"#one A/#one B", "#one B/#one A", "1 2"},
		"an unknown id is ignored":                              {"A B", "#else B/A", "2 1"},
	} {
		split := func(s string) []string {
			if strings.ContainsAny(s, "/") {
				return strings.Split(s, "/")
			}
			if strings.HasPrefix(s, "#") {
				return []string{s}
			}
			return strings.Fields(s)
		}
		old := textOf(split(c.old)...)
		for i, st := range old {
			st.Id = fmt.Sprint("id", i+1)
		}
		var got []string
		for _, id := range matchSteps(old, textOf(split(c.made)...)) {
			if id = strings.TrimPrefix(id, "id"); id == "" {
				id = "-"
			}
			got = append(got, id)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: matched %v, want %s", name, got, c.want)
		}
	}
}

// changes formats the changes of the steps in a reply to Publish.
func (p Published) changes() string {
	var out []string
	for _, st := range p.Steps {
		out = append(out, st.Title+" "+string(st.Change))
	}
	return strings.Join(out, ", ")
}

func (l *lab) publish(t *testing.T, b Publish) Published {
	t.Helper()
	if b.Title == "" {
		b.Title = "Lab"
	}
	v, err := l.do(Command{Caller: admin, Body: b})
	if err != nil {
		t.Fatal(err)
	}
	return v.(Published)
}

func TestPeopleStayOnTheirStep(t *testing.T) {
	l := newLab()
	l.create(t, "A", "B", "C", "D")
	lin, max := register(t, l, "Lin"), register(t, l, "Max")
	l.must(t, lin, Progress{StepNumber: 3})
	l.must(t, max, Progress{StepNumber: 2})
	l.must(t, lin, AskHelp{StepNumber: 3})
	l.must(t, admin, Point{StepNumber: new3()})
	for _, st := range l.steps[1:3] {
		l.must(t, lin, Annotate{
			TargetType: TargetStep, TargetStepID: st.Id, EndOffset: 7, SelectedText: "content", ContentHash: "h", Message: "m",
			AnchorKey: "step|" + st.Id + "|h|0|7",
		})
	}

	next := Publish{Steps: textOf("New=x", "A=content of A", "C=other", "D=content of D"), DryRun: true}
	// The titles B and New occur on one side only, so these steps are matched by their order, and B
	// is not removed. A removed step follows below.
	dry := l.publish(t, next)
	if got := dry.changes(); got != "New changed, A moved, C changed, D same" {
		t.Error("dry run with a new step:", got)
	}

	next.Steps = textOf("A=content of A", "C=other", "D=content of D")
	before := len(l.events)
	if dry = l.publish(t, next); dry.changes() != "A same, C changed, D same, B removed" || dry.PeopleOnRemovedSteps != 1 || dry.StaleThreads != 1 || dry.RemovedThreads != 1 {
		t.Errorf("dry run with a removed step: %s %+v", dry.changes(), dry)
	}
	if len(l.events) != before {
		t.Error("a dry run changed something")
	}
	next.DryRun = false
	if done := l.publish(t, next); done.changes() != dry.changes() || done.StaleThreads != 1 || done.RemovedThreads != 1 {
		t.Error("publishing reports", done.changes())
	}
	for who, want := range map[*Caller]int32{lin: 2, max: 1} {
		if a := l.attendee(who.ID); a.CurrentStep != want {
			t.Errorf("%s is on step %d, want %d", who.Name, a.CurrentStep, want)
		}
	}
	if h := l.help.At(0); h.StepNumber != 2 {
		t.Error("the help request is about step", h.StepNumber)
	}
	if l.pointer.GetStepNumber() != 2 {
		t.Error("the pointer is", l.pointer)
	}
	if again := l.publish(t, next); again.changes() != "A same, C same, D same" {
		t.Error("publishing again reports", again.changes())
	}
	back := replay(l.empty(), 0, l.events)
	if a := back.attendee(lin.ID); a.CurrentStep != 2 || a.FurthestStep != 2 || len(a.ReachedAt) != 2 {
		t.Error("after a replay, Lin is", a)
	}
}

func new3() *int32 { n := int32(3); return &n }

// After any publication each person is on their step, or on the nearest earlier step that remains.
// The times at which they reached steps are in order.
func TestMovedAndRemovedStepsKeepEverybodysPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := func(what string) (out []*pb.Step) {
			ids := rapid.SliceOfNDistinct(rapid.IntRange(1, 12), 1, 8, func(i int) int { return i }).Draw(t, what)
			for _, id := range ids {
				out = append(out, &pb.Step{Id: fmt.Sprint(id)})
			}
			return out
		}
		old, made := some("old"), some("made")
		a := &pb.Attendee{CurrentStep: int32(rapid.IntRange(1, len(old)).Draw(t, "current"))}
		a.FurthestStep = max(a.CurrentStep, int32(rapid.IntRange(1, len(old)).Draw(t, "furthest")))
		for i := range a.FurthestStep {
			a.ReachedAt = append(a.ReachedAt, int64(100+10*i))
		}
		was := old[a.CurrentStep-1]
		movesOf(old, made).followed(a, 7)
		switch {
		case hasStep(made, was.Id):
			if made[a.CurrentStep-1].Id != was.Id {
				t.Fatal("the attendee was moved off a step that still exists")
			}
		case a.StepSince != 7:
			t.Fatal("the attendee was moved to another step, but StepSince is not the time of the move")
		}
		if a.CurrentStep < 1 || a.FurthestStep < a.CurrentStep || int(a.FurthestStep) > len(made) ||
			len(a.ReachedAt) != int(a.FurthestStep) || !slices.IsSorted(a.ReachedAt) || a.ReachedAt[0] < 100 {
			t.Fatal("the attendee's progress is inconsistent:", a)
		}
	})
}

// A report lists every present and every removed step. Steps that it reports as the same keep their
// order.
func TestThePublishReportListsEachStepOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		titles := rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", "C", "D"}), 1, 6)
		old, made := textOf(titles.Draw(t, "old")...), textOf(titles.Draw(t, "made")...)
		for i, st := range old {
			st.Id = fmt.Sprint("id", i)
		}
		ids := matchSteps(old, made)
		used := map[string]bool{}
		for i, id := range ids {
			if id != "" && used[id] {
				t.Fatal("a stored step is matched twice")
			}
			if used[id] = true; id == "" {
				id = fmt.Sprint("new", i)
			}
			made[i].Id = id
		}
		if len(old) <= len(made) && slices.ContainsFunc(old, func(st *pb.Step) bool { return !used[st.Id] }) {
			t.Fatal("a stored step is removed although a new step is unmatched")
		}
		count := map[Change]int{}
		last := -1
		for _, c := range stepChanges(old, made) {
			count[c.Change]++
			if at := slices.IndexFunc(old, func(st *pb.Step) bool { return st.Id == c.ID }); c.Change == Same {
				if at < last {
					t.Fatal("a moved step is reported as the same")
				}
				last = at
			}
		}
		n := 0
		for k := range maps.Values(count) {
			n += k
		}
		if n-count[Gone] != len(made) || n-count[Added] != len(old) {
			t.Fatal("the report does not list each step once:", count)
		}
	})
}

func TestPublishingChangesOnlyWhatItContains(t *testing.T) {
	l := newLab()
	l.create(t, "A")
	guide := "the guide"
	l.must(t, admin, Update{GuideMarkdown: &guide})
	l.must(t, admin, AddMaterial{Material: &pb.Material{Title: "old", MaterialType: Link, LinkUrl: "https://example.org"}})
	l.publish(t, Publish{Title: "New", Slug: "my-lab", Steps: textOf("A=1")})
	if l.meta.Title != "New" || l.meta.Slug != "my-lab" || l.meta.GetGuideMarkdown() != guide || l.materials.Len() != 1 || !l.meta.IsPublic {
		t.Error("publishing changed a setting that it does not contain:", l.meta)
	}
	materials := []*pb.Material{{Title: "new", MaterialType: Link, LinkUrl: "https://example.org"}}
	l.publish(t, Publish{Title: "New", Steps: textOf("A=1"), Materials: &materials})
	if l.materials.Len() != 1 || l.materials.At(0).Title != "new" {
		t.Error("the codelab's materials differ from the materials of the version")
	}
	before := len(l.events)
	l.publish(t, Publish{Title: "New", Steps: textOf("A=1"), Materials: &materials})
	if len(l.events) != before {
		t.Error("publishing the same version again made events")
	}
	l.refused(t, admin, Publish{Title: "New"}, durable.Invalid, "steps")
	l.refused(t, admin, Publish{Steps: textOf("A")}, durable.Invalid, "title")
	if _, err := l.do(Command{Caller: admin, IfMatch: []uint64{1}, Body: Publish{Title: "New", Steps: textOf("A")}}); err != errOutdated {
		t.Error("publishing with an unknown revision returned", err)
	}
}

// Questions and polls with unchanged wording keep their answers and votes.
func TestPublishingKeepsUnchangedQuizzesAndPolls(t *testing.T) {
	l := newLab()
	l.create(t, "A")
	lin := register(t, l, "Lin")
	quiz := func(question string) *pb.Quiz {
		return &pb.Quiz{Question: question, QuizType: MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{0}}
	}
	l.must(t, admin, ReplaceQuizzes{Quizzes: []*pb.Quiz{quiz("one"), quiz("two")}})
	id := l.quizzes[1].Id
	l.must(t, lin, SubmitQuiz{Items: []SubmittedAnswer{{id, "0"}}})
	open := l.newPoll(t, choicePoll(false))
	l.must(t, admin, OpenPoll{PollID: open.Id})

	quizzes := []*pb.Quiz{quiz("two"), quiz("three")}
	polls := []*pb.Poll{choicePoll(false), {Kind: pollText, Question: "What else?"}}
	polls[0].Options = []string{"other", "options"}
	l.publish(t, Publish{Steps: textOf("A=1"), Quizzes: &quizzes, Polls: polls, SourceID: "source"})
	if len(l.quizzes) != 2 || l.quizzes[0].Id != id || l.quizzes[0].Question != "two" {
		t.Error("the quizzes are", l.quizzes)
	}
	if len(l.polls) != 2 || slices.Equal(l.polls[0].rec.Options, polls[0].Options) || l.polls[1].rec.Question != "What else?" {
		t.Error("the polls are", len(l.polls), l.polls[0].rec)
	}
	before := len(l.events)
	l.publish(t, Publish{Steps: textOf("A=1"), Quizzes: &quizzes, Polls: polls, SourceID: "source"})
	if len(l.events) != before {
		t.Error("publishing the same version again made events")
	}
}

// A draft that had votes before a reset keeps its round, so that a late vote for an earlier round
// is not counted.
func TestAPublishedPollKeepsItsRound(t *testing.T) {
	l := newLab()
	l.create(t, "A")
	lin := register(t, l, "Lin")
	first := l.newPoll(t, choicePoll(false))
	l.must(t, admin, OpenPoll{PollID: first.Id})
	l.must(t, admin, ResetPoll{PollID: first.Id})
	next := choicePoll(false)
	next.Options = []string{"other", "options"}
	l.publish(t, Publish{Steps: textOf("A=1"), Polls: []*pb.Poll{next}, SourceID: "source"})
	if p := l.polls[0].rec; len(l.polls) != 1 || p.Round != 2 || !slices.Equal(p.Options, next.Options) {
		t.Errorf("there are %d polls, the first is %v", len(l.polls), p)
	}
	l.must(t, admin, OpenPoll{PollID: first.Id})
	l.refused(t, lin, choose(first, 0), durable.Conflict, "round 2")
}

// Two polls with the same question stay separate. In an earlier version, the second replaced the
// options of the first.
func TestPollsWithTheSameQuestionStaySeparate(t *testing.T) {
	l := newLab()
	l.create(t, "A")
	options := [][]string{{"a", "b"}, {"c", "d"}}
	polls := make([]*pb.Poll, len(options))
	for i := range options {
		polls[i] = choicePoll(false)
		polls[i].Options = options[i]
	}
	for range 2 {
		l.publish(t, Publish{Steps: textOf("A=1"), Polls: polls, SourceID: "source"})
		if len(l.polls) != len(options) {
			t.Fatalf("there are %d polls, want one for each in the version", len(l.polls))
		}
		for i, p := range l.polls {
			if !slices.Equal(p.rec.Options, options[i]) {
				t.Errorf("poll %d has the options %v", i, p.rec.Options)
			}
		}
	}
}

// A version is committed together with its id, its row in the list, its files, and the references
// of its texts and materials.
func TestAVersionRecordsItsReferences(t *testing.T) {
	l := newLab()
	l.create(t, "A")
	rows := func(b Publish) map[string]string {
		t.Helper()
		b.Title = "Lab"
		d, err := l.Decide(Command{Caller: admin, Body: b}, durable.Env{Now: l.now, Seq: l.seq + 1})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, r := range d.Rows {
			what := "put"
			if r.Delete || r.TTL > 0 {
				what = "gone"
			}
			out[r.Table+" "+strings.ReplaceAll(string(r.Key), "\x00", " ")] = what
		}
		l.publish(t, b)
		return out
	}
	expect := func(got map[string]string, want ...string) {
		t.Helper()
		for _, w := range want {
			key, what, _ := strings.Cut(w, "=")
			if got[key] != what {
				t.Errorf("row %s: %q, want %q; all rows: %v", key, got[key], what, got)
			}
		}
	}
	of := func(uploads ...string) *[]*pb.Material {
		out := []*pb.Material{}
		for _, u := range uploads {
			out = append(out, &pb.Material{Title: "m", MaterialType: File, Upload: u})
		}
		return &out
	}
	byMaterial, byText := "uploaduses "+paper+" lab "+string(files.ByMaterial), "uploaduses "+image+" lab "+string(files.ByText)
	upload := &pb.Upload{Name: paper, Sum: make([]byte, 32), OriginalName: "b.pdf"}
	expect(rows(Publish{Slug: "one", Steps: textOf("A=" + files.Folder + image), Materials: of(paper), Uploads: []*pb.Upload{upload}}),
		"slugs one=put", "codelabs lab=put", "uploads "+paper+"=put", byMaterial+"=put", byText+"=put")
	expect(rows(Publish{Slug: "two", Steps: textOf("A=x"), Materials: of(paper, paper)}),
		"slugs one=gone", "slugs two=put", byMaterial+"=put", byText+"=gone")
	expect(rows(Publish{Steps: textOf("A=x"), Materials: of()}), "slugs two=", byMaterial+"=gone")
}

// When a step is removed, its pulses end with a notice to clients, uploads in its comments lose
// their references, and its people move to the previous step.
func TestItemsOfARemovedStepEnd(t *testing.T) {
	for name, remove := range map[string]func(l *lab) Body{
		"by a version": func(*lab) Body { return Publish{Title: "Lab", Steps: textOf("A=content of A")} },
		"by an editor": func(l *lab) Body { return ReplaceSteps{Steps: l.steps[:1]} },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab()
			l.create(t, "A", "B")
			lin := register(t, l, "Lin")
			l.must(t, lin, Progress{StepNumber: 2})
			l.must(t, lin, SetPulse{State: pb.PulseState_PULSE_STATE_STUCK})
			b := l.steps[1].Id
			l.must(t, lin, Annotate{
				TargetType: TargetStep, TargetStepID: b, EndOffset: 7, SelectedText: "content", ContentHash: "h",
				Message: files.Folder + image, AnchorKey: "step|" + b + "|h|0|7",
			})
			used := "uploaduses " + image + " lab " + string(files.ByTalk)
			if !l.uses[used] {
				t.Fatalf("the comment has no reference to its upload: %v", l.uses)
			}
			from := len(l.events)
			l.must(t, admin, remove(l))
			if l.uses[used] {
				t.Error("an upload is still referenced by the removed comment")
			}
			if a := l.attendee(lin.ID); a.Pulse != nil || a.CurrentStep != 1 {
				t.Errorf("Lin is %v, want step 1 without a pulse", a)
			}
			if !slices.ContainsFunc(l.events[from:], func(e *pb.Event) bool {
				return e.GetPulsed().GetAttendeeId() == lin.ID && e.GetPulsed().State == pb.PulseState_PULSE_STATE_NONE && e.GetPulsed().StepNumber == 1
			}) {
				t.Error("no event reports the end of the pulse")
			}
		})
	}
}

// If the editor replaces all steps, people keep the number of their step.
func TestReplacingAllStepsKeepsStepNumbers(t *testing.T) {
	l := newLab()
	l.create(t, "A", "B")
	lin := register(t, l, "Lin")
	l.must(t, lin, Progress{StepNumber: 2})
	l.must(t, admin, ReplaceSteps{Steps: textOf("X=x", "Y=y")})
	if a := l.attendee(lin.ID); a.CurrentStep != 2 {
		t.Errorf("Lin is on step %d, want 2", a.CurrentStep)
	}
}

// Publishing is refused if the code was changed through another node meanwhile.
func TestPublishingRefusesToReplaceChangedCode(t *testing.T) {
	l := newLab()
	l.create(t, "A")
	l.must(t, admin, CreateWorkspace{ID: "w", StructureType: BranchWorkspace, Heads: []*pb.WorkspaceHead{{Name: "main", Tree: "1"}}, Current: "main"})
	seen := l.workspace
	next := Publish{
		Title: "Lab", Steps: textOf("A"), SourceID: "source", Replaces: seen,
		Workspace: &CreateWorkspace{ID: "x", StructureType: BranchWorkspace, Heads: []*pb.WorkspaceHead{{Name: "main", Tree: "3"}}, Current: "main"},
	}
	l.must(t, admin, ChangeWorkspace{WorkspaceID: "w", Name: "main", Before: "1", After: "2"})
	l.refused(t, admin, next, durable.Conflict, "changed meanwhile")
	next.Replaces = l.workspace
	if done := l.publish(t, next); done.OldWorkspace != "w" || l.workspace.Id != "x" {
		t.Error("the old and the new workspace are", done.OldWorkspace, l.workspace)
	}
}

// All materials are replaced when any field of any of them differs.
func TestMaterialsAreReplacedWhenOneDiffers(t *testing.T) {
	materials := func() []*pb.Material {
		return []*pb.Material{{Title: "a", MaterialType: Link, LinkUrl: "https://example.org/a"}, {Title: "b", MaterialType: File, Upload: paper}}
	}
	for what, change := range map[string]func(m []*pb.Material) []*pb.Material{
		"":           func(m []*pb.Material) []*pb.Material { return m },
		"a title":    func(m []*pb.Material) []*pb.Material { m[0].Title = "c"; return m },
		"an address": func(m []*pb.Material) []*pb.Material { m[0].LinkUrl = "https://example.org/c"; return m },
		"a file":     func(m []*pb.Material) []*pb.Material { m[1].Upload = image; return m },
		"a kind": func(m []*pb.Material) []*pb.Material {
			m[0] = &pb.Material{Title: "a", MaterialType: File, Upload: image}
			return m
		},
		"a removed material": func(m []*pb.Material) []*pb.Material { return m[:1] },
		"an added material":  func(m []*pb.Material) []*pb.Material { return append(m, materials()[0]) },
		"their order":        func(m []*pb.Material) []*pb.Material { m[0], m[1] = m[1], m[0]; return m },
	} {
		l := newLab()
		l.create(t, "one")
		for _, m := range materials() {
			l.must(t, admin, AddMaterial{Material: m})
		}
		before, now := l.Capture().Materials, change(materials())
		l.publish(t, Publish{Steps: []*pb.Step{{Id: l.steps[0].Id, Title: "one", ContentMarkdown: "content of one"}}, Materials: &now})
		var got []string
		for _, m := range l.materials.All() {
			got = append(got, fmt.Sprint(m.Title, m.MaterialType, m.LinkUrl, m.Upload))
		}
		var want []string
		for _, m := range now {
			want = append(want, fmt.Sprint(m.Title, m.MaterialType, m.LinkUrl, m.Upload))
		}
		if !slices.Equal(got, want) || (l.materials.At(0).Id == before.At(0).Id) != (what == "") {
			t.Errorf("after changing %q, the materials are %q, want %q", what, got, want)
		}
	}
}

// A dry run must not report success for a version that cannot be published.
func TestADryRunRefusesWhatAPublishRefuses(t *testing.T) {
	tooMany := make([]*pb.Poll, maxPolls+1)
	for i := range tooMany {
		tooMany[i] = choicePoll(false)
		tooMany[i].Question = fmt.Sprint("Question ", i)
	}
	untitled := []*pb.Material{{MaterialType: Link, LinkUrl: "https://example.org"}}
	for what, b := range map[string]Publish{"polls": {Polls: tooMany}, "a material": {Materials: &untitled}} {
		for _, dry := range []bool{true, false} {
			l := newLab()
			l.create(t, "A")
			b.Steps, b.DryRun = textOf("A=1"), dry
			l.refused(t, admin, b, durable.Invalid, "")
			if t.Failed() {
				t.Fatalf("%s, dry run %v", what, dry)
			}
		}
	}
}
