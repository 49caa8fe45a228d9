package live

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"atelier/actors/room"
)

// tape is a wire that keeps what is written to it.
type tape struct {
	text   []byte
	writes int
	// takes says how many of some bytes are taken; nil for all.
	takes func(n int) int
	wrote func()
}

func (w *tape) write(p []byte) (int, error) {
	n := len(p)
	if w.takes != nil {
		n = w.takes(n)
	}
	w.text = append(w.text, p[:n]...)
	w.writes++
	w.wrote()
	return n, nil
}

func (*tape) close() {}
func (*tape) abort() {}

// nobody is the owner of a session of whom nothing is wanted.
type nobody struct{}

func (nobody) Message(*Session, []byte) {}
func (nobody) Limited(*Session, []byte) {}
func (nobody) Closed(*Session, Reason)  {}

// stage is a loop that does not run, with a room.
type stage struct {
	loop *loop
	room *room.Room
	seen *loopRoom
	hub  *Hub
}

func newStage(t interface{ Fatal(...any) }) *stage {
	hub, err := New(Options{Loops: 1, writesBetweenPolls: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{loop: hub.loops[0], room: room.New("epoch", room.Limits{}), hub: hub}
	s.seen = s.loop.loopRoom(s.room)
	return s
}

func (s *stage) enter(id uint64, person string, facilitator bool, w *tape) *Session {
	session := &Session{id: id, loop: s.loop, room: s.room, person: person, facilitator: facilitator, handler: nobody{}, wire: w, state: open}
	s.loop.sessions[id] = session
	s.seen.enter(session)
	return session
}

func said(text string) room.Frame { return room.Frame{Payload: []byte("<" + text + ">")} }

// What is published in the middle of a fan-out goes along with it: nobody is written
// to twice who could get both at once, and no frame waits for the end of another.
func TestWhatComesMidwayGoesAlong(t *testing.T) {
	s := newStage(t)
	defer s.hub.Close()
	writes := 0
	tapes := make([]*tape, 10)
	for i := range tapes {
		tapes[i] = &tape{wrote: func() {
			if writes++; writes == 4 {
				f := said("s2")
				f.Seq = 2
				s.room.Publish(f)
			}
		}}
		s.enter(uint64(i+1), fmt.Sprint("p", i), false, tapes[i])
	}
	first := said("s1")
	first.Seq = 1
	s.room.Publish(first)
	s.loop.drain(s.seen)
	if writes != 14 {
		t.Errorf("%d writes, want one for each and another for the four who had only the first", writes)
	}
	for i, w := range tapes {
		if got := marks.FindAllString(string(w.text), -1); !slices.Equal(got, []string{"<s1>", "<s2>"}) || w.writes != 1 && i >= 4 {
			t.Errorf("session %d got %v in %d writes", i, got, w.writes)
		}
	}
	// The next begins where the last has ended: who waited longest comes first.
	next := said("s3")
	next.Seq = 3
	s.room.Publish(next)
	tapes[4].wrote = func() {
		if len(tapes[3].text) > len(tapes[4].text) {
			t.Error("the fourth came before the fifth")
		}
	}
	s.loop.drain(s.seen)
}

// A publisher that never rests does not keep the loop in one fan-out.
func TestAFanOutEnds(t *testing.T) {
	s := newStage(t)
	defer s.hub.Close()
	seq, writes := uint64(1), 0
	publish := func() {
		f := said(fmt.Sprint("s", seq))
		f.Seq = seq
		seq++
		s.room.Publish(f)
	}
	for i := range 100 {
		s.enter(uint64(i+1), fmt.Sprint("p", i), false, &tape{wrote: func() { writes++; publish() }})
	}
	publish()
	s.loop.drain(s.seen)
	if writes > 200 {
		t.Errorf("%d writes to a hundred sessions", writes)
	}
	if s.seen.at.stored < 50 {
		t.Errorf("only %d of the frames went along", s.seen.at.stored)
	}
}

var marks = regexp.MustCompile(`<[st]\d+>`)

// Whatever is published when, whomever it is for, and however little sockets take:
// everybody gets what is theirs, in order and once.
func TestFanOutsGiveEverybodyWhatIsTheirs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t)
		defer s.hub.Close()
		type seat struct {
			*Session
			tape         *tape
			stored, once []string // that it is to get
		}
		var seats []*seat
		seq, transient := uint64(0), 0
		left := rapid.IntRange(1, 40).Draw(t, "frames")
		someone := rapid.SampledFrom([]string{"", "ann", "bob", "cleo", "dan", room.Facilitator})
		publish := func() {
			if left == 0 {
				return
			}
			left--
			f := room.Frame{
				Audience: rapid.SampledFrom([]room.Audience{room.Everyone, room.Everyone, room.Facilitators, room.People, room.FacilitatorsAndPeople}).Draw(t, "audience"),
				Origin:   uint64(rapid.IntRange(0, 6).Draw(t, "origin")),
			}
			if f.Audience == room.People || f.Audience == room.FacilitatorsAndPeople {
				f.People[0] = someone.Draw(t, "person")
			}
			stored := rapid.Bool().Draw(t, "stored")
			if stored {
				seq++
				f.Seq, f.Payload = seq, said(fmt.Sprint("s", seq)).Payload
			} else {
				transient++
				f.Payload = said(fmt.Sprint("t", transient)).Payload
			}
			for _, x := range seats {
				switch {
				case !x.wants(&f):
				case stored:
					x.stored = append(x.stored, string(f.Payload))
				default:
					x.once = append(x.once, string(f.Payload))
				}
			}
			if stored {
				s.room.Publish(f)
			} else {
				s.room.Transient(f)
			}
		}
		odds := rapid.IntRange(0, 3).Draw(t, "odds")
		for i := range rapid.IntRange(1, 9).Draw(t, "sessions") {
			w := &tape{}
			w.wrote = func() {
				if rapid.IntRange(0, 3).Draw(t, "publish") < odds {
					publish()
				}
			}
			w.takes = func(n int) int {
				if rapid.IntRange(0, 9).Draw(t, "takes") > 0 {
					return n
				}
				return rapid.IntRange(0, n).Draw(t, "bytes")
			}
			session := s.enter(uint64(i+1), someone.Filter(func(p string) bool { return p != "" }).Draw(t, "who"), rapid.Bool().Draw(t, "facilitator"), w)
			seats = append(seats, &seat{Session: session, tape: w})
		}
		publish()
		for behind := true; left > 0 || behind || s.seen.at.before(s.seen.head()); {
			s.loop.drain(s.seen)
			behind = false
			for _, x := range seats {
				if x.lag != nil {
					s.loop.resume(x.Session)
					behind = true
				}
			}
			s.loop.catchUp()
			publish()
		}
		for i, x := range seats {
			var stored, once []string
			for _, m := range marks.FindAllString(string(x.tape.text), -1) {
				if m[1] == 's' {
					stored = append(stored, m)
				} else {
					once = append(once, m)
				}
			}
			if !slices.Equal(stored, x.stored) || !slices.Equal(once, x.once) {
				t.Fatalf("session %d of %s, facilitator %v: got %v and %v, want %v and %v", i, x.person, x.facilitator, stored, once, x.stored, x.once)
			}
		}
	})
}
