package codelab

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "atelier/actors/codelab/codelabpb"
)

// Each setting can be changed without changing another one, and the audit trail names the changed
// setting.
func TestEachSettingChangesAlone(t *testing.T) {
	text, number, yes := proto.String("text"), proto.Int32(7), proto.Bool(true)
	for _, tc := range []struct {
		body   Update
		member string // the member of the record
		named  string // the name in the audit trail, if it differs from member
	}{
		{Update{Title: text}, "title", ""},
		{Update{Description: text}, "description", ""},
		{Update{Author: text}, "author", ""},
		{Update{IsPublic: proto.Bool(false)}, "is_public", ""},
		{Update{QuizEnabled: yes}, "quiz_enabled", ""},
		{Update{RequireQuiz: yes}, "require_quiz", ""},
		{Update{RequireFeedback: yes}, "require_feedback", ""},
		{Update{RequireSubmission: yes}, "require_submission", ""},
		{Update{RequireChecks: yes}, "require_checks", ""},
		{Update{GuideMarkdown: text}, "guide_markdown,guide_sum", "guide_markdown"},
		{Update{EmailRetentionDays: number}, "email_retention_days", ""},
		{Update{ChatRetentionDays: number}, "chat_retention_days", ""},
		{Update{AIEnabled: proto.Bool(false)}, "ai_disabled", "ai_enabled"},
		{Update{Questions: new(askingChecked)}, "questions", ""},
		{Update{QuestionsNamed: yes}, "questions_named", "questions_anonymous"},
		{Update{ShareCode: new(pb.Sharing_SHARING_ALL)}, "share_code", ""},
		{Update{Organiser: text}, "organiser", ""},
		{Update{HalfHours: number}, "half_hours", "hours"},
		{Update{LogoURL: proto.String("/uploads/" + image)}, "logo_url", ""},
		{Update{Accent: new(pb.Accent(1))}, "accent", ""},
		{Update{CertificateText: text}, "certificate_text", ""},
		{Update{Seal: yes}, "seal", ""},
	} {
		l := newLab()
		l.create(t, "one")
		before := l.meta
		edited := l.must(t, admin, tc.body).(Edited)
		var differ []string
		fields := before.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			one, other := &pb.Codelab{}, &pb.Codelab{}
			for m, from := range map[*pb.Codelab]*pb.Codelab{one: before, other: l.meta} {
				if r := from.ProtoReflect(); r.Has(f) {
					m.ProtoReflect().Set(f, r.Get(f))
				}
			}
			if !proto.Equal(one, other) {
				differ = append(differ, string(f.Name()))
			}
		}
		slices.Sort(differ)
		if got := strings.Join(differ, ","); got != tc.member || !proto.Equal(edited.Codelab, l.meta) {
			t.Errorf("%+v changed %s, and returned %v", tc.body, got, edited.Codelab)
		}
		// The setting has the value that was sent.
		sent, member := reflect.ValueOf(tc.body), fields.ByName(protoreflect.Name(strings.Split(tc.member, ",")[0]))
		for i := range sent.NumField() {
			if v := sent.Field(i); v.Kind() == reflect.Pointer && !v.IsNil() && tc.body.AIEnabled == nil {
				got := l.meta.ProtoReflect().Get(member)
				sent := v.Elem().Interface()
				if e, is := sent.(protoreflect.Enum); is {
					sent = e.Number()
				}
				if want := protoreflect.ValueOf(sent); !got.Equal(want) {
					t.Errorf("%s is %v, want %v", tc.member, got, want)
				}
			}
		}
		named := tc.named
		if named == "" {
			named = tc.member
		}
		if r := l.audits[len(l.audits)-1]; r.Metadata["fields"] != named {
			t.Errorf("audit record of changing %s: %v", tc.member, r)
		}
	}
	// A new setting needs an entry in the table above.
	if n := reflect.TypeFor[Update]().NumField(); n != 24 {
		t.Errorf("Update has %d settings, want 24", n)
	}
}

// An edit of the content changes the time of the last update in the list. Other commands do not
// change it.
func TestWhichCommandsUpdateTheEditTime(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	ann := register(t, l, "Ann")
	for _, tc := range []struct {
		who   *Caller
		body  Body
		newer bool
	}{
		{admin, Update{Title: proto.String("T")}, true},
		{admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A"}, {Title: "B"}}}, true},
		{admin, ReplaceQuizzes{}, true},
		{admin, AddMaterial{Material: &pb.Material{Title: "m", MaterialType: Link, LinkUrl: "https://example.org"}}, true},
		{&Caller{Role: RoleAnyone}, Register{Name: "Bob"}, false},
		{ann, PostChat{Message: "m"}, false},
		{ann, Progress{StepNumber: 2}, false},
		{ann, AskHelp{StepNumber: 1}, false},
		{admin, SetPin{Message: proto.String("p")}, false},
		{admin, CreatePoll{Poll: &pb.Poll{Kind: pollText, Question: "q"}}, false},
		{admin, Remove{AttendeeID: ann.ID}, false},
	} {
		l.now = l.now.Add(time.Second)
		before := l.Capture().UpdatedAt
		l.must(t, tc.who, tc.body)
		want := before
		if tc.newer {
			want = l.now.UnixMilli()
		}
		if v := l.Capture(); v.UpdatedAt != want || l.figures.UpdatedAt != want {
			t.Errorf("after %T: UpdatedAt is %d, in the list %d, want %d", tc.body, v.UpdatedAt, l.figures.UpdatedAt, want)
		}
	}
}

// A deletion removes its item, and another item of the same kind stays.
func TestADeletionRemovesOnlyItsItem(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.must(t, admin, Update{GuideMarkdown: proto.String("guide"), Questions: new(askingOpen)})
	ann := register(t, l, "Ann")
	message := func() string { return l.must(t, ann, PostChat{Message: "see /uploads/" + image}).(*pb.ChatMessage).Id }
	material := func() string {
		return l.must(t, admin, AddMaterial{Material: &pb.Material{Title: "m", MaterialType: File, Upload: paper}}).(*pb.Material).Id
	}
	submission := func() string {
		return l.must(t, ann, AddSubmission{Submission: &pb.Submission{AttendeeId: ann.ID, SubmissionType: Link, LinkUrl: "https://example.org"}}).(*pb.Submission).Id
	}
	asked := func() string { return l.must(t, ann, AskQuestion{Text: "Why?"}).(*pb.Question).Id }
	poll := func() string { return l.newPoll(t, &pb.Poll{Kind: pollText, Question: "q"}).Id }
	for _, tc := range []struct {
		made   func() string
		delete func(id string) Body
		there  func(v *View, id string) bool
		also   func() // checks the references after the first deletion
	}{
		{message, func(id string) Body { return DeleteChat{MessageID: id} }, func(v *View, id string) bool { return v.ChatMessage(id) != nil }, func() {
			if got := l.uses; len(got) != 1 {
				t.Errorf("with one message left, the references are %v, want one", got)
			}
		}},
		{material, func(id string) Body { return DeleteMaterial{MaterialID: id} }, func(v *View, id string) bool {
			return find(v.Materials, id, (*pb.Material).GetId) != nil
		}, func() {
			if got := l.uses; len(got) != 1 {
				t.Errorf("with one material left, the references are %v, want one", got)
			}
		}},
		{submission, func(id string) Body { return DeleteSubmission{AttendeeID: ann.ID, SubmissionID: id} }, func(v *View, id string) bool {
			return find(v.Submissions, id, (*pb.Submission).GetId) != nil
		}, nil},
		{asked, func(id string) Body { return DeleteQuestion{QuestionID: id} }, func(v *View, id string) bool { return v.Question(id) != nil }, nil},
		{poll, func(id string) Body { return DeletePoll{PollID: id} }, func(v *View, id string) bool { return v.Poll(id) != nil }, nil},
	} {
		one, other := tc.made(), tc.made()
		body := tc.delete(other)
		l.must(t, admin, body)
		if v := l.Capture(); !tc.there(v, one) || tc.there(v, other) {
			t.Errorf("after %T: kept item present: %v, deleted item present: %v", body, tc.there(v, one), tc.there(v, other))
		}
		if tc.also != nil {
			tc.also()
		}
		if _, err := l.do(Command{Caller: admin, Body: body}); err == nil {
			t.Errorf("%T of a deleted item succeeded", body)
		}
		l.must(t, admin, tc.delete(one))
		if v := l.Capture(); tc.there(v, one) || len(l.uses) != 0 {
			t.Errorf("after the second %T: item present: %v, references %v", body, tc.there(v, one), l.uses)
		}
	}
}

// A codelab can be created with code of a known kind. The code can be deleted once.
func TestACodelabCanBeCreatedWithCode(t *testing.T) {
	for kind, ok := range map[string]bool{BranchWorkspace: true, FolderWorkspace: true, "": false, "tree": false} {
		made := &CreateWorkspace{ID: "w", StructureType: kind, Heads: []*pb.WorkspaceHead{{Name: KeptHead, Tree: "t1"}}, Current: KeptHead}
		l, later := newLab(), newLab()
		_, err := l.do(Command{Caller: admin, Body: Create{Codelab: &pb.Codelab{Title: "Lab"}, Workspace: made}})
		if (err == nil) != ok || ok && (l.workspace.GetId() != "w" || l.workspace.StructureType != kind || len(l.workspace.Heads) != 1) {
			t.Errorf("kind %q: %v, with the workspace %v", kind, err, l.workspace)
		}
		later.create(t, "one")
		if _, err = later.do(Command{Caller: admin, Body: *made}); (err == nil) != ok {
			t.Errorf("adding code of kind %q to a codelab returned %v", kind, err)
		}
		if !ok {
			continue
		}
		later.must(t, admin, DeleteWorkspace{})
		if _, err = later.do(Command{Caller: admin, Body: DeleteWorkspace{}}); later.workspace != nil || reason(err) == 0 {
			t.Errorf("after its deletion, the workspace is %v; deleting it again returned %v", later.workspace, err)
		}
	}
}

func TestWhichUploadsCanBeALogo(t *testing.T) {
	for url, want := range map[string]bool{
		"/uploads/" + image: true, "/uploads/" + paper: false, "": false, "https://example.org/a.png": false,
		"/uploads/" + strings.TrimSuffix(image, ".png") + ".svg": false,
	} {
		if name, ok := LogoName(url); ok != want || ok && "/uploads/"+name != url {
			t.Errorf("LogoName(%q) = %q, %v", url, name, ok)
		}
	}
}

func TestChoicesOfAnAnswer(t *testing.T) {
	for text, options := range map[string][]int32{"3": {3}, "[0,2]": {0, 2}} {
		if got := ChoiceText(options); got != text || !slices.Equal(Choices(got), options) {
			t.Errorf("ChoiceText(%v) = %q, want %q", options, got, text)
		}
	}
	for answer, want := range map[string][]int32{
		"1": {1}, " 1 ": {1}, "[1]": {1}, "[2,0,2]": {0, 2}, "": nil, "a": nil, "[": nil, `[1,"b"]`: nil, "{}": nil, "9999999999": nil,
	} {
		if got := Choices(answer); !slices.Equal(got, want) {
			t.Errorf("Choices(%q) = %v, want %v", answer, got, want)
		}
	}
}

// If an id occurs twice, the first step or question keeps it together with its data. The second one
// gets a new id, because two items with one id could not be distinguished.
func TestADuplicateIDStaysWithTheFirst(t *testing.T) {
	l := newLab()
	l.create(t, "one", "two")
	one, two := l.steps[0].Id, l.steps[1].Id
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Id: two, Title: "a"}, {Id: two, Title: "b"}, {Id: one, Title: "c"}, {Id: "unknown", Title: "d"}}})
	ids := map[string]string{}
	for _, st := range l.steps {
		if other := ids[st.Id]; other != "" {
			t.Errorf("%q has the same id as %q", st.Title, other)
		}
		ids[st.Id] = st.Title
	}
	if ids[two] != "a" || ids[one] != "c" || ids["unknown"] != "" {
		t.Errorf("the steps are %v", ids)
	}
	quiz := func(id, question string) *pb.Quiz {
		return &pb.Quiz{Id: id, Question: question, QuizType: Descriptive}
	}
	l.must(t, admin, ReplaceQuizzes{Quizzes: []*pb.Quiz{quiz("", "first")}})
	first := l.quizzes[0].Id
	l.now = l.now.Add(time.Hour)
	l.must(t, admin, ReplaceQuizzes{Quizzes: []*pb.Quiz{quiz(first, "a"), quiz(first, "b"), quiz("unknown", "c")}})
	asked := map[string]bool{}
	for i, q := range l.quizzes {
		if asked[q.Id] || (q.Id == first) != (i == 0) || (q.CreatedAt == l.now.UnixMilli()) != (i > 0) || q.Id == "unknown" {
			t.Errorf("question %d is %v", i, q)
		}
		asked[q.Id] = true
	}
}
