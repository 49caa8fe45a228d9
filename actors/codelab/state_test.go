package codelab

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"atelier/actors/audit"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
)

var admin = &Caller{Role: RoleAdmin, ID: FacilitatorID, Name: "Facilitator", Person: "login-1", AdminID: "admin"}

func attendeeCaller(a *pb.Attendee) *Caller {
	return &Caller{Role: RoleAttendee, ID: a.Id, Name: a.Name, Person: a.Id}
}

// lab executes commands on a state as the runtime does, and records events and rows.
type lab struct {
	*State
	seq    uint64
	events []*pb.Event
	audits []*audit.Record
	made   map[string]*audit.Record // by id, so that note finds the record of a row
	now    time.Time
	uses   map[string]bool // the references to files that rows recorded

	figures *pb.Figures // the latest row of figures
}

func newLab() *lab {
	l := &lab{uses: map[string]bool{}, made: map[string]*audit.Record{}, now: time.UnixMilli(1_800_000_000_000).UTC()}
	l.State = l.empty()
	return l
}

func (l *lab) empty() *State {
	rules := Rules{AuditRows: func(r *audit.Record) []durable.Row {
		l.made[r.Id] = r
		return []durable.Row{{Table: "audit", Key: []byte(r.Id)}}
	}, BallotKey: func(id string) []byte {
		if id != aSecret {
			return nil
		}
		return make([]byte, 32)
	}}
	return New("lab", rules, naming.NewIDs("lab"))
}

// do decides and applies one command, decoded as if another process had sent it.
func (l *lab) do(cmd Command) (any, error) {
	if cmd.Body != nil {
		b, err := Codec.Encode(cmd)
		if err != nil {
			panic(err)
		}
		if cmd, err = Codec.Decode(b); err != nil {
			panic(err)
		}
	}
	d, err := l.Decide(cmd, durable.Env{Now: l.now, Seq: l.seq + 1})
	if err != nil {
		return nil, err
	}
	if cmd.Body != nil {
		if _, err := Vocabulary.EncodeReply(reflect.TypeOf(cmd.Body).Name(), d.Reply); err != nil {
			panic(err)
		}
	}
	l.note(d.Rows)
	before := l.Capture()
	defer func() {
		after := l.Capture()
		for _, a := range before.Attendees.All() {
			if before.Grants == after.Grants && !after.Stands(a.Id, a.Generation) {
				panic("a command ended an attendee's access without a new Grants")
			}
		}
	}()
	for _, e := range d.Events {
		// The journal stores the encoded event.
		b := pbwire.Encode(e)
		stored := &pb.Event{}
		if err := stored.Decode(b); err != nil {
			panic(err)
		}
		l.seq++
		l.Apply(l.seq, e)
		if !bytes.Equal(b, pbwire.Encode(e)) {
			panic("applying an event changed it, but others read the same event")
		}
		l.events = append(l.events, stored)
	}
	return d.Reply, nil
}

func (l *lab) create(t interface{ Fatal(...any) }, steps ...string) {
	c := Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true, JoinCode: "ABC234"}}
	for _, s := range steps {
		c.Steps = append(c.Steps, &pb.Step{Title: s, ContentMarkdown: "content of " + s})
	}
	if _, err := l.do(Command{Caller: admin, Body: c}); err != nil {
		t.Fatal(err)
	}
}

// content returns the state as a snapshot, without command references.
func content(s *State) *pb.Snapshot {
	b, err := EncodeState(s.Capture())
	if err != nil {
		panic(err)
	}
	snap := &pb.Snapshot{}
	if err := snap.Decode(b); err != nil {
		panic(err)
	}
	snap.Refs = nil
	return snap
}

func replay(s *State, from uint64, events []*pb.Event) *State {
	for i, e := range events {
		if seq := uint64(i) + 1; seq > from {
			s.Apply(seq, e)
		}
	}
	return s
}

// same fails if two states differ, including their derived data.
func same(t *rapid.T, what string, got, want *State) {
	t.Helper()
	if g, w := content(got), content(want); !proto.Equal(g, w) {
		t.Fatalf("%s: wrong state:\n got %v\nwant %v", what, g, w)
	}
	for _, d := range [][2]any{
		{got.byName, want.byName}, {got.byAttendee, want.byAttendee}, {got.openHelp, want.openHelp},
		{got.byAnchor, want.byAnchor}, {got.answerOf, want.answerOf}, {got.byFeedback, want.byFeedback},
		{list(got.right.Capture()), list(want.right.Capture())},
		{got.submitted, want.submitted}, {got.completed, want.completed}, {got.pulses, want.pulses}, {got.pin, want.pin},
		{derivedOf(got), derivedOf(want)}, {got.stopped, want.stopped},
		{got.pointer, want.pointer}, {got.updatedAt, want.updatedAt}, {got.settled, want.settled}, {fmt.Sprint(got.perStep), fmt.Sprint(want.perStep)},
	} {
		if fmt.Sprint(d[0]) != fmt.Sprint(d[1]) {
			t.Fatalf("%s: derived data %v, want %v", what, d[0], d[1])
		}
	}
}

// derivedOf returns the data that polls and questions derive from their votes.
func derivedOf(s *State) (all []any) {
	for _, p := range s.polls {
		all = append(all, p.counts, p.voted, p.texts, p.hidden, p.tally.best(), len(p.tally.words))
	}
	for _, q := range s.questions {
		all = append(all, q.votes)
	}
	return all
}

// anyCommand draws a command about existing items, sometimes about a missing one.
func anyCommand(t *rapid.T, l *lab) Command {
	pick := func(label string, known []string) string {
		return rapid.SampledFrom(append(known, "", "nothing")).Draw(t, label)
	}
	var people, steps, threads, helps, messages, quizzes []string
	comments := map[string][]string{}
	for _, a := range l.attendees.All() {
		people = append(people, a.Id)
	}
	for _, s := range l.steps {
		steps = append(steps, s.Id)
	}
	for _, x := range l.threads.All() {
		threads = append(threads, x.Id)
		for _, m := range x.Messages {
			comments[x.Id] = append(comments[x.Id], m.Id)
		}
	}
	for _, x := range l.help.All() {
		helps = append(helps, x.Id)
	}
	for _, x := range l.chat.All() {
		messages = append(messages, x.Id)
	}
	for _, x := range l.quizzes {
		quizzes = append(quizzes, x.Id)
	}
	who := admin
	if id := pick("who", people); l.attendee(id) != nil {
		who = attendeeCaller(l.attendee(id))
	}
	cmd := Command{Caller: who, Ref: rapid.SampledFrom([]string{"", "", "r1", "r2"}).Draw(t, "ref")}
	step := int32(rapid.IntRange(0, 5).Draw(t, "step"))
	word := rapid.SampledFrom([]string{"", " a ", "b", "c", strings.Repeat("x", 2001), "/uploads/" + image, "/uploads/" + paper + " and /uploads/" + image}).Draw(t, "word")
	yes := rapid.Bool().Draw(t, "yes")
	switch rapid.IntRange(0, 32).Draw(t, "kind") {
	case 0, 1, 2, 3:
		cmd.Caller = &Caller{Role: RoleAnyone}
		cmd.Body = Register{Name: rapid.SampledFrom([]string{"Ann", "ann ", "Bob", "Cy", "Dee", ""}).Draw(t, "name"), PINHash: []byte(word), Email: rapid.SampledFrom([]string{"", "a@example.org", "no"}).Draw(t, "mail")}
	case 4, 5, 6:
		cmd.Body = Progress{StepNumber: step}
	case 7, 8:
		cmd.Body = AskHelp{StepNumber: step}
	case 9:
		cmd.Body = ClaimHelp{HelpID: pick("help", helps)}
	case 10:
		cmd.Body = ResolveHelp{HelpID: pick("help", helps)}
	case 11, 12:
		cmd.Body = PostChat{Message: word, TargetID: pick("to", people)}
	case 13:
		cmd.Body = DeleteChat{MessageID: pick("message", messages)}
	case 14, 15:
		a := Annotate{TargetType: TargetStep, TargetStepID: pick("target", steps), StartOffset: step, EndOffset: step + 3, SelectedText: "s", ContentHash: "h", Message: word}
		if yes {
			a.TargetType, a.TargetStepID = TargetGuide, ""
		}
		a.AnchorKey = fmt.Sprintf("%s|%s|h|%d|%d", a.TargetType, a.TargetStepID, a.StartOffset, a.EndOffset)
		cmd.Body = a
	case 16:
		cmd.Body = Reply{ThreadID: pick("thread", threads), Message: word, ContentHash: "h"}
	case 17:
		th := pick("thread", threads)
		cmd.Body = DeleteComment{ThreadID: th, CommentID: pick("comment", comments[th])}
	case 18:
		cmd.Body = GiveFeedback{Difficulty: "1", Satisfaction: "5", Comment: word}
	case 19:
		if yes {
			cmd.Body = SubmitQuiz{Items: []SubmittedAnswer{{QuizID: pick("quiz", quizzes), Answer: fmt.Sprint(step)}}}
		} else {
			cmd.Body = Complete{}
		}
	case 20:
		cmd.Caller = admin
		var out []*pb.Quiz
		for range rapid.IntRange(0, 3).Draw(t, "quizzes") {
			out = append(out, &pb.Quiz{Id: pick("quiz", quizzes), Question: "q", QuizType: MultipleChoice, Options: []string{"x", "y"}, Correct: []int32{step % 2}})
		}
		cmd.Body = ReplaceQuizzes{Quizzes: out}
	case 21:
		cmd.Caller = admin
		var out []*pb.Step
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			out = append(out, &pb.Step{Id: pick("step", steps), Title: "t", ContentMarkdown: word})
		}
		cmd.Body = ReplaceSteps{Steps: out}
	case 22:
		cmd.Caller = admin
		cmd.Body = Rename{AttendeeID: pick("whom", people), Name: rapid.SampledFrom([]string{"Ann", "Eve"}).Draw(t, "name")}
		if yes {
			cmd.Body = Mute{AttendeeID: pick("whom", people), Muted: step > 2}
		}
	case 23:
		cmd.Body = Remove{AttendeeID: pick("whom", people)}
	case 24:
		cmd.Caller = admin
		guide := word
		cmd.Body = Update{GuideMarkdown: &guide, ChatRetentionDays: proto.Int32(step), EmailRetentionDays: proto.Int32(step)}
		if yes {
			cmd.Caller = &Caller{Role: RoleSystem}
			cmd.Body = ApplyRetention{}
		}
	}
	if yes || cmd.Body != nil {
		anyFileCommand(t, l, &cmd, pick("whom", people))
	}
	anyCodeCommand(t, l, &cmd, step, yes)
	if rapid.IntRange(0, 3).Draw(t, "teach") == 0 {
		anyTeachingCommand(t, &cmd, step, word, pick("whom to help", people))
	}
	return cmd
}

// The drawn commands include commands about files, code and live teaching, and none is empty.
func TestCommandsOfAllSubjectsAreDrawn(t *testing.T) {
	drawn := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		l := newLab()
		l.create(t, "one")
		for range 50 {
			cmd := anyCommand(t, l)
			drawn[fmt.Sprintf("%T", cmd.Body)] = true
			_, _ = l.do(cmd)
		}
	})
	for _, body := range []any{Register{}, AddMaterial{}, AddSubmission{}, SaveConversation{}, CreateWorkspace{}, SetPulse{}, Point{}, PostDirects{}} {
		if !drawn[fmt.Sprintf("%T", body)] {
			t.Errorf("%T is never drawn", body)
		}
	}
	if drawn["<nil>"] {
		t.Error("a command without a body is drawn")
	}
}

// TestAnySequenceOfCommands drives a codelab with any commands, and checks the invariants after
// each. At the end, replaying the events yields the live state, and so do a snapshot and the later
// events. Erasing an erased event again does not change it.
func TestAnySequenceOfCommands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLab()
		l.create(t, "one", "two", "three")
		var snapshot []byte
		var snapped uint64
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			l.now = l.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 1000, 100_000, 90_000_000}).Draw(t, "pass")) * time.Millisecond)
			before := content(l.State)
			cmd := anyCommand(t, l)
			reply, err := l.do(cmd)
			if made, ok := reply.(*pb.Thread); ok && err == nil && len(made.Messages) == 1 {
				checkOverlap(t, l.State, made)
			}
			if err != nil {
				var r *durable.Rejection
				if !errors.As(err, &r) || r.Text == "" {
					t.Fatalf("%T returned %v, which is not a rejection", cmd.Body, err)
				}
				if !proto.Equal(before, content(l.State)) {
					t.Fatalf("a rejected %T changed the state", cmd.Body)
				}
			}
			checkInvariants(t, l.State)
			checkUses(t, l)
			checkFigures(t, l)
			checkTeaching(t, l.State)
			if rapid.IntRange(0, 9).Draw(t, "snapshot") == 0 {
				var err error
				if snapshot, err = EncodeState(l.Capture()); err != nil {
					t.Fatal(err)
				}
				snapped = l.seq
			}
		}
		same(t, "full replay", replay(l.empty(), 0, l.events), l.State)
		if snapshot != nil {
			s := l.empty()
			if err := s.Restore(snapped, snapshot); err != nil {
				t.Fatal(err)
			}
			same(t, "snapshot and tail", replay(s, snapped, l.events), l.State)
		}

		clean := Erase(l.Capture())
		for _, e := range l.events {
			if r, changed := clean(e); changed {
				if _, again := clean(r); again {
					t.Fatalf("erasing %T again changes it", e.Body)
				}
			}
		}
	})
}

// checkOverlap verifies that a new thread overlaps no other thread that is not stale. Two threads
// can still overlap later, if an earlier text is restored.
func checkOverlap(t *rapid.T, s *State, made *pb.Thread) {
	t.Helper()
	for _, o := range s.threads.All() {
		if o.Id != made.Id && o.TargetType == made.TargetType && o.TargetStepId == made.TargetStepId && !s.stale(o) &&
			o.StartOffset < made.EndOffset && o.EndOffset > made.StartOffset {
			t.Fatalf("the new thread %s overlaps %s", made.AnchorKey, o.AnchorKey)
		}
	}
}

func checkInvariants(t *rapid.T, s *State) {
	t.Helper()
	waiting, names, people := map[string]bool{}, map[string]bool{}, 0
	for _, h := range s.help.All() {
		if h.Status == resolved {
			continue
		}
		if waiting[h.AttendeeId] {
			t.Fatalf("attendee %s is twice in the queue", h.AttendeeId)
		}
		waiting[h.AttendeeId] = true
	}
	for _, a := range s.attendees.All() {
		if k := naming.Key(a.Name); names[k] {
			t.Fatalf("two attendees have the name %s", k)
		} else {
			names[k] = true
		}
		if n := int32(max(len(s.steps), 1)); a.CurrentStep < 1 || a.CurrentStep > n || a.FurthestStep > n || a.FurthestStep < a.CurrentStep && a.FurthestStep < 1 {
			t.Fatalf("an attendee is on step %d of %d", a.CurrentStep, n)
		}
	}
	for _, n := range s.perStep {
		people += n
	}
	if len(s.steps) > 0 && people != s.attendees.Len() {
		t.Fatalf("%d people are counted on steps, but there are %d attendees", people, s.attendees.Len())
	}
	for _, a := range s.threads.All() {
		if len(a.Messages) == 0 {
			t.Fatalf("a thread without messages is kept")
		}
	}
}
