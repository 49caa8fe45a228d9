package codelab

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// aSecret is the id of the secret that encrypts anonymous ballots in these tests.
const aSecret = "lab.secret"

// polled returns a codelab with this many attendees, named p0, p1, …
func polled(t interface {
	Fatal(...any)
	Helper()
}, people int) (*lab, []*Caller) {
	t.Helper()
	l := newLab()
	l.create(t, "one", "two")
	var all []*Caller
	for i := range people {
		v, err := l.do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: fmt.Sprint("p", i)}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, attendeeCaller(v.(Registration).Attendee))
	}
	return l, all
}

func (l *lab) must(t interface {
	Fatalf(string, ...any)
	Helper()
}, who *Caller, body Body) any {
	t.Helper()
	v, err := l.do(Command{Caller: who, Body: body})
	if err != nil {
		t.Fatalf("%T: %v", body, err)
	}
	return v
}

// refused verifies that a command is refused with this reason and text.
func (l *lab) refused(t *testing.T, who *Caller, body Body, reason durable.Reason, text string) {
	t.Helper()
	_, err := l.do(Command{Caller: who, Body: body})
	var r *durable.Rejection
	if !errors.As(err, &r) || r.Reason != reason || !strings.Contains(r.Text, text) {
		t.Errorf("%T: got %v, want %v with %q", body, err, reason, text)
	}
}

func (l *lab) newPoll(t interface {
	Fatalf(string, ...any)
	Helper()
}, p *pb.Poll) *pb.Poll {
	t.Helper()
	return l.must(t, admin, CreatePoll{Poll: p}).(*pb.Poll)
}

func choicePoll(anonymous bool) *pb.Poll {
	return &pb.Poll{Kind: pollChoice, Question: "Which?", Options: []string{"red", "green", "blue"}, Anonymous: anonymous}
}

func choose(p *pb.Poll, options ...int32) Vote {
	return Vote{PollID: p.Id, Round: p.Round, Choice: options}
}

func TestAnInvalidPollIsRefused(t *testing.T) {
	l, people := polled(t, 1)
	for text, p := range map[string]*pb.Poll{
		"question":           {Kind: pollWords},
		"question is longer": {Kind: pollWords, Question: strings.Repeat("x", 501)},
		"kind must be":       {Question: "q"},
		"options: 2 to":      {Kind: pollChoice, Question: "q", Options: []string{"one"}},
		"options[1]":         {Kind: pollSeveral, Question: "q", Options: []string{"one", " "}},
		"two labels":         {Kind: pollScale, Question: "q", Options: []string{"one"}},
		"has no options":     {Kind: pollWords, Question: "q", Options: []string{"one", "two"}},
		"2 to 4 boxes":       {Kind: pollText, Question: "q", Options: []string{"one"}},
		"labels of 2 to 4":   {Kind: pollText, Question: "q", Options: []string{"1", "2", "3", "4", "5"}},
		"right must be":      {Kind: pollChoice, Question: "q", Options: []string{"one", "two"}, Right: []int32{2}},
		"only a choice":      {Kind: pollScale, Question: "q", Right: []int32{1}},
		"step_id must be":    {Kind: pollText, Question: "q", StepId: "nothing"},
	} {
		l.refused(t, admin, CreatePoll{Poll: p}, durable.Invalid, text)
	}
	l.refused(t, people[0], CreatePoll{Poll: choicePoll(false)}, durable.Forbidden, "facilitators")
	for range maxPolls {
		l.newPoll(t, choicePoll(false))
	}
	l.refused(t, admin, CreatePoll{Poll: choicePoll(false)}, durable.Conflict, "at most 100")
}

func TestVotesAreCountedOncePerPerson(t *testing.T) {
	l, people := polled(t, 3)
	p := l.newPoll(t, choicePoll(false))
	l.refused(t, people[0], choose(p, 0), durable.Missing, "not found") // the poll is a draft
	l.refused(t, admin, ClosePoll{PollID: p.Id}, durable.Conflict, "not open")
	p = l.must(t, admin, OpenPoll{PollID: p.Id}).(*pb.Poll)
	l.must(t, people[0], choose(p, 0))
	l.must(t, people[1], choose(p, 0))
	l.must(t, people[1], choose(p, 2)) // replaces the first vote
	l.must(t, people[2], choose(p, 1))
	l.must(t, people[2], Unvote{PollID: p.Id})
	if v := l.Capture().Polls[0]; v.Votes != 2 || !slices.Equal(v.Counts, []int32{1, 0, 1}) {
		t.Errorf("%d votes, counts %v; want 2 votes, counts [1 0 1]", v.Votes, v.Counts)
	}
	before := l.seq
	l.must(t, people[0], choose(p, 0))
	l.must(t, people[2], Unvote{PollID: p.Id})
	if l.seq != before {
		t.Error("repeating a vote or a withdrawal produced an event")
	}
	l.refused(t, people[0], choose(p, 0, 1), durable.Invalid, "one index")
	l.refused(t, people[0], choose(p, 3), durable.Invalid, "0 to 2")
	l.refused(t, people[0], Vote{PollID: p.Id, Round: 1, Scale: proto.Int32(1)}, durable.Invalid, "choice")
	l.refused(t, people[0], Vote{PollID: p.Id, Round: 2, Choice: []int32{0}}, durable.Conflict, "round 1")
	l.refused(t, admin, choose(p, 0), durable.Forbidden, "only attendees")
	l.refused(t, admin, UpdatePoll{PollID: p.Id, Options: &[]string{"a", "b"}}, durable.Conflict, "has voted")
	l.refused(t, admin, UpdatePoll{PollID: p.Id, Anonymous: proto.Bool(true)}, durable.Conflict, "reset")
	l.must(t, admin, UpdatePoll{PollID: p.Id, Question: proto.String("Which one?"), Right: &[]int32{2}})
	l.must(t, admin, ClosePoll{PollID: p.Id})
	l.refused(t, people[0], choose(p, 0), durable.Conflict, "closed")
	l.refused(t, people[0], Unvote{PollID: p.Id}, durable.Conflict, "closed")

	// A named poll that is opened again keeps its votes. A reset removes them.
	l.must(t, admin, OpenPoll{PollID: p.Id})
	l.must(t, people[2], choose(p, 2))
	if v := l.Capture().Polls[0]; !slices.Equal(v.Counts, []int32{1, 0, 2}) {
		t.Errorf("after reopening, counts %v, want [1 0 2]", v.Counts)
	}
	again := l.must(t, admin, ResetPoll{PollID: p.Id}).(*pb.Poll)
	if v := l.Capture().Polls[0]; again.Round != 2 || v.State != pollDraft || v.Votes != 0 || !slices.Equal(v.Counts, []int32{0, 0, 0}) {
		t.Errorf("after the reset, the poll is %v", v.Poll)
	}
}

// Only one poll is open at a time.
func TestOpeningAPollClosesTheOpenOne(t *testing.T) {
	l, _ := polled(t, 0)
	first, second := l.newPoll(t, choicePoll(false)), l.newPoll(t, choicePoll(false))
	l.must(t, admin, OpenPoll{PollID: first.Id})
	l.must(t, admin, OpenPoll{PollID: second.Id})
	if v := l.Capture(); v.Poll(first.Id).State != pollClosed || v.OpenPoll().Id != second.Id {
		t.Errorf("the first poll is %v, the open poll is %v", v.Poll(first.Id).State, v.OpenPoll().Id)
	}
	l.must(t, admin, SetEnded{Ended: true})
	if l.Capture().OpenPoll() != nil {
		t.Error("the open poll stays open when the workshop ends")
	}
	l.refused(t, admin, OpenPoll{PollID: first.Id}, durable.Conflict, "ended")
}

func TestAPollClosesAtItsEnd(t *testing.T) {
	l, people := polled(t, 1)
	p := l.newPoll(t, choicePoll(false))
	for _, seconds := range []int32{4, 14_401} {
		l.refused(t, admin, OpenPoll{PollID: p.Id, Seconds: &seconds}, durable.Invalid, "5 to 14400")
	}
	p = l.must(t, admin, OpenPoll{PollID: p.Id, Seconds: proto.Int32(5)}).(*pb.Poll)
	system := &Caller{Role: RoleSystem}
	l.now = l.now.Add(5*time.Second - time.Millisecond)
	l.must(t, system, CloseDuePoll{})
	if l.Capture().OpenPoll() == nil {
		t.Fatal("the poll closed before its end")
	}
	l.now = l.now.Add(time.Millisecond)
	l.refused(t, people[0], choose(p, 0), durable.Conflict, "closed")
	l.must(t, system, CloseDuePoll{})
	if l.Capture().OpenPoll() != nil {
		t.Error("the poll did not close at its end")
	}
}

// Opening an open poll changes or removes its end.
func TestOpeningAnOpenPollSetsANewEnd(t *testing.T) {
	l, _ := polled(t, 1)
	p := l.newPoll(t, choicePoll(false))
	began := l.must(t, admin, OpenPoll{PollID: p.Id, Seconds: proto.Int32(5)}).(*pb.Poll).OpenedAt
	l.now = l.now.Add(time.Second)
	for _, seconds := range []*int32{proto.Int32(60), nil, proto.Int32(30)} {
		again, want := l.must(t, admin, OpenPoll{PollID: p.Id, Seconds: seconds}).(*pb.Poll), int64(0)
		if seconds != nil {
			want = l.now.Add(time.Duration(*seconds) * time.Second).UnixMilli()
		}
		if again.EndsAt != want || again.OpenedAt != began {
			t.Errorf("reopened for %v seconds: EndsAt %d, want %d; OpenedAt %d, want %d", seconds, again.EndsAt, want, again.OpenedAt, began)
		}
	}
}

// Attendees receive counts only while the counts are shown. They receive right options only once
// the poll is closed and shown, and no data of drafts.
func TestAttendeesReceiveOnlyVisiblePollData(t *testing.T) {
	l, people := polled(t, 1)
	p := choicePoll(false)
	p.Right = []int32{1}
	p = l.newPoll(t, p)
	shown := func() *pb.Poll { // the poll in the last event for attendees
		for i := len(l.events) - 1; i >= 0; i-- {
			if b := l.events[i].GetPollShown(); b != nil {
				return b.Poll
			}
		}
		t.Fatal("no event has a poll for attendees")
		return nil
	}
	for _, e := range l.events {
		if e.GetPollShown() != nil {
			t.Error("attendees received a draft")
		}
	}
	l.must(t, admin, OpenPoll{PollID: p.Id})
	l.must(t, people[0], choose(p, 1))
	if x := shown(); x.State != pollOpen || x.Counts != nil || x.Right != nil {
		t.Errorf("open poll for attendees: %v", x)
	}
	l.must(t, admin, ShowPoll{PollID: p.Id, Shown: true})
	if x := shown(); !slices.Equal(x.Counts, []int32{0, 1, 0}) || x.Right != nil {
		t.Errorf("open and shown poll for attendees: %v", x)
	}
	l.must(t, admin, ClosePoll{PollID: p.Id})
	if x := shown(); x.State != pollClosed || x.Right == nil || x.Counts == nil {
		t.Errorf("closed and shown poll for attendees: %v", x)
	}
	l.must(t, admin, ShowPoll{PollID: p.Id, Shown: false})
	if x := shown(); x != nil {
		t.Errorf("hidden poll for attendees: %v", x)
	}
}

// anonymous opens p as an anonymous poll, and verifies that a poll without its secret cannot be
// opened.
func (l *lab) anonymous(t *testing.T, p *pb.Poll) *pb.Poll {
	t.Helper()
	p.Anonymous = true
	p = l.newPoll(t, p)
	key := l.rules.BallotKey
	l.rules.BallotKey = func(string) []byte { return nil }
	if _, err := l.do(Command{Caller: admin, Body: OpenPoll{PollID: p.Id, Secret: aSecret}}); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("opening a poll without its secret returned %v, want ErrUnavailable", err)
	}
	l.rules.BallotKey = key
	l.refused(t, admin, OpenPoll{PollID: p.Id}, durable.Conflict, "open it again") // without a secret
	return l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret}).(*pb.Poll)
}

// Neither events nor snapshots contain votes in clear, all ballots have the same length, and nobody
// can vote twice or withdraw a vote.
func TestAnonymousVotesAreSealedUntilTheEnd(t *testing.T) {
	l, people := polled(t, 6)
	p := l.anonymous(t, &pb.Poll{Kind: pollText, Question: "What did you learn?"})
	var lengths []int
	for i, who := range people {
		words := strings.Repeat("learned ", i+1) + fmt.Sprint(i)
		l.must(t, who, Vote{PollID: p.Id, Round: p.Round, Text: &words})
		e := l.events[len(l.events)-1]
		lengths = append(lengths, len(e.GetPollVoted().Ballot))
		if strings.Contains(e.String(), "learned") {
			t.Fatalf("the event contains the text: %v", e)
		}
	}
	if slices.Max(lengths) != slices.Min(lengths) {
		t.Errorf("ballots have the lengths %v, which reveal the lengths of the texts", lengths)
	}
	l.refused(t, people[0], Vote{PollID: p.Id, Round: p.Round, Text: proto.String("another")}, durable.Conflict, "cannot be changed")
	l.refused(t, people[0], Unvote{PollID: p.Id}, durable.Conflict, "cannot be taken back")
	v := l.Capture()
	if x := v.Polls[0]; x.Votes != 6 || x.Counts != nil || x.Words != nil || x.Texts != nil {
		t.Errorf("the open anonymous poll has results: %v", x.Poll)
	}
	if _, entered := v.Voted(v.Polls[0], people[0].ID); entered != nil {
		t.Errorf("the view contains the vote of a person: %v", entered)
	}
	state, err := EncodeState(v)
	if err != nil || bytes.Contains(state, []byte("learned")) {
		t.Errorf("the snapshot contains a text (%v)", err)
	}
	snap := &pb.Snapshot{}
	if err := snap.Decode(state); err != nil {
		t.Fatal(err)
	}
	if b := snap.Polls[0].Ballots; !slices.IsSortedFunc(b, slices.Compare) {
		t.Error("the snapshot has the ballots in the order of the votes")
	}

	l.must(t, admin, ClosePoll{PollID: p.Id})
	closed := l.Capture()
	if x := closed.Polls[0]; len(x.Texts) != 6 || x.Votes != 6 || x.TooFew || x.Void || len(x.ballots) != 0 {
		t.Errorf("the closed poll is %v", x.Poll)
	}
	if marks, _ := closed.Voted(closed.Polls[0], people[0].ID); marks == 0 {
		t.Error("the closed poll does not record that the person voted")
	}
	if !slices.ContainsFunc(l.events, Erases) {
		t.Fatal("no event triggers erasing the ballots")
	}
	clean := Erase(closed)
	for _, e := range l.events {
		if r, changed := clean(e); changed {
			e = r
		}
		if b := e.GetPollVoted(); b != nil {
			t.Errorf("the erased log still contains %v", b)
		}
	}
	l.refused(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret}, durable.Conflict, "not opened again")
}

// cleaned returns the log as an erasure would leave it.
func (l *lab) cleaned() (out []*pb.Event) {
	clean := Erase(l.Capture())
	for _, e := range l.events {
		if r, changed := clean(e); changed {
			e = r
		}
		out = append(out, e)
	}
	return out
}

// In an earlier version, the closing event stayed in the log with the texts, so backups contained
// them after the poll had been reset or deleted. Each time the result was shown, an event repeated
// all texts.
func TestTextsOfAnonymousPollsLeaveTheLog(t *testing.T) {
	l, people := polled(t, 5)
	p := l.anonymous(t, &pb.Poll{Kind: pollText, Question: "What?"})
	for i, who := range people {
		l.must(t, who, Vote{PollID: p.Id, Round: 1, Text: proto.String(fmt.Sprint("regret ", i))})
	}
	l.must(t, admin, ShowPoll{PollID: p.Id, Shown: true})
	l.must(t, admin, ClosePoll{PollID: p.Id})
	for _, e := range l.events {
		if x := e.GetPollShown().GetPoll(); x.GetSecret() != "" || x.GetTexts() != nil {
			t.Errorf("a poll for attendees has a secret or texts: %v", x)
		}
	}
	from := len(l.events)
	l.must(t, admin, ShowPoll{PollID: p.Id, Shown: false})
	l.must(t, admin, ShowPoll{PollID: p.Id, Shown: true})
	l.must(t, admin, UpdatePoll{PollID: p.Id, Question: proto.String("What else?")})
	for _, e := range l.events[from:] {
		if strings.Contains(e.String(), "regret") {
			t.Errorf("an event contains the texts again: %v", e)
		}
	}
	if n := len(l.Capture().Polls[0].Texts); n != 5 {
		t.Errorf("the shown poll has %d texts, want 5", n)
	}
	again := replay(l.empty(), 0, l.events)
	if n := len(again.Capture().Polls[0].Texts); n != 5 {
		t.Errorf("the replayed poll has %d texts, want 5", n)
	}
	for _, e := range l.cleaned() {
		if strings.Contains(e.String(), "regret") {
			t.Errorf("text still in the erased log: %v", e)
		}
	}
	if n := len(l.cleaned()); !slices.ContainsFunc(l.cleaned()[n-2:], func(e *pb.Event) bool { return e.GetPollChanged().GetPoll().GetVotes() == 5 }) {
		t.Error("erasing removed the notices about a poll that still exists")
	}
	l.must(t, admin, ResetPoll{PollID: p.Id})
	if n := len(l.Capture().Polls[0].Texts); n != 0 {
		t.Errorf("after the reset, the poll has %d texts", n)
	}
	if !slices.ContainsFunc(l.events[len(l.events)-2:], Erases) {
		t.Error("a reset does not trigger erasing")
	}
	l.must(t, admin, DeletePoll{PollID: p.Id})
	for _, e := range l.cleaned() {
		if strings.Contains(e.String(), "What") {
			t.Errorf("the log still contains text of the deleted poll: %v", e)
		}
	}
}

func TestNamedVotesLeaveTheLog(t *testing.T) {
	for name, end := range map[string]func(id string) Body{
		"reset":   func(id string) Body { return ResetPoll{PollID: id} },
		"deleted": func(id string) Body { return DeletePoll{PollID: id} },
	} {
		l, people := polled(t, 1)
		p := l.newPoll(t, &pb.Poll{Kind: pollText, Question: "What?"})
		l.must(t, admin, OpenPoll{PollID: p.Id})
		l.must(t, people[0], Vote{PollID: p.Id, Round: 1, Text: proto.String("regret")})
		from := len(l.events)
		l.must(t, admin, end(p.Id))
		if !slices.ContainsFunc(l.events[from:], Erases) {
			t.Errorf("%s: no event triggers erasing", name)
		}
		for _, e := range l.cleaned() {
			if strings.Contains(e.String(), "regret") {
				t.Errorf("%s: vote still in the erased log: %v", name, e)
			}
		}
	}
}

// With fewer than five votes the closing event contains no result, not even for facilitators. With
// five or more votes it contains the result, even if all votes are the same.
func TestAResultThatWouldRevealVotesIsNotWritten(t *testing.T) {
	for name, c := range map[string]struct {
		votes  []int32
		tooFew bool
	}{
		"four votes":                {[]int32{0, 1, 2, 1}, true},
		"five equal votes":          {[]int32{1, 1, 1, 1, 1}, false},
		"five votes, one different": {[]int32{1, 1, 1, 1, 0}, false},
		"no votes":                  {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, people := polled(t, 5)
			p := l.anonymous(t, choicePoll(true))
			for i, option := range c.votes {
				l.must(t, people[i], choose(p, option))
			}
			l.must(t, admin, ClosePoll{PollID: p.Id})
			x := l.Capture().Polls[0]
			if x.TooFew != c.tooFew || (x.Counts == nil) != c.tooFew || int(x.Votes) != len(c.votes) {
				t.Errorf("the closed poll is %v", x.Poll)
			}
			for _, e := range l.events {
				if b := e.GetPollChanged(); c.tooFew && b != nil && b.Poll.Counts != nil {
					t.Errorf("an event contains the counts: %v", b)
				}
			}
		})
	}
}

// After a backup is restored, an open poll has ballots but no secret, so its votes cannot be
// counted.
func TestAPollWithoutItsSecretIsVoid(t *testing.T) {
	l, people := polled(t, 5)
	p := l.anonymous(t, choicePoll(true))
	for i, who := range people {
		l.must(t, who, choose(p, int32(i%2)))
	}
	l.rules.BallotKey = nil
	if _, err := l.do(Command{Caller: people[0], Body: choose(p, 0)}); err == nil {
		t.Error("a vote without the secret is accepted")
	}
	l.must(t, &Caller{Role: RoleSystem}, CloseDuePoll{})
	if x := l.Capture().Polls[0]; x.State != pollClosed || !x.Void || x.Counts != nil || x.Votes != 5 {
		t.Errorf("the closed poll is %v, want it void", x.Poll)
	}
}

// If other nodes could have the secret, the poll closes without being counted, and everything else
// continues. When the secret arrives, the votes are counted. Once it is certain that no node has
// the secret, the poll is void.
func TestAPollWaitsForItsSecret(t *testing.T) {
	for _, kind := range []pb.PollKind{pollChoice, pollText} {
		for how, close := range map[string]func(l *lab, p, other *pb.Poll) Body{
			"by closing it":          func(_ *lab, p, _ *pb.Poll) Body { return ClosePoll{PollID: p.Id} },
			"by opening another":     func(_ *lab, _, other *pb.Poll) Body { return OpenPoll{PollID: other.Id} },
			"by ending the workshop": func(*lab, *pb.Poll, *pb.Poll) Body { return SetEnded{Ended: true} },
			"at its end":             func(l *lab, _, _ *pb.Poll) Body { l.now = l.now.Add(time.Hour); return CloseDuePoll{} },
			"before a snapshot":      func(l *lab, p, _ *pb.Poll) Body { return ClosePoll{PollID: p.Id} },
		} {
			for _, lost := range []bool{false, true} {
				t.Run(fmt.Sprint(kind, " ", how, ", lost: ", lost), func(t *testing.T) {
					l, people := polled(t, 5)
					draft := choicePoll(true)
					if kind == pollText {
						draft = &pb.Poll{Kind: pollText, Question: "What?", Anonymous: true}
					}
					p := l.newPoll(t, draft)
					l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret, Seconds: proto.Int32(60), Keepers: []string{"n1", "n2"}})
					for i, who := range people {
						body := choose(p, int32(i%2))
						if kind == pollText {
							body = Vote{PollID: p.Id, Round: 1, Text: proto.String(fmt.Sprint("text ", i))}
						}
						l.must(t, who, body)
					}
					other, key := l.newPoll(t, choicePoll(false)), l.rules.BallotKey
					known, asked := false, []string(nil)
					l.rules.BallotKey, l.rules.BallotLost = nil, func(id string, keepers []string) bool {
						asked = append(keepers, id)
						return known
					}
					by := admin
					if how == "at its end" {
						by = system
					}
					l.must(t, by, close(l, p, other))
					if how == "before a snapshot" {
						state, err := EncodeState(l.Capture())
						again := l.empty()
						if again.rules = l.rules; err == nil {
							err = again.Restore(l.seq, state)
						}
						if l.State = again; err != nil {
							t.Fatal(err)
						}
					}
					x := l.Capture().Poll(p.Id)
					if x.State != pollClosed || !x.Counting || x.Void || x.Counts != nil || x.Votes != 5 || x.Secret == "" {
						t.Fatalf("while the secret is missing, the poll is %v", x.Poll)
					}
					if !slices.Equal(asked, []string{"n1", "n2", aSecret}) {
						t.Errorf("BallotLost was called with %v", asked)
					}
					l.refused(t, admin, ShowPoll{PollID: p.Id, Shown: true}, durable.Conflict, "counted")
					l.must(t, system, CloseDuePoll{})
					if x = l.Capture().Poll(p.Id); !x.Counting {
						t.Fatal("the poll was counted without its secret")
					}
					if audits := len(l.audits); lost {
						known = true
						l.must(t, system, CloseDuePoll{})
						if x = l.Capture().Poll(p.Id); !x.Void || x.Counting || x.Secret != "" || len(x.ballots) > 0 || len(l.audits) != audits {
							t.Errorf("after the secret is lost, the poll is %v, want it void", x.Poll)
						}
						return
					}
					l.rules.BallotKey = key
					l.must(t, system, CloseDuePoll{})
					x = l.Capture().Poll(p.Id)
					if x.Void || x.Counting || x.Secret != "" || len(x.Keepers) > 0 || len(x.ballots) > 0 || x.Votes != 5 {
						t.Errorf("the counted poll is %v", x.Poll)
					}
					if kind == pollChoice && !slices.Equal(x.Counts, []int32{3, 2, 0}) || kind == pollText && len(x.Texts) != 5 {
						t.Errorf("the counted poll has wrong results: %v", x.Poll)
					}
					for _, e := range l.cleaned() {
						if e.GetPollVoted() != nil {
							t.Errorf("the erased log still contains %v", e)
						}
					}
				})
			}
		}
	}
}

// Removing a person removes the person's named votes, but not the anonymous ones.
func TestARemovalRemovesNamedVotesOnly(t *testing.T) {
	l, people := polled(t, 6)
	named := l.newPoll(t, &pb.Poll{Kind: pollWords, Question: "One word?"})
	l.must(t, admin, OpenPoll{PollID: named.Id})
	for i, who := range people {
		l.must(t, who, Vote{PollID: named.Id, Round: 1, Words: []string{fmt.Sprint("w", i)}})
	}
	p := l.anonymous(t, choicePoll(true))
	for i, who := range people {
		l.must(t, who, choose(p, int32(i%2)))
	}
	l.must(t, admin, Remove{AttendeeID: people[2].ID})
	v := l.Capture()
	if x := v.Poll(named.Id); x.Votes != 5 || len(x.Words) != 5 || slices.ContainsFunc(x.Words, func(w *pb.PollWord) bool { return w.Word == "w2" }) {
		t.Errorf("the named poll is %v", x.Poll)
	}
	if _, entered := v.Voted(v.Poll(named.Id), people[3].ID); !slices.Equal(entered.GetWords(), []string{"w3"}) {
		t.Errorf("the vote of a later attendee is %v", entered)
	}
	l.must(t, admin, ClosePoll{PollID: p.Id})
	if x := l.Capture().Poll(p.Id); x.Votes != 6 || !slices.Equal(x.Counts, []int32{3, 3, 0}) {
		t.Errorf("the anonymous poll is %v", x.Poll)
	}
}

func TestWordsAreCountedAfterFolding(t *testing.T) {
	l, people := polled(t, 4)
	p := l.newPoll(t, &pb.Poll{Kind: pollWords, Question: "One word?"})
	l.must(t, admin, OpenPoll{PollID: p.Id})
	for i, words := range [][]string{{"Go", " go "}, {"go"}, {"ＧＯ", "fun"}, {"go", "Fun"}} {
		l.must(t, people[i], Vote{PollID: p.Id, Round: 1, Words: words})
	}
	x := l.Capture().Polls[0]
	if len(x.Words) != 2 || x.Words[0].Word != "go" || x.Words[0].Votes != 4 || x.Words[1].Word != "Fun" || x.Words[1].Votes != 2 {
		t.Errorf("the words are %v", x.Words)
	}
	l.refused(t, people[0], Vote{PollID: p.Id, Round: 1, Words: []string{"a", "b", "c", "d"}}, durable.Invalid, "1 to 3")
	l.refused(t, people[0], Vote{PollID: p.Id, Round: 1, Words: []string{strings.Repeat("x", 61)}}, durable.Invalid, "60")
}

// The total size of a poll's texts is bounded, even if the ballots are sealed.
func TestTheTextsOfAPollAreBounded(t *testing.T) {
	for _, anonymous := range []bool{false, true} {
		l, people := polled(t, 2)
		in := &pb.Poll{Kind: pollText, Question: "What?", Anonymous: anonymous}
		p := l.newPoll(t, in)
		l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret})
		x := l.State.poll(p.Id)
		if anonymous {
			x.hidden.texts = maxPollTexts - 3
		} else {
			x.texts = maxPollTexts - 3
		}
		l.refused(t, people[0], Vote{PollID: p.Id, Round: 1, Text: proto.String("four")}, durable.Conflict, "full")
		l.must(t, people[0], Vote{PollID: p.Id, Round: 1, Text: proto.String("all")})
		l.refused(t, people[1], Vote{PollID: p.Id, Round: 1, Text: proto.String("x")}, durable.Conflict, "full")
	}
}

// In a full poll, a person can replace their own vote, and after a vote is withdrawn another person
// can vote.
func TestAVoteInAFullPollCanBeReplaced(t *testing.T) {
	l, people := polled(t, 2)
	p := l.newPoll(t, &pb.Poll{Kind: pollText, Question: "What?"})
	l.must(t, admin, OpenPoll{PollID: p.Id})
	vote := func(text string) Vote { return Vote{PollID: p.Id, Round: 1, Text: &text} }
	x := l.State.poll(p.Id)
	x.texts = maxPollTexts - 3
	l.must(t, people[0], vote("all"))
	for _, same := range []string{"new", "x", "two"} {
		l.must(t, people[0], vote(same))
	}
	l.refused(t, people[0], vote("four"), durable.Conflict, "full")
	l.refused(t, people[1], vote("x"), durable.Conflict, "full")
	l.must(t, people[0], vote("x"))
	l.must(t, people[1], vote("12"))
	l.must(t, people[0], Unvote{PollID: p.Id})
	l.must(t, people[1], vote("123"))
	if x.texts != maxPollTexts {
		t.Errorf("the poll counts %d bytes of texts, want %d", x.texts, maxPollTexts)
	}
}

func TestPollOfLines(t *testing.T) {
	for text, want := range map[string]*pb.Poll{
		"Which?\n- a\n- b":        {Kind: pollChoice, Question: "Which?", Options: []string{"a", "b"}},
		" Which?\r\n\r\n* a\n+ b": {Kind: pollChoice, Question: "Which?", Options: []string{"a", "b"}},
		"What comes\nto mind?":    {Kind: pollWords, Question: "What comes to mind?"},
	} {
		got, err := PollOfLines(text)
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("PollOfLines(%q) = %v, %v", text, got, err)
		}
	}
	if _, err := PollOfLines("Which?\n- a\nand then\n- b"); err == nil {
		t.Error("text between options is accepted")
	}
	// Many lines are refused early. In an earlier version, each line of a question made a longer
	// copy of the question.
	if _, err := PollOfLines(strings.Repeat("a\n", maxPollLines/2+1)); err == nil {
		t.Error("too many lines are accepted")
	}
}

// TestAnyVotes draws votes and removals. The counts must match the current votes. Replaying the
// whole log must lead to the same state as a snapshot and the later events, and every node must
// show the same words.
func TestAnyVotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, people := polled(t, 6)
		for _, kind := range []pb.PollKind{pollChoice, pollSeveral, pollScale, pollWords, pollText} {
			p := &pb.Poll{Kind: kind, Question: "q", Anonymous: rapid.Bool().Draw(t, "anonymous")}
			if kind == pollChoice || kind == pollSeveral {
				p.Options = []string{"a", "b", "c"}
			}
			l.newPoll(t, p)
		}
		var snapshot []byte
		var snapped uint64
		for range rapid.IntRange(1, 80).Draw(t, "commands") {
			p := rapid.SampledFrom(l.polls).Draw(t, "poll").rec
			who := rapid.SampledFrom(people).Draw(t, "who")
			n := int32(rapid.IntRange(0, 4).Draw(t, "n"))
			var cmd Body
			switch rapid.IntRange(0, 16).Draw(t, "kind") {
			case 0, 1:
				cmd, who = OpenPoll{PollID: p.Id, Secret: aSecret}, admin
			case 2:
				cmd, who = ClosePoll{PollID: p.Id}, admin
			case 3:
				cmd, who = ResetPoll{PollID: p.Id}, admin
			case 4:
				cmd, who = ShowPoll{PollID: p.Id, Shown: n > 1}, admin
			case 5:
				cmd = Unvote{PollID: p.Id}
			case 6:
				cmd, who = Remove{AttendeeID: who.ID}, admin
			case 7:
				snapshot, _ = EncodeState(l.Capture())
				snapped = l.seq
				continue
			default:
				if open := l.openPoll(); open != nil {
					p = open.rec
				}
				v := Vote{PollID: p.Id, Round: p.Round}
				switch p.Kind {
				case pollChoice:
					v.Choice = []int32{n % 3}
				case pollSeveral:
					v.Choice = []int32{n % 3, 1}
				case pollScale:
					v.Scale = proto.Int32(n + 1)
				case pollWords:
					v.Words = rapid.SliceOfN(rapid.SampledFrom([]string{"Go", "go", "fun", "FUN", "x", "y"}), 1, 3).Draw(t, "words")
				case pollText:
					v.Text = proto.String(rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "text"))
				}
				cmd = v
			}
			_, _ = l.do(Command{Caller: who, Body: cmd})
			view := l.Capture()
			for _, p := range view.Polls {
				checkCounts(t, view, p)
			}
		}
		same(t, "replay of the whole log", replay(l.empty(), 0, l.events), l.State)
		if snapshot != nil {
			s := l.empty()
			if err := s.Restore(snapped, snapshot); err != nil {
				t.Fatal(err)
			}
			same(t, "snapshot and later events", replay(s, snapped, l.events), l.State)
		}
	})
}

// checkCounts recounts the votes of a named poll.
func checkCounts(t *rapid.T, v *View, p *PollView) {
	t.Helper()
	if p.Anonymous {
		return
	}
	counts, words, votes := make([]int32, optionCount(p.Poll)), map[string]int32{}, int32(0)
	v.EachVote(p, func(_ *pb.Attendee, marks uint16, entered *pb.PollSaid) {
		votes++
		for i := range counts {
			counts[i] += int32(marks >> i & 1)
		}
		for _, w := range entered.GetWords() {
			words[wordKey(w)]++
		}
	})
	if votes != p.Votes || len(counts) > 0 && !slices.Equal(counts, p.Counts) || p.Kind == pollWords && len(words) != len(p.Words) {
		t.Fatalf("%d votes %v %v, but the poll has %v", votes, counts, words, p.Poll)
	}
	for i, w := range p.Words {
		if words[wordKey(w.Word)] != w.Votes || i > 0 && w.Votes > p.Words[i-1].Votes {
			t.Fatalf("recounted words %v, but the poll has %v", words, p.Words)
		}
	}
}

// BenchmarkPolls measures 100 polls of 10,000 votes each: the memory of the state, and the time to
// read a snapshot.
func BenchmarkPolls(b *testing.B) {
	l := newLab()
	l.create(b, "one")
	var people []*Caller
	for i := range 10_000 {
		v, err := l.do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: fmt.Sprint("p", i)}})
		if err != nil {
			b.Fatal(err)
		}
		people = append(people, attendeeCaller(v.(Registration).Attendee))
	}
	l.events = nil
	for i := range maxPolls {
		p := l.must(b, admin, CreatePoll{Poll: choicePoll(false)}).(*pb.Poll)
		l.must(b, admin, OpenPoll{PollID: p.Id})
		for j, who := range people {
			l.seq++
			l.Apply(l.seq, &pb.Event{Body: &pb.Event_PollVoted{PollVoted: &pb.PollVoted{PollId: p.Id, AttendeeId: who.ID, Marks: 1 << ((i + j) % 3)}}})
		}
	}
	state, err := EncodeState(l.Capture())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(state)), "snapshot-B")
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := l.empty().Restore(l.seq, state); err != nil {
			b.Fatal(err)
		}
	}
}

// After any votes and withdrawals, best must return the same words as sorting all words. The
// normalized form of a word is bounded, although NFKC can turn one code point into 18.
func TestTheBestWordsAreCorrectAfterAnyVotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tally tally
		all := map[string]int32{}
		for range rapid.IntRange(1, 600).Draw(t, "votes") {
			word := fmt.Sprintf("w%03d", rapid.IntRange(0, 200).Draw(t, "word"))
			if all[word] > 0 && rapid.IntRange(0, 2).Draw(t, "back") == 0 {
				tally.add(word, -1)
				all[word]--
			} else {
				tally.add(word, +1)
				all[word]++
			}
			if rapid.IntRange(0, 5).Draw(t, "read") == 0 {
				tally.best()
			}
		}
		var want []*pb.PollWord
		for word, n := range all {
			if n > 0 {
				want = append(want, &pb.PollWord{Word: word, Votes: n})
			}
		}
		slices.SortFunc(want, func(a, b *pb.PollWord) int {
			return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(a.Word, b.Word))
		})
		want = want[:min(len(want), shownPollWords)]
		if got := tally.best(); !slices.EqualFunc(got, want, func(a, b *pb.PollWord) bool { return proto.Equal(a, b) }) {
			t.Fatalf("best words %v, want %v", got, want)
		}
	})
	long := strings.Repeat("\ufdfa", maxVoteWord)
	if n := len(wordKey(long)); n > maxWordKey {
		t.Errorf("the key of a long word has %d bytes", n)
	}
	if wordKey(long) == wordKey(long[3:]) {
		t.Error("two different long words have the same key")
	}
}

func TestAVoteMustFitItsPoll(t *testing.T) {
	l, people := polled(t, 2)
	scale := l.newPoll(t, &pb.Poll{Kind: pollScale, Question: "How sure?"})
	l.must(t, admin, OpenPoll{PollID: scale.Id})
	for _, value := range []int32{-1, 0, 6, 32} {
		l.refused(t, people[0], Vote{PollID: scale.Id, Round: 1, Scale: &value}, durable.Invalid, "1 to 5")
	}
	l.refused(t, people[0], Vote{PollID: scale.Id, Round: 1}, durable.Invalid, "1 to 5")
	l.refused(t, people[0], Vote{PollID: scale.Id, Round: 1, Scale: proto.Int32(1), Text: proto.String("a")}, durable.Invalid, "one of")
	l.must(t, people[0], Vote{PollID: scale.Id, Round: 1, Scale: proto.Int32(5)})
	l.must(t, people[1], Vote{PollID: scale.Id, Round: 1, Scale: proto.Int32(1)})
	if x := l.Capture().Poll(scale.Id); !slices.Equal(x.Counts, []int32{1, 0, 0, 0, 1}) {
		t.Errorf("counts of the scale are %v", x.Counts)
	}
	choice := l.newPoll(t, choicePoll(false))
	l.must(t, admin, OpenPoll{PollID: choice.Id})
	l.refused(t, people[0], choose(choice), durable.Invalid, "one index")
	l.refused(t, people[0], choose(choice, -1), durable.Invalid, "0 to 2")
	l.must(t, admin, UpdatePoll{PollID: choice.Id, Kind: pollSeveral.Enum()}) // possible, because nobody has voted
	l.refused(t, people[0], choose(choice, 0, 1, 2, 0), durable.Invalid, "indexes")
	l.must(t, people[0], choose(choice, 0, 0, 2))
	if x := l.Capture().Poll(choice.Id); !slices.Equal(x.Counts, []int32{1, 0, 1}) {
		t.Errorf("counts of the choice are %v", x.Counts)
	}
	l.must(t, admin, SetEnded{Ended: true})
	l.refused(t, people[0], choose(choice, 0), durable.Conflict, "ended")
	l.refused(t, admin, ShowPoll{PollID: l.newPoll(t, choicePoll(false)).Id, Shown: true}, durable.Conflict, "not been opened")
}

// The bounds of words and ballots also hold after a restart.
func TestPollWordsAndBallotsAreBounded(t *testing.T) {
	for _, anonymous := range []bool{false, true} {
		l, people := polled(t, 3)
		p := l.newPoll(t, &pb.Poll{Kind: pollWords, Question: "One word?", Anonymous: anonymous})
		l.must(t, admin, OpenPoll{PollID: p.Id, Secret: aSecret})
		vote := func(words ...string) Vote { return Vote{PollID: p.Id, Round: 1, Words: words} }
		l.must(t, people[0], vote("known"))
		state, err := EncodeState(l.Capture())
		if err != nil {
			t.Fatal(err)
		}
		again := l.empty()
		if err := again.Restore(l.seq, state); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*State{l.State, again} {
			l.State = s
			x := s.poll(p.Id)
			for i := range maxPollKeys - 2 {
				if key := fmt.Sprint("other", i); anonymous {
					x.hidden.words[key] = true
				} else {
					x.tally.words[key] = &tallied{key: key}
				}
			}
			l.refused(t, people[1], vote("two", "new"), durable.Conflict, "full")
			l.must(t, people[1], vote("KNOWN", "one"))
			l.refused(t, people[2], vote("more"), durable.Conflict, "full")
			l.must(t, people[2], vote("known"))
		}
	}
	l, people := polled(t, 1)
	p := l.anonymous(t, &pb.Poll{Kind: pollText, Question: "What?"})
	l.poll(p.Id).ballots = make([][]byte, maxBallots/ballotSize(pollText))
	l.refused(t, people[0], Vote{PollID: p.Id, Round: 1, Text: proto.String("a")}, durable.Conflict, "full")
}

// If one ballot is damaged or belongs to another poll or round, the poll is void, and no vote is
// counted.
func TestABallotBelongsToOneRoundOfOnePoll(t *testing.T) {
	l, people := polled(t, 6)
	p := l.anonymous(t, choicePoll(true))
	for i, who := range people {
		l.must(t, who, choose(p, int32(i%2)))
	}
	x := l.poll(p.Id)
	rec := x.rec.Clone()
	rec.Round++
	if _, err := l.openBallot(rec, x.ballots[0]); err == nil {
		t.Error("a ballot of another round is accepted")
	}
	rec = x.rec.Clone()
	rec.Id = "another"
	if _, err := l.openBallot(rec, x.ballots[0]); err == nil {
		t.Error("a ballot of another poll is accepted")
	}
	rec = x.rec.Clone()
	rec.Kind = pollText
	if _, err := l.openBallot(rec, x.ballots[0]); err == nil {
		t.Error("a ballot for a poll of a different kind is accepted")
	}
	for _, damaged := range [][]byte{nil, {1}, x.ballots[0][:20], append([]byte{1}, x.ballots[0]...)} {
		if _, err := l.openBallot(x.rec, damaged); err == nil {
			t.Errorf("the damaged ballot %x is accepted", damaged)
		}
	}
	x.ballots[3] = x.ballots[3][:5]
	l.must(t, admin, ClosePoll{PollID: p.Id})
	if x := l.Capture().Poll(p.Id); !x.Void || x.Counts != nil {
		t.Errorf("the poll is %v, want it void", x.Poll)
	}
}

func TestTextsAreNotInTheOrderOfTheVotes(t *testing.T) {
	l, people := polled(t, 40)
	p := l.anonymous(t, &pb.Poll{Kind: pollText, Question: "What?"})
	var voted []string
	for i, who := range people {
		voted = append(voted, fmt.Sprintf("text %02d", i))
		l.must(t, who, Vote{PollID: p.Id, Round: 1, Text: &voted[i]})
	}
	l.must(t, admin, ClosePoll{PollID: p.Id})
	texts := slices.Clone(l.Capture().Polls[0].Texts)
	if slices.Equal(texts, voted) { // with a random order, the chance of this is 1 in 40!
		t.Error("the texts are in the order of the votes")
	}
	if slices.Sort(texts); !slices.Equal(texts, voted) {
		t.Errorf("the texts are %q", texts)
	}
}

func TestADeletedPollLeavesTheProjector(t *testing.T) {
	l, _ := polled(t, 0)
	p := l.newPoll(t, choicePoll(false))
	l.must(t, admin, SetSpotlight{Kind: SpotlightPoll, ID: p.Id})
	l.must(t, admin, DeletePoll{PollID: p.Id})
	if l.Capture().Spotlight != nil {
		t.Error("the deleted poll is still on the projector")
	}
	if !slices.ContainsFunc(l.events, Erases) {
		t.Error("deleting the poll does not trigger erasing")
	}
}

// Attendees receive counts and words only while the result is shown, and never the texts.
func TestAttendeesReceiveOnlyShownResults(t *testing.T) {
	full := &pb.Poll{
		State: pollOpen, Secret: "s", Right: []int32{0}, Votes: 5, Counts: []int32{5}, Words: []*pb.PollWord{{Word: "w"}}, Texts: []string{"t"}, TooFew: true,
	}
	if x := ForAttendees(full); x.Counts != nil || x.Words != nil || x.Texts != nil || x.TooFew || x.Right != nil || x.Secret != "" || x.Votes != 5 {
		t.Errorf("open poll: %v", x)
	}
	full.Shown = true
	if x := ForAttendees(full); x.Counts == nil || x.Words == nil || x.Texts != nil || x.Right != nil {
		t.Errorf("open and shown poll: %v", x)
	}
	full.State = pollClosed
	if x := ForAttendees(full); x.Words == nil || x.Texts != nil || x.Right == nil || !x.TooFew {
		t.Errorf("closed and shown poll: %v", x)
	}
	full.Shown = false
	if x := ForAttendees(full); x != nil {
		t.Errorf("closed and hidden poll: %v", x)
	}
}

func TestResetHidesThePreviousRound(t *testing.T) {
	l, people := polled(t, 5)
	p := l.anonymous(t, choicePoll(true))
	for i, who := range people {
		l.must(t, who, choose(p, int32(i%2)))
	}
	l.must(t, admin, ClosePoll{PollID: p.Id})
	l.must(t, admin, ShowPoll{PollID: p.Id, Shown: true})
	if x := l.must(t, admin, ResetPoll{PollID: p.Id}).(*pb.Poll); x.Votes != 0 || x.Counts != nil || x.Round != 2 || x.Shown {
		t.Errorf("the reset poll is %v", x)
	}
	if marks, _ := l.Capture().Voted(l.Capture().Polls[0], people[0].ID); marks != 0 {
		t.Error("a voter of the previous round counts as having voted")
	}
}

// The most frequent spelling is shown after any votes and withdrawals. In some runs, the word can
// have more than manySpellings spellings, which are too many to scan them all.
func TestTheMostFrequentSpellingIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tally tally
		votes := map[string]int{}
		kinds := rapid.SampledFrom([]int{3, 2 * manySpellings}).Draw(t, "spellings")
		for range rapid.IntRange(1, 300).Draw(t, "votes") {
			word, n := []byte("spelling"), rapid.IntRange(0, kinds-1).Draw(t, "word")
			for i := range word {
				if n>>i&1 == 1 {
					word[i] -= 'a' - 'A'
				}
			}
			by := 1
			if votes[string(word)] > 0 && rapid.Bool().Draw(t, "back") {
				by = -1
			}
			tally.add(string(word), by)
			votes[string(word)] += by
			want, all := "", 0
			for text, n := range votes {
				all += n
				if n > votes[want] || n > 0 && n == votes[want] && text < want {
					want = text
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "look") > 0 {
				continue
			}
			got := tally.best()
			switch {
			case all == 0 && len(got) == 0:
			case len(got) != 1 || got[0].Word != want || int(got[0].Votes) != all:
				t.Fatalf("best words %v, want %s of %v", got, want, votes)
			}
		}
	})
}

// Voters see whether a poll is anonymous, and rely on it. For this reason an opened poll stays
// anonymous or named until a reset removes the votes.
func TestAPollStaysAnonymousOrNamedUntilItIsReset(t *testing.T) {
	for _, anonymous := range []bool{false, true} {
		l, people := polled(t, 1)
		other := UpdatePoll{Anonymous: proto.Bool(!anonymous)}
		var p *pb.Poll
		if anonymous {
			p = l.anonymous(t, choicePoll(true))
		} else {
			p = l.newPoll(t, choicePoll(false))
			p = l.must(t, admin, OpenPoll{PollID: p.Id}).(*pb.Poll)
		}
		other.PollID = p.Id
		l.must(t, people[0], choose(p, 0))
		l.refused(t, admin, other, durable.Conflict, "reset")
		l.must(t, admin, ClosePoll{PollID: p.Id})
		l.refused(t, admin, other, durable.Conflict, "reset")
		l.must(t, admin, ShowPoll{PollID: p.Id, Shown: true})
		l.refused(t, admin, other, durable.Conflict, "reset")
		l.must(t, admin, ResetPoll{PollID: p.Id})
		if p = l.must(t, admin, other).(*pb.Poll); p.Anonymous == anonymous || p.Votes != 0 {
			t.Errorf("the changed poll is %v", p)
		}
	}
}

// The total size of the shown words is bounded. The most frequent words are shown.
func TestTheShownWordsAreBoundedInBytes(t *testing.T) {
	var all tally
	word := func(i int) string {
		return string(rune('a'+i%26)) + string(rune('a'+i/26)) + strings.Repeat("\U0001F600", 58)
	}
	for i := range shownPollWords {
		for range shownPollWords - i {
			all.add(word(i), +1)
		}
	}
	got, bytes := all.best(), 0
	for i, w := range got {
		if bytes += len(w.Word); w.Word != word(i) {
			t.Errorf("word %d is %q, out of order", i, w.Word)
		}
	}
	if bytes > shownPollWordsB || bytes+len(word(0)) <= shownPollWordsB {
		t.Errorf("%d words have %d bytes", len(got), bytes)
	}
}
