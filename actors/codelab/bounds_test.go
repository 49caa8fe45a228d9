package codelab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The codelab itself checks the bounds of settings, because settings from archives bypass the
// checks of the REST interface.
func TestSettingsAreBounded(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	for _, tc := range []struct {
		body Update
		ok   bool
	}{
		{Update{HalfHours: proto.Int32(-1)}, false},
		{Update{HalfHours: proto.Int32(0)}, true},
		{Update{HalfHours: proto.Int32(2 * maxHours)}, true},
		{Update{HalfHours: proto.Int32(2*maxHours + 1)}, false},
		{Update{Accent: new(pb.Accent(-1))}, false},
		{Update{Accent: new(pb.Accent(len(pb.Accent_name)))}, false},
		{Update{Accent: new(pb.Accent(len(pb.Accent_name) - 1))}, true},
		{Update{Questions: new(pb.Asking(len(pb.Asking_name)))}, false},
		{Update{ShareCode: new(pb.Sharing(len(pb.Sharing_name)))}, false},
		{Update{EmailRetentionDays: proto.Int32(-1)}, false},
		{Update{EmailRetentionDays: proto.Int32(36500)}, true},
		{Update{EmailRetentionDays: proto.Int32(36501)}, false},
		{Update{ChatRetentionDays: proto.Int32(-1)}, false},
		{Update{ChatRetentionDays: proto.Int32(36500)}, true},
		{Update{ChatRetentionDays: proto.Int32(36501)}, false},
		{Update{LogoURL: proto.String("https://example.org/logo.png")}, false},
		{Update{LogoURL: proto.String("/uploads/" + image)}, true},
		{Update{LogoURL: proto.String("")}, true},
		{Update{Organiser: proto.String(strings.Repeat("ä", maxOrganiser))}, true},
		{Update{Organiser: proto.String(strings.Repeat("ä", maxOrganiser+1))}, false},
		{Update{CertificateText: proto.String(strings.Repeat("ä", maxCertificateText))}, true},
		{Update{CertificateText: proto.String(strings.Repeat("ä", maxCertificateText+1))}, false},
	} {
		_, err := l.do(Command{Caller: admin, Body: tc.body})
		if got := reason(err); (err == nil) != tc.ok || err != nil && got != durable.Invalid {
			t.Errorf("the command %+v returned %v", tc.body, err)
		}
	}
}

func TestHoursAreStoredInHalfHours(t *testing.T) {
	for hours, want := range map[float64]string{0: "0", 0.5: "1", 3: "6", maxHours: fmt.Sprint(2 * maxHours), -0.5: "", maxHours + 0.5: "", 0.25: ""} {
		got := ""
		if h, err := HalfHours(hours); err == nil {
			got = fmt.Sprint(*h)
		}
		if got != want {
			t.Errorf("HalfHours(%v) = %q, want %q", hours, got, want)
		}
	}
	// A codelab without hours of its own shows the planned ones, rounded to half hours.
	planned := &pb.Codelab{Extent: &pb.Extent{Minutes: 100}}
	if own, shown := OwnHours(planned), Hours(planned); own != nil || shown != 1.5 {
		t.Errorf("with 100 planned minutes: OwnHours %v, Hours %v", own, shown)
	}
	planned.HalfHours = new(int32(0))
	if own, shown := OwnHours(planned), Hours(planned); own == nil || *own != 0 || shown != 0 {
		t.Errorf("with zero half hours: OwnHours %v, Hours %v", own, shown)
	}
	if own, shown := OwnHours(&pb.Codelab{HalfHours: new(int32(5))}), Hours(&pb.Codelab{HalfHours: new(int32(5))}); own == nil || *own != 2.5 || shown != 2.5 {
		t.Errorf("with five half hours: OwnHours %v, Hours %v", own, shown)
	}
}

// A question whose right answer is not among its options is refused, because nobody could pass it.
func TestTheRightAnswersAreOptions(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	for _, tc := range []struct {
		options, right int
		ok             bool
	}{{2, 0, true}, {2, 1, true}, {2, -1, false}, {2, 2, false}, {1, 0, false}, {maxQuizOptions, 0, true}, {maxQuizOptions + 1, 0, false}} {
		q := &pb.Quiz{Question: "q", QuizType: MultipleChoice, Options: slices.Repeat([]string{"o"}, tc.options), Correct: []int32{int32(tc.right), 0}}
		if tc.right < 0 {
			q.Correct = []int32{int32(tc.right)}
		}
		if _, err := l.do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{q}}}); (err == nil) != tc.ok {
			t.Errorf("right option %d of %d options: %v", tc.right, tc.options, err)
		}
	}
	_, err := l.do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: "q", QuizType: MultipleChoice, Options: []string{"a", "b"}}}}})
	if reason(err) != durable.Invalid {
		t.Errorf("no right option: %v", err)
	}
}

// Only the sender and the receiver of a direct message see it.
func TestADirectMessageIsVisibleToItsSenderAndReceiver(t *testing.T) {
	toAll, direct := &pb.ChatMessage{SenderId: "a"}, &pb.ChatMessage{SenderId: "a", TargetId: "b"}
	for who, want := range map[string]bool{"a": true, "b": true, "c": false, FacilitatorID: false} {
		if !Visible(toAll, who) || Visible(direct, who) != want {
			t.Errorf("%s sees a message to all: %v, a message from a to b: %v", who, Visible(toAll, who), Visible(direct, who))
		}
	}
}

// Names and titles are a single line. A line break or a control character would change the text
// around a name.
func TestNamesAndTitlesAreOneLine(t *testing.T) {
	for _, bad := range []string{"one\ntwo", "one\x00", "one\x1b[31m", "one\u2028two", "one\xff"} {
		l := newLab()
		l.create(t, "one")
		for what, c := range map[string]Command{
			"a title":      {Caller: admin, Body: Update{Title: &bad}},
			"an organiser": {Caller: admin, Body: Update{Organiser: &bad}},
			"a step":       {Caller: admin, Body: ReplaceSteps{Steps: []*pb.Step{{Title: bad}}}},
			"a name":       {Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: bad}},
			"a question":   {Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{{Question: bad, QuizType: Descriptive}}}},
			"a poll":       {Caller: admin, Body: CreatePoll{Poll: &pb.Poll{Kind: pollText, Question: bad}}},
			"a timer":      {Caller: admin, Body: SetTimer{Seconds: proto.Int32(60), Label: bad}},
			"a material":   {Caller: admin, Body: AddMaterial{Material: &pb.Material{Title: bad, MaterialType: Link, LinkUrl: "https://example.org"}}},
		} {
			if _, err := l.Decide(c, durable.Env{Now: l.now, Seq: l.seq + 1}); reason(err) != durable.Invalid {
				t.Errorf("%q as %s is not refused as Invalid: %v", bad, what, err)
			}
		}
	}
}

// A command without a caller has no facilitator rights.
func TestOnlyTheRoleGivesFacilitatorRights(t *testing.T) {
	for _, who := range []*Caller{nil, {}, {Role: RoleAttendee}, {Role: RoleAnyone}, {Role: RoleSystem}} {
		if who.IsAdmin() {
			t.Errorf("%+v has facilitator rights", who)
		}
	}
	if !admin.IsAdmin() {
		t.Error("a facilitator lacks facilitator rights")
	}
}
