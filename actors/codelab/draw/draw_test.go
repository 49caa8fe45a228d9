package draw

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/oracle"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/naming"
)

// A command that is never drawn is not tried: whoever adds one to the vocabulary
// adds it here. Create and Delete are for codelabs of their own. PostDirects makes
// the events of several PostChat in one commit; a word of its own would change what
// every kept seed draws.
func TestEveryCommandIsDrawn(t *testing.T) {
	commands, _ := codelab.Vocabulary.Words()
	for _, c := range commands {
		if Words[c.Name()] == nil && !slices.Contains([]string{"Create", "Delete", "PostDirects"}, c.Name()) {
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

// Whatever is said, the events alone lead to the state, in any mixture of snapshot
// and tail; and of who was removed, nothing is left in what is erased of the log.
func TestAnyWords(t *testing.T) {
	drawn := map[string]bool{}
	for seed := range uint64(400) {
		s := &Source{Rand: rand.New(rand.NewPCG(seed, 0)), Name: "draw", Secret: "secret"}
		if seed%2 == 0 {
			s.Uploads, s.Sums = []string{files.NewName(files.Images, "png"), files.NewName(files.Materials, "pdf")}, [][]byte{make([]byte, 32)}
		}
		state, now := newState(), time.UnixMilli(1_800_000_000_000)
		var events []*pb.Event
		var records, removed [][]byte // removed are names of people
		byID := map[string][][]byte{}
		rules := oracle.New()
		say := func(cmd codelab.Command) {
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
			if err := rules.View(state.Capture()); err != nil {
				t.Fatalf("seed %d: after event %d, %T%+v: %v", seed, len(events), cmd.Body, cmd.Body, err)
			}
			switch b := cmd.Body.(type) {
			case codelab.Register:
				if r, ok := d.Reply.(codelab.Registration); ok && len(d.Events) > 0 {
					byID[r.Attendee.Id] = append(byID[r.Attendee.Id], []byte(b.Name))
				}
			case codelab.Rename:
				byID[b.AttendeeID] = append(byID[b.AttendeeID], []byte(b.Name))
			case codelab.Remove:
				removed = append(removed, byID[b.AttendeeID]...)
			}
		}
		say(codelab.Command{Caller: Facilitator, Body: codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true, JoinCode: "ABC234", Questions: pb.Asking_ASKING_OPEN},
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
			if cmd := Words[word](s, state.Capture()); cmd.Body != nil {
				say(cmd)
			}
		}
		want := encoded(t, state)
		whole, tail := newState(), newState()
		if err := tail.Restore(uint64(at), snapshot); err != nil {
			t.Fatal(err)
		}
		for i, e := range events {
			whole.Apply(uint64(i)+1, e)
			if i >= at {
				tail.Apply(uint64(i)+1, e)
			}
		}
		if !bytes.Equal(encoded(t, whole), want) {
			t.Fatalf("seed %d: the events lead to another state", seed)
		}
		if !bytes.Equal(encoded(t, tail), want) {
			t.Fatalf("seed %d: snapshot and tail lead to another state", seed)
		}
		erase := codelab.Erase(state.Capture())
		for _, e := range events {
			e, _ = erase(e)
			record, err := durable.AppendMessage(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, record)
		}
		for _, name := range removed {
			for i, record := range append(records, want) {
				if bytes.Contains(record, name) {
					t.Fatalf("seed %d: record %d still holds %s", seed, i+1, name)
				}
			}
		}
	}
	for _, name := range Names {
		if !drawn[name] {
			t.Errorf("%s was never accepted", name)
		}
	}
}
