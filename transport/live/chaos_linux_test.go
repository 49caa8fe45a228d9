package live

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"atelier/actors/room"
)

// guest is a session with its received and expected frames.
type guest struct {
	*Session
	tape *tape
	// roomy is an eventfd. A write to it makes the poller report that the guest's socket has
	// room.
	roomy int
	// place is the guest's room.
	place *place
	// ended means that the guest's connection was broken. Then only the received bytes are checked.
	ended bool
	// answers are the numbers of the responses sent only to this guest. after contains the room's
	// position when each response was sent.
	answers []int
	after   map[int]uint64
}

// place is a room and the frames published in it.
type place struct {
	room   *room.Room
	seq    uint64
	stored []*room.Frame
	// erased contains the frames that guests must no longer receive.
	erased     map[uint64]bool
	transients []*room.Frame
}

var framePattern = regexp.MustCompile(`<([rstaw])(\d+)>`)

// lacks returns a frame that the guest should have received after at and up to upTo, or 0 if no
// frame is missing.
func (g *guest) lacks(at, upTo uint64) uint64 {
	for _, f := range g.place.stored {
		if f.Seq > at && f.Seq <= upTo && g.wants(f) && !g.place.erased[f.Seq] {
			return f.Seq
		}
	}
	return 0
}

// check returns an error if a guest received wrong frames.
func (g *guest) check() error {
	at, transient, answered := uint64(0), 0, 0
	for i, m := range framePattern.FindAllSubmatch(g.tape.text, -1) {
		n, _ := strconv.ParseUint(string(m[2]), 10, 64)
		switch kind := m[1][0]; {
		case (kind == 'w') != (i == 0):
			return fmt.Errorf("%s is message %d", m[0], i)
		case kind == 'w':
			at = n
		case kind == 'r':
			if n < at {
				return fmt.Errorf("resync from %d back to %d", at, n)
			}
			at = n
		case kind == 's':
			if n <= at {
				return fmt.Errorf("frame %d after %d", n, at)
			}
			if x := g.lacks(at, n-1); x > 0 {
				return fmt.Errorf("frame %d arrived without frame %d", n, x)
			}
			if i := g.place.find(n); i == nil || !g.wants(i) {
				return fmt.Errorf("frame %d is for others", n)
			}
			at = n
		case kind == 't':
			if int(n) <= transient || !g.wants(g.place.transients[n-1]) {
				return fmt.Errorf("transient %d after %d", n, transient)
			}
			transient = int(n)
		case kind == 'a':
			if answered >= len(g.answers) || g.answers[answered] != int(n) {
				return fmt.Errorf("response %d, want one of %v", n, g.answers[answered:])
			}
			answered++
			if x := g.lacks(at, g.after[int(n)]); x > 0 {
				return fmt.Errorf("response %d before frame %d", n, x)
			}
		}
	}
	if x := g.lacks(at, 1<<60); !g.ended && (x > 0 || answered < len(g.answers) || g.lag != nil) {
		return fmt.Errorf("at the end, frame %d or the responses %v are missing; behind: %v", x, g.answers[answered:], g.lag != nil)
	}
	return nil
}

func (p *place) find(seq uint64) *room.Frame {
	for _, f := range p.stored {
		if f.Seq == seq {
			return f
		}
	}
	return nil
}

// tidy returns an error if a loop keeps state of one turn that must not remain after the turn.
func tidy(l *loop) error {
	if l.fanningOut || len(l.gone) > 0 {
		return fmt.Errorf("the loop is still fanning out, with %d sessions to remove", len(l.gone))
	}
	for _, seg := range l.spare {
		if len(seg.frames) > 0 {
			return fmt.Errorf("a spare segment still has %d frames", len(seg.frames))
		}
	}
	for _, h := range l.rooms {
		if len(h.steps) > 0 || len(h.spans) > 0 {
			return fmt.Errorf("%d steps and %d spans remain", len(h.steps), len(h.spans))
		}
		behind := 0
		for g := range h.groups {
			if n := h.groups[g].left; n > 0 {
				return fmt.Errorf("%d sessions of group %d were not visited", n, g)
			}
			for _, s := range h.groups[g].members {
				if s.state == closed {
					return fmt.Errorf("session %d is closed but still in its group", s.id)
				}
				if s.lag != nil {
					behind++
				}
			}
		}
		if behind != h.lagging {
			return fmt.Errorf("%d sessions are behind, the count is %d", behind, h.lagging)
		}
	}
	return nil
}

// Random events happen in two rooms of one loop: during writes, between writes and between turns.
// Frames for any audience, responses and events without a frame are published, and frames are
// erased. Sessions join, end and break, and sockets accept only a part of the bytes and later have
// room again. Every client receives its frames in order and once, or a resync.
func TestRandomEventsInALoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var limits room.Limits
		if rapid.Bool().Draw(t, "small window") {
			limits = room.Limits{Frames: rapid.IntRange(1, 6).Draw(t, "frames"), Transients: rapid.IntRange(1, 4).Draw(t, "transients")}
		}
		hub, err := New(Options{Loops: 1, writesBetweenPolls: rapid.IntRange(1, 3).Draw(t, "between polls")})
		if err != nil {
			t.Fatal(err)
		}
		defer hub.Close()
		l := hub.loops[0]
		places := []*place{{}, {}}
		for _, p := range places {
			p.room, p.erased = room.New("epoch", limits), map[uint64]bool{}
		}
		var guests []*guest
		defer func() {
			for _, g := range guests {
				unix.Close(g.roomy)
			}
		}()
		events, answers := rapid.IntRange(1, 60).Draw(t, "events"), 0
		lively := rapid.IntRange(0, 3).Draw(t, "lively")
		someone := rapid.SampledFrom([]string{"ann", "bob", "cleo", room.Facilitator})
		somewhere := rapid.SampledFrom(places)
		anybody := func() *guest { return rapid.SampledFrom(guests).Draw(t, "whose") }

		publish := func() {
			p, f := somewhere.Draw(t, "room"), room.Frame{
				Audience: rapid.SampledFrom([]room.Audience{room.Everyone, room.Everyone, room.Facilitators, room.Attendees, room.People, room.FacilitatorsAndPeople}).Draw(t, "audience"),
				Origin:   uint64(rapid.IntRange(0, 6).Draw(t, "origin")),
			}
			if f.Audience >= room.People {
				f.People[0] = someone.Draw(t, "person")
			}
			padding := bytes.Repeat([]byte{'.'}, rapid.SampledFrom([]int{0, 0, 0, 1000, segmentBytes/2 + 1, segmentBytes + 5}).Draw(t, "padding"))
			if rapid.Bool().Draw(t, "stored") {
				p.seq++
				f.Seq, f.Payload = p.seq, append(textFrame(fmt.Sprint("s", p.seq)).Payload, padding...)
				p.stored = append(p.stored, &f)
				p.room.Publish(f)
				return
			}
			p.transients = append(p.transients, &f)
			f.Payload = append(textFrame(fmt.Sprint("t", len(p.transients))).Payload, padding...)
			p.room.Transient(f)
		}
		var happen func()
		join := func() {
			p, w := somewhere.Draw(t, "room"), &tape{}
			w.wrote = func() {
				if rapid.IntRange(0, 3).Draw(t, "something happens") < lively {
					happen()
				}
			}
			w.takes = func(n int) int {
				if rapid.IntRange(0, 7).Draw(t, "takes") > 0 {
					return n
				}
				return rapid.IntRange(0, n).Draw(t, "bytes")
			}
			resync := func(seq uint64, _ string) []byte { return textFrame(fmt.Sprint("r", seq)).Payload }
			g := &guest{place: p, tape: w, after: map[int]uint64{}, Session: &Session{
				id: uint64(len(guests) + 1), loop: l, room: p.room, person: someone.Draw(t, "who"), facilitator: rapid.Bool().Draw(t, "facilitator"),
				protocol: rapid.SampledFrom([]Protocol{WebSocket, WebSocket, SSE}).Draw(t, "protocol"), handler: nobody{}, wire: w, resync: resync,
			}}
			if g.roomy, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
				t.Fatal(err)
			}
			if err := l.poller.add(g.roomy, g.id); err != nil {
				t.Fatal(err)
			}
			o := &AttachOptions{Room: p.room, Resync: resync, Welcome: func(seq, _ uint64) []byte { return textFrame(fmt.Sprint("w", seq)).Payload }}
			switch rapid.IntRange(0, 2).Draw(t, "comes") {
			case 0:
				since := uint64(rapid.IntRange(0, int(p.seq)+1).Draw(t, "since"))
				o.Since = &since
			case 1:
				o.From = p.room.Head()
			}
			guests = append(guests, g)
			head := headOf(p.room)
			l.post(func() { l.join(g.Session, nil, o, head) })
		}
		happen = func() {
			if events == 0 {
				return
			}
			events--
			switch n := rapid.IntRange(0, 23).Draw(t, "event"); {
			case n < 11:
				publish()
			case n < 14:
				g := anybody()
				answers++
				if head := g.room.Head(); g.Send(textFrame(fmt.Sprint("a", answers)).Payload) {
					g.answers, g.after[answers] = append(g.answers, answers), head
				}
			case n < 18:
				_, _ = unix.Write(anybody().roomy, []byte{1, 0, 0, 0, 0, 0, 0, 0})
			case n == 18:
				g := anybody()
				g.ended = true
				switch rapid.IntRange(0, 2).Draw(t, "ends") {
				case 0:
					g.tape.gone = true
				case 1:
					g.Close(1000, "bye")
				default:
					l.post(func() { l.endNow(g.Session, ending{1001, "", ReasonIdle}) })
				}
			case n == 19:
				p := somewhere.Draw(t, "room")
				p.seq++
				p.room.Advance(p.seq)
			case n == 20:
				p := somewhere.Draw(t, "room")
				gone := uint64(rapid.IntRange(0, int(p.seq)).Draw(t, "erased"))
				p.erased[gone] = true
				p.room.Rewrite(func(f room.Frame) (room.Frame, bool) { return f, f.Seq != gone })
			default:
				join()
			}
		}
		turn := func() {
			l.serve(l.poller.poll())
			l.turn()
			if err := tidy(l); err != nil {
				t.Fatal(err)
			}
		}
		join()
		for events > 0 {
			happen()
			turn()
		}
		// At the end all sockets have room.
		for _, g := range guests {
			g.tape.takes = nil
		}
		for work := true; work; {
			work = l.turn()
			for _, g := range guests {
				if g.lag != nil {
					l.roomy(g.Session)
					work = true
				}
			}
		}
		turn()
		for _, g := range guests {
			if err := g.check(); err != nil {
				t.Fatalf("session %d of %s, facilitator %v: %v\n%s", g.id, g.person, g.facilitator, err, framePattern.FindAllString(string(g.tape.text), -1))
			}
		}
	})
}
