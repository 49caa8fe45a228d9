package live

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"atelier/actors/room"
)

// tape is a wire that records the bytes written to it.
type tape struct {
	text    []byte
	writes  int
	longest int
	// takes returns how many of n bytes are accepted; nil accepts all.
	takes func(n int) int
	wrote func()
	gone  bool
}

func (w *tape) write(p []byte) (int, error) {
	if w.gone {
		return 0, errGone
	}
	n := len(p)
	if w.takes != nil {
		n = w.takes(n)
	}
	w.text = append(w.text, p[:n]...)
	w.writes, w.longest = w.writes+1, max(w.longest, n)
	w.wrote()
	return n, nil
}

func (*tape) close() {}
func (*tape) abort() {}

// nobody is the owner of a session in tests that do not use the owner.
type nobody struct{}

func (nobody) Message(*Session, []byte) {}
func (nobody) Limited(*Session, []byte) {}
func (nobody) Closed(*Session, Reason)  {}

// stage is a loop with a room. The loop does not run on its own goroutine: the test calls its
// turns.
type stage struct {
	loop *loop
	room *room.Room
	seen *loopRoom
	hub  *Hub
}

func newStage(t interface{ Fatal(...any) }, limits room.Limits) *stage {
	hub, err := New(Options{Loops: 1, writesBetweenPolls: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{loop: hub.loops[0], room: room.New("epoch", limits), hub: hub}
	s.seen = s.loop.loopRoom(s.room)
	return s
}

func (s *stage) enter(id uint64, person string, facilitator bool, protocol Protocol, w *tape) *Session {
	session := &Session{
		id: id, loop: s.loop, room: s.room, person: person, facilitator: facilitator, protocol: protocol, handler: nobody{}, wire: w, state: open,
		resync: func(uint64, string) []byte { return []byte("<r0>") },
	}
	s.loop.sessions[id] = session
	s.seen.enter(session)
	return session
}

func textFrame(text string) room.Frame { return room.Frame{Payload: []byte("<" + text + ">")} }

// play publishes one frame to a number of attendees, and calls does[n] after the n-th write.
func (s *stage) play(attendees int, does map[int]func()) []*tape {
	writes := 0
	tapes := make([]*tape, attendees)
	for i := range tapes {
		tapes[i] = &tape{wrote: func() {
			writes++
			if do := does[writes]; do != nil {
				do()
			}
		}}
		s.enter(uint64(i+1), fmt.Sprint("p", i), false, WebSocket, tapes[i])
	}
	s.publish(1, 1, 0)
	for s.seen.at.before(s.seen.head()) {
		s.loop.drain(s.seen)
	}
	return tapes
}

// publish publishes frames of at least this size.
func (s *stage) publish(from, to uint64, size int) {
	for seq := from; seq <= to; seq++ {
		f := textFrame(fmt.Sprint("s", seq))
		f.Seq, f.Payload = seq, append(f.Payload, make([]byte, size)...)
		s.room.Publish(f)
	}
}

func (w *tape) marks() string { return strings.Join(marks.FindAllString(string(w.text), -1), "") }

// A frame that is published during a fan-out joins it: sessions not yet visited receive both
// frames in one write, and no frame waits for the end of another.
func TestFrameJoinsAFanOutInProgress(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	tapes := s.play(10, map[int]func(){4: func() { s.publish(2, 2, 0) }})
	for i, w := range tapes {
		if once := i >= 4; w.marks() != "<s1><s2>" || once != (w.writes == 1) {
			t.Errorf("session %d got %s in %d writes", i, w.marks(), w.writes)
		}
	}
	// The next fan-out starts where the last one ended, so the session that waited longest comes
	// first.
	tapes[4].wrote = func() {
		if len(tapes[3].text) > len(tapes[4].text) {
			t.Error("the fourth session was written to before the fifth")
		}
	}
	s.publish(3, 3, 0)
	s.loop.drain(s.seen)
	// After most sessions have left, the remaining ones still receive each frame once.
	for id := range uint64(8) {
		s.loop.drop(s.loop.sessions[id+1], ReasonGone)
	}
	s.publish(4, 4, 0)
	s.loop.drain(s.seen)
	for i, w := range tapes[8:] {
		if got := w.marks(); got != "<s1><s2><s3><s4>" {
			t.Errorf("session %d got %s", 8+i, got)
		}
	}
}

// A frame for attendees can be published during the last write of a frame for facilitators. An
// earlier version of the loop lost such a frame, and the next fan-out crashed the process.
func TestJoiningFrameReachesVisitedGroups(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	attendee, facilitator := &tape{wrote: func() {}}, &tape{}
	facilitator.wrote = func() {
		if facilitator.writes == 1 {
			s.room.Transient(room.Frame{Audience: room.Attendees, Payload: textFrame("t2").Payload})
		}
	}
	s.enter(1, "ann", false, WebSocket, attendee)
	s.enter(2, room.Facilitator, true, WebSocket, facilitator)
	s.room.Transient(room.Frame{Audience: room.Facilitators, Payload: textFrame("t1").Payload})
	s.loop.drain(s.seen)
	s.publish(1, 1, 0)
	s.loop.drain(s.seen)
	if attendee.marks() != "<t2><s1>" || facilitator.marks() != "<t1><s1>" {
		t.Errorf("the attendee got %s, the facilitator %s", attendee.marks(), facilitator.marks())
	}
}

// If a session ends during a fan-out, the other sessions still get their turn.
func TestAnEndedSessionDoesNotSkipOthers(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	tapes := s.play(6, map[int]func(){2: func() { s.loop.sessions[3].wire.(*tape).gone = true }})
	for i, w := range tapes {
		if got := w.marks(); i != 2 && got != "<s1>" {
			t.Errorf("session %d got %q", i, got)
		}
	}
	if len(s.loop.sessions) != 5 || len(s.seen.people) != 5 {
		t.Errorf("%d sessions of %d people remain, want 5 of 5", len(s.loop.sessions), len(s.seen.people))
	}
}

// An ack waits exactly for the frames that were published before it, even in the middle of a
// fan-out.
func TestAcksDuringAFanOutKeepTheirPlace(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	tapes := s.play(4, map[int]func(){
		2: func() {
			s.loop.sessions[1].Send([]byte("<t1>")) // a session that has the frame
			s.loop.sessions[4].Send([]byte("<t4>")) // a session that lacks the frame
		},
		// The third write is the ack of the first session.
		3: func() {
			if got := s.loop.sessions[1].wire.(*tape).marks(); got != "<s1><t1>" {
				t.Errorf("during the fan-out, the first session has %s, want the frame and its ack", got)
			}
		},
	})
	s.loop.flushHeld()
	if got := tapes[3].marks(); got != "<s1><t4>" {
		t.Errorf("the last session got %s, want the frame before its ack", got)
	}
}

// One write is at most about as long as a segment, even if many frames join.
func TestJoinedFramesKeepWritesShort(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	longest, size := 0, segmentBytes/2+1
	tapes := s.play(6, map[int]func(){1: func() { s.publish(2, 2, size) }, 2: func() { s.publish(3, 3, size) }, 3: func() { s.publish(4, 4, size) }})
	for i, w := range tapes {
		longest = max(longest, w.longest)
		if w.marks() != "<s1><s2><s3><s4>" {
			t.Errorf("session %d got %s", i, w.marks())
		}
	}
	if longest > segmentBytes*3/2 {
		t.Errorf("the longest write has %d bytes", longest)
	}
}

// A frame that is erased during a fan-out is sent to no further session.
func TestFrameErasedDuringAFanOutIsNotSent(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	tapes := s.play(6, map[int]func(){
		2: func() { s.publish(2, 2, 0) },
		4: func() { s.room.Rewrite(func(f room.Frame) (room.Frame, bool) { return f, f.Seq != 2 }) },
	})
	for i, want := range []string{"<s1>", "<s1>", "<s1><s2>", "<s1><s2>", "<s1>", "<s1>"} {
		if got := tapes[i].marks(); got != want {
			t.Errorf("session %d got %s, want %s", i, got, want)
		}
	}
}

// A session that the room's window overtakes during a fan-out gets a resync.
func TestSessionsOvertakenDuringAFanOutResync(t *testing.T) {
	for name, does := range map[string]func(s *stage) map[int]func(){
		"before the next step": func(s *stage) map[int]func() {
			return map[int]func(){2: func() { s.publish(2, 2, 0) }, 3: func() { s.publish(3, 9, 0) }}
		},
		"after the last step": func(s *stage) map[int]func() {
			return map[int]func(){
				2: func() { s.publish(2, 2, 0) },
				3: func() {
					s.loop.sessions[3].Send([]byte("<t3>")) // the fourth write, after the next step
					s.publish(3, 3, segmentBytes)
				},
				4: func() { s.publish(4, 5, 0) }, // few bytes, so that the loop itself can continue
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, room.Limits{Frames: 2})
			defer s.hub.Close()
			tapes := s.play(6, does(s))
			s.loop.catchUp()
			for i, w := range tapes {
				if got := w.marks(); !strings.HasSuffix(got, "<r0>") && !strings.HasSuffix(got, "<s9>") && got != "<s1><s2><t3><s3><s4><s5>" {
					t.Errorf("session %d got %s", i, got)
				}
			}
			if stats := s.hub.Stats(); stats.Resyncs[ResyncOvertaken] == 0 {
				t.Error("no session got a resync")
			}
		})
	}
}

// If two frames have the same single recipient, one write contains both.
func TestRecipientOfTwoFramesGetsOneWrite(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	ann, author := &tape{wrote: func() {}}, &tape{wrote: func() {}}
	s.enter(1, "ann", false, WebSocket, ann)
	s.enter(2, "bob", false, WebSocket, author)
	for seq, text := range []string{"s1", "s2"} {
		s.room.Publish(room.Frame{Seq: uint64(seq + 1), Audience: room.People, People: [2]string{"ann", "bob"}, Origin: 2, Payload: textFrame(text).Payload})
	}
	s.loop.drain(s.seen)
	if ann.marks() != "<s1><s2>" || ann.writes != 1 || author.writes != 0 {
		t.Errorf("the recipient got %s in %d writes; the author %d writes", ann.marks(), ann.writes, author.writes)
	}
	// The author of a frame for everyone gets no write either.
	s.room.Publish(room.Frame{Seq: 3, Origin: 2, Payload: textFrame("s3").Payload})
	s.loop.drain(s.seen)
	if ann.marks() != "<s1><s2><s3>" || author.writes != 0 {
		t.Errorf("after a frame for everyone, the recipient has %s; the author %d writes", ann.marks(), author.writes)
	}
}

// A session that catches up during a fan-out already has the frames of the fan-out, and does not
// get them again.
func TestCatchingUpDuringAFanOutRepeatsNothing(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	first, late := &tape{}, &tape{wrote: func() {}, takes: func(int) int { return 0 }}
	first.wrote = func() {
		if first.writes == 2 {
			// From this write on the socket accepts all bytes; the poller would report it now.
			late.takes = nil
			s.loop.roomy(s.loop.sessions[2])
		}
	}
	s.enter(1, "ann", false, WebSocket, first)
	s.enter(2, "bob", false, WebSocket, late)
	s.publish(1, 1, 0)
	s.loop.drain(s.seen)
	s.publish(2, 2, 0)
	s.loop.drain(s.seen)
	if late.marks() != "<s1><s2>" {
		t.Errorf("the session that caught up got %s, want <s1><s2>", late.marks())
	}
}

// Shared segments for lagging sessions are dropped after an erasure.
func TestErasedFramesAreNotSharedWithLaggingSessions(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	tapes := s.play(2, nil)
	for _, w := range tapes {
		w.takes = func(int) int { return 0 }
	}
	s.publish(2, 2, 0)
	s.loop.drain(s.seen)
	s.publish(3, 3, 0)
	s.loop.drain(s.seen)
	for i, want := range []string{"<s1><s2><s3>", "<s1><s2>"} {
		tapes[i].takes = nil
		s.loop.roomy(s.loop.sessions[uint64(i+1)])
		if got := tapes[i].marks(); got != want {
			t.Errorf("session %d got %s, want %s", i, got, want)
		}
		s.room.Rewrite(func(f room.Frame) (room.Frame, bool) { return f, f.Seq != 3 })
	}
}

// Transients that leave their ring in the middle of a fan-out count as missed for each session
// that they did not reach.
func TestMissedTransientsAreCounted(t *testing.T) {
	s := newStage(t, room.Limits{Transients: 2})
	defer s.hub.Close()
	more := func(from, to int) func() {
		return func() {
			for n := from; n <= to; n++ {
				s.room.Transient(textFrame(fmt.Sprint("t", n)))
			}
		}
	}
	tapes := s.play(6, map[int]func(){1: more(1, 2), 2: more(3, 5), 3: more(6, 7), 4: more(8, 10)})
	reached := 0
	for _, w := range tapes {
		reached += strings.Count(w.marks(), "<t")
	}
	if missed := s.hub.Stats().MissedTransients; missed != uint64(6*10-reached) || reached >= 30 {
		t.Errorf("%d transients were received and %d counted as missed, want 60 together", reached, missed)
	}
}

// A publisher that never pauses does not keep the loop in one fan-out.
func TestAFanOutEnds(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	seq, writes := uint64(1), 0
	publish := func() {
		f := textFrame(fmt.Sprint("s", seq))
		f.Seq = seq
		seq++
		s.room.Publish(f)
	}
	for i := range 100 {
		s.enter(uint64(i+1), fmt.Sprint("p", i), false, WebSocket, &tape{wrote: func() { writes++; publish() }})
	}
	publish()
	s.loop.drain(s.seen)
	if writes > 200 {
		t.Errorf("a fan-out to 100 sessions took %d writes", writes)
	}
	if s.seen.at.stored < 50 {
		t.Errorf("only %d frames joined the fan-out", s.seen.at.stored)
	}
}

// Pending acks do not each cause a separate fan-out either. Otherwise joins and other rooms would
// wait for as many fan-outs as there are acks.
func TestResponsesDoNotWaitForLaterFrames(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	const people = 50
	seq, writes := uint64(0), 0
	for i := range people {
		s.enter(uint64(i+1), fmt.Sprint("p", i), false, WebSocket, &tape{wrote: func() {
			if writes++; writes%10 == 1 && writes < 100*people {
				seq++
				s.publish(seq, seq, 0)
			}
		}})
	}
	for i := range uint64(people) {
		s.loop.sessions[i+1].Send([]byte("<t0>"))
	}
	s.loop.turn()
	if writes > 10*people {
		t.Errorf("one turn took %d writes", writes)
	}
	for i, session := range s.loop.sessions {
		if !strings.Contains(session.wire.(*tape).marks(), "<t0>") {
			t.Errorf("session %d got no response", i)
		}
	}
}

var marks = regexp.MustCompile(`<[rst]\d+>`)

// For all frames, times, recipients and socket capacities, every session receives its frames in
// order and once.
func TestFanOutsDeliverEveryFrameInOrderAndOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, room.Limits{})
		defer s.hub.Close()
		type seat struct {
			*Session
			tape         *tape
			stored, once []string // the frames that it must receive
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
				Audience: rapid.SampledFrom([]room.Audience{room.Everyone, room.Everyone, room.Facilitators, room.Attendees, room.People, room.FacilitatorsAndPeople}).Draw(t, "audience"),
				Origin:   uint64(rapid.IntRange(0, 6).Draw(t, "origin")),
			}
			if f.Audience == room.People || f.Audience == room.FacilitatorsAndPeople {
				f.People[0] = someone.Draw(t, "person")
			}
			stored := rapid.Bool().Draw(t, "stored")
			if stored {
				seq++
				f.Seq, f.Payload = seq, textFrame(fmt.Sprint("s", seq)).Payload
			} else {
				transient++
				f.Payload = textFrame(fmt.Sprint("t", transient)).Payload
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
			session := s.enter(uint64(i+1), someone.Filter(func(p string) bool { return p != "" }).Draw(t, "who"), rapid.Bool().Draw(t, "facilitator"), rapid.SampledFrom([]Protocol{WebSocket, SSE}).Draw(t, "protocol"), w)
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
