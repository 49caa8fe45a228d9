package draw

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/oracle"
	"atelier/actors/durable"
	"atelier/actors/durable/statetest"
	"atelier/actors/files"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
)

// A command that is never drawn is not tested, so every new command of the vocabulary must be added
// here. Create and Delete are missing because they need separate codelabs. PostDirects is missing
// because it makes the events of several PostChat commands. ReportCheck also draws Tick,
// ApplyRetention also draws SetDeletion, and Register also draws rehearsals, because separate
// entries would change the draws of every stored seed.
func TestEveryCommandIsDrawn(t *testing.T) {
	commands, _ := codelab.Vocabulary.Words()
	for _, c := range commands {
		if Words[c.Name()] == nil && !slices.Contains([]string{"Create", "Delete", "PostDirects", "Tick", "SetDeletion", "StartRehearsal", "EndRehearsal"}, c.Name()) {
			t.Errorf("%s is never drawn", c.Name())
		}
	}
	for name := range Words {
		if !slices.ContainsFunc(commands, func(c reflect.Type) bool { return c.Name() == name }) {
			t.Errorf("%s is not in the vocabulary", name)
		}
	}
}

func newState() *codelab.State {
	return codelab.New("lab", codelab.Rules{BallotKey: func(string) []byte { return make([]byte, 32) }}, naming.NewIDs("lab"))
}

func encoded(t *testing.T, s *codelab.State) []byte {
	t.Helper()
	b, err := codelab.EncodeState(s.Capture())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// marks matches the texts that Mark makes; wrote also matches ids. withItem matches the texts of
// votes, and of items that can be deleted while their author stays. Once such a text is missing
// from the snapshot, no record is allowed to contain it.
var (
	marks    = regexp.MustCompile(`[a-z]+-[0-9]+-of-draw`)
	wrote    = regexp.MustCompile(marks.String() + `|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	withItem = regexp.MustCompile(`^(chat|comment|reply|asked|taken|link|word|text|feedback|ai|question|answer)-`)
)

// leaves matches the texts whose removal must trigger erasing: if a command removes such a text
// from the snapshot, codelab.Erases is true for one of its events.
var leaves = regexp.MustCompile(`^(chat|comment|reply|asked|taken|link)-`)

// parts returns the parts that readers request by version. A change of a part must raise its
// version (codelab.Changed).
func parts(t *testing.T, state []byte, view *codelab.View) map[string]part {
	t.Helper()
	at := view.Changed
	s := &pb.Snapshot{}
	if err := s.Decode(state); err != nil {
		t.Fatal(err)
	}
	of := func(version uint64, what *pb.Snapshot) part { return part{version, string(pbwire.Encode(what))} }
	shown := &pb.Poll{}
	if p := view.OpenPoll(); p != nil {
		shown = p.Told
	}
	return map[string]part{
		"open poll": {at.Codelab, string(pbwire.Encode(shown))},
		"codelab": of(at.Codelab, &pb.Snapshot{
			Codelab: s.Codelab, Steps: s.Steps, Pin: s.Pin, Pointer: s.Pointer, Timer: s.Timer, Spotlight: s.Spotlight,
		}),
		"attendees":   of(at.Attendees, &pb.Snapshot{Attendees: s.Attendees}),
		"chat":        of(at.Chat, &pb.Snapshot{Chat: s.Chat}),
		"help":        of(at.Help, &pb.Snapshot{Help: s.Help}),
		"feedback":    of(at.Feedback, &pb.Snapshot{Feedback: s.Feedback}),
		"threads":     of(at.Threads, &pb.Snapshot{Threads: s.Threads}),
		"quizzes":     of(at.Quizzes, &pb.Snapshot{Quizzes: s.Quizzes}),
		"answers":     of(at.Answers, &pb.Snapshot{Answers: s.Answers}),
		"materials":   of(at.Materials, &pb.Snapshot{Materials: s.Materials}),
		"submissions": of(at.Submissions, &pb.Snapshot{Submissions: s.Submissions}),
		"polls":       of(at.Polls, &pb.Snapshot{Polls: s.Polls}),
		"questions":   of(at.Questions, &pb.Snapshot{Questions: s.Questions}),
	}
}

// part is a part of a codelab, encoded.
type part struct {
	version uint64
	content string
}

func textsIn(b []byte) map[string]bool {
	all := map[string]bool{}
	for _, text := range marks.FindAll(b, -1) {
		all[string(text)] = true
	}
	return all
}

func kindOf(e *pb.Event) protoreflect.Name {
	return e.ProtoReflect().WhichOneof(body).Name()
}

var body = new(pb.Event).ProtoReflect().Descriptor().Oneofs().ByName("body")

// kindsOfPeople returns the kinds of events that have a field with a person's id.
func kindsOfPeople() (kinds []protoreflect.Name) {
	var names func(m protoreflect.MessageDescriptor) bool
	names = func(m protoreflect.MessageDescriptor) bool {
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if proto.GetExtension(f.Options(), pb.E_OfPerson).(bool) || f.Message() != nil && names(f.Message()) {
				return true
			}
		}
		return false
	}
	for i := range body.Fields().Len() {
		if f := body.Fields().Get(i); names(f.Message()) {
			kinds = append(kinds, f.Name())
		}
	}
	return kinds
}

// For any sequence of commands, the events alone produce every field of the state. So do a snapshot
// and the later events. The rules of package oracle hold. Log and snapshot contain no data of
// removed people or deleted items.
func TestAnyCommandsCanBeReplayedAndErased(t *testing.T) {
	drawn, ofRemoved := map[string]bool{}, map[protoreflect.Name]bool{} // ofRemoved contains the kinds of events that refer to removed people
	// More seeds are drawn until every required case has occurred.
	missing := func() (out []string) {
		for _, name := range Names {
			if !drawn[name] {
				out = append(out, name+" was never accepted")
			}
		}
		for _, kind := range kindsOfPeople() {
			if !ofRemoved[kind] {
				out = append(out, "no event "+string(kind)+" referred to a removed attendee")
			}
		}
		return out
	}
	for seed := uint64(0); seed < 150 || seed < 1000 && len(missing()) > 0; seed++ {
		s := &Source{Rand: rand.New(rand.NewPCG(seed, 0)), Name: "draw", Secret: "secret"}
		if seed%2 == 0 {
			s.Uploads, s.Sums = []string{files.NewName(files.Images, "png"), files.NewName(files.Materials, "pdf")}, [][]byte{make([]byte, 32)}
		}
		state, now := newState(), time.UnixMilli(1_800_000_000_000)
		var events []*pb.Event
		var removed []string           // ids and texts of removed people; at the end, also texts of deleted items
		texts := map[string][]string{} // texts that people wrote, by the person's id
		items := map[string]bool{}     // texts that are erased with their item
		rules, shown := oracle.New(), map[string]bool{}
		var read map[string]part // the parts at the time of the last read
		submit := func(cmd codelab.Command) {
			rules.Saying(cmd)
			d, err := state.Decide(cmd, durable.Env{Now: now, Seq: uint64(len(events)) + 1})
			if err != nil {
				rules.Refused(cmd)
				return
			}
			drawn[reflect.TypeOf(cmd.Body).Name()] = true
			for _, e := range d.Events {
				events = append(events, e)
				state.Apply(uint64(len(events)), e)
				if err := rules.Event(e); err != nil {
					t.Fatalf("seed %d: event %d, %v: %v", seed, len(events), e, err)
				}
			}
			snap := encoded(t, state)
			if len(d.Events) > 0 {
				is := parts(t, snap, state.Capture())
				for name, was := range read {
					if was.version == is[name].version && was.content != is[name].content {
						t.Fatalf("seed %d: %T changes %s without raising its version", seed, cmd.Body, name)
					}
				}
				read = is
			}
			after := textsIn(snap)
			for text := range shown {
				if leaves.MatchString(text) && !after[text] && !slices.ContainsFunc(d.Events, codelab.Erases) {
					t.Fatalf("seed %d: %s is removed by %T, which does not trigger erasing", seed, text, cmd.Body)
				}
			}
			shown = after
			if err := rules.View(state.Capture()); err != nil {
				t.Fatalf("seed %d: after event %d, %T%+v: %v", seed, len(events), cmd.Body, cmd.Body, err)
			}
			marked := marks.FindAllString(fmt.Sprintf("%+v", cmd.Body), -1)
			for _, text := range marked {
				items[text] = items[text] || withItem.MatchString(text)
			}
			switch b := cmd.Body.(type) {
			case codelab.Register:
				if r, ok := d.Reply.(codelab.Registration); ok && len(d.Events) > 0 {
					texts[r.Attendee.Id] = append(append(texts[r.Attendee.Id], marked...), r.Attendee.Id)
				}
			case codelab.Rename:
				texts[b.AttendeeID] = append(texts[b.AttendeeID], marked...)
			case codelab.Remove:
				removed = append(removed, texts[b.AttendeeID]...)
			case codelab.AskQuestion:
				if b.Anonymous { // the question stays, without its author
					break
				}
				texts[cmd.Caller.ID] = append(texts[cmd.Caller.ID], marked...)
			default:
				if cmd.Caller.Role == codelab.RoleAttendee {
					texts[cmd.Caller.ID] = append(texts[cmd.Caller.ID], marked...)
				}
			}
		}
		submit(codelab.Command{Caller: Facilitator, Body: codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true, JoinCode: "ABC234", Questions: pb.Asking_ASKING_OPEN},
			Steps: []*pb.Step{{Title: "one", ContentMarkdown: "1"}, {Title: "two", ContentMarkdown: "2" + Checked}}}})
		cut := s.Rand.IntN(100)
		var snapshot []byte
		var at int
		for n := range 100 {
			if n == cut {
				snapshot, at = encoded(t, state), len(events)
			}
			longest := 5000 // ms
			word := Names[s.Rand.IntN(len(Names))]
			of := int(seed) % (len(Subjects) + 1)
			switch {
			case n < 6 || of == len(Subjects) && s.Rand.IntN(4) == 0:
				word = "Register"
			case of < len(Subjects):
				longest, word = 500, Of(s, Subjects[of])
			}
			now = now.Add(time.Duration(s.Rand.IntN(longest)) * time.Millisecond)
			if word == "ApplyRetention" && s.coin() {
				now = now.AddDate(0, 0, 2)
			}
			if cmd := Words[word](s, state.Capture()); cmd.Body != nil {
				submit(cmd)
			}
		}
		want := encoded(t, state)
		whole, tail := newState(), newState()
		err := error(nil)
		if err = tail.Restore(uint64(at), snapshot); err != nil {
			t.Fatal(err)
		}
		for i, e := range events {
			whole.Apply(uint64(i)+1, e)
			if i >= at {
				tail.Apply(uint64(i)+1, e)
			}
		}
		if !bytes.Equal(encoded(t, whole), want) {
			t.Fatalf("seed %d: a replay of the events yields another state", seed)
		}
		if !bytes.Equal(encoded(t, tail), want) {
			t.Fatalf("seed %d: snapshot and tail yield another state", seed)
		}
		if diff := statetest.Diff(whole, tail); diff != "" {
			t.Fatalf("seed %d: the snapshot at %d of %d lacks: %s", seed, at, len(events), diff)
		}
		for text, is := range items {
			if is && !bytes.Contains(want, []byte(text)) {
				removed = append(removed, text)
			}
		}
		gone := map[string]bool{}
		for _, text := range removed {
			gone[text] = true
		}
		erase := codelab.Erase(state.Capture())
		for i, e := range append(events, nil) {
			record := want // the snapshot follows the last record
			if e != nil {
				persons, _, _ := codelab.ReferencesOf(e)
				if slices.ContainsFunc(persons, func(id string) bool { return gone[id] }) {
					ofRemoved[kindOf(e)] = true
				}
				e, _ = erase(e)
				if record, err = durable.AppendMessage(nil, e); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range wrote.FindAllString(string(record), -1) {
				if gone[text] {
					t.Fatalf("seed %d: record %d of %d still contains %s: %v", seed, i+1, len(events), text, e)
				}
			}
		}
	}
	for _, text := range missing() {
		t.Error(text)
	}
}
