package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// polls is the model of the section "Polls".
type polls struct {
	room *room
	all  []*poll // in the order in which they were made
	// possible contains, for each person and round of a poll, the votes that the person can have
	// cast. There are several if the outcome of an earlier command is unknown. Only the votes in
	// anonymous polls are used.
	possible map[ballot][]vote
}

type ballot struct {
	poll  string
	round int32
	who   string
}

type poll struct {
	rec   *pb.Poll        // the record of the last change
	votes map[string]vote // by attendee; empty votes in an anonymous poll
	// kept is the result of a closed anonymous poll.
	kept *pb.Poll
}

// vote is a person's vote: indexes of options (from 0), words or a text.
type vote struct {
	options []int
	words   []string
	text    string
}

func voteOf(v codelab.Vote) (out vote) {
	for _, i := range v.Choice {
		out.options = append(out.options, int(i))
	}
	if v.Scale != nil {
		out.options = []int{int(*v.Scale) - 1}
	}
	slices.Sort(out.options)
	out.options = slices.Compact(out.options)
	out.words = v.Words
	if v.Text != nil {
		out.text = *v.Text
	}
	return out
}

// fewest is the minimum number of votes for an anonymous result.
const fewest = 5

// word returns the normalized form of a word, without differences in case, width and spaces.
func word(w string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFKC.String(w))), " ")
}

func (m *polls) find(id string) *poll {
	for _, p := range m.all {
		if p.rec.Id == id {
			return p
		}
	}
	return nil
}

func (m *polls) event(e *pb.Event) error {
	switch b := e.Body.(type) {
	case *pb.Event_Created:
		for _, p := range b.Created.Polls {
			m.all = append(m.all, &poll{rec: p, votes: map[string]vote{}})
		}
	case *pb.Event_PollChanged:
		return m.changed(b.PollChanged.Poll)
	case *pb.Event_PollDeleted:
		m.all = slices.DeleteFunc(m.all, func(p *poll) bool { return p.rec.Id == b.PollDeleted.PollId })
	case *pb.Event_PollVoted:
		return m.voted(e.At, b.PollVoted)
	case *pb.Event_PollUnvoted:
		p := m.find(b.PollUnvoted.PollId)
		if p == nil || p.rec.State != pb.PollState_POLL_STATE_OPEN || p.rec.Anonymous {
			return fmt.Errorf("a vote was withdrawn in %v", p)
		}
		delete(p.votes, b.PollUnvoted.AttendeeId)
	case *pb.Event_PollShown:
		return m.shown(b.PollShown)
	case *pb.Event_Removed: // named votes are removed, anonymous votes stay
		for _, p := range m.all {
			if _, voted := p.votes[b.Removed.AttendeeId]; voted && !p.rec.Anonymous {
				delete(p.votes, b.Removed.AttendeeId)
			}
		}
	case *pb.Event_StepsReplaced:
		for _, p := range m.all {
			if p.rec.StepId != "" && !slices.Contains(idsOf(b.StepsReplaced.Steps), p.rec.StepId) {
				p.rec = p.rec.Clone()
				p.rec.StepId = ""
			}
		}
	}
	return nil
}

// changed verifies a changed poll. At most one poll is open, and an anonymous poll is never
// reopened. A closed poll has a secret only while it is being counted. The result of a draft is
// never shown.
func (m *polls) changed(rec *pb.Poll) error {
	p := m.find(rec.Id)
	if p == nil {
		if rec.State != pb.PollState_POLL_STATE_DRAFT || rec.Round != 1 {
			return fmt.Errorf("the new poll %s is in round %d and %v", rec.Id, rec.Round, rec.State)
		}
		m.all = append(m.all, &poll{rec: rec, votes: map[string]vote{}})
		return nil
	}
	was := p.rec
	open := rec.State == pb.PollState_POLL_STATE_OPEN
	closed := rec.State == pb.PollState_POLL_STATE_CLOSED
	switch {
	case open && slices.ContainsFunc(m.all, func(o *poll) bool { return o != p && o.rec.State == pb.PollState_POLL_STATE_OPEN }):
		return fmt.Errorf("poll %s was opened while another poll is open", rec.Id)
	case open && m.room.ended:
		return fmt.Errorf("poll %s was opened after the end of the workshop", rec.Id)
	case open && was.Anonymous && was.State == pb.PollState_POLL_STATE_CLOSED:
		return fmt.Errorf("anonymous poll %s was reopened", rec.Id)
	case closed && was.State == pb.PollState_POLL_STATE_DRAFT:
		return fmt.Errorf("poll %s was closed, but was never open", rec.Id)
	case rec.Anonymous != was.Anonymous && was.State != pb.PollState_POLL_STATE_DRAFT:
		return fmt.Errorf("poll %s changed to anonymous %t while it was %v", rec.Id, rec.Anonymous, was.State)
	case rec.Round != was.Round && (rec.Round != was.Round+1 || rec.State != pb.PollState_POLL_STATE_DRAFT):
		return fmt.Errorf("poll %s changed from round %d to round %d and is %v", rec.Id, was.Round, rec.Round, rec.State)
	case rec.State == pb.PollState_POLL_STATE_DRAFT && was.State != rec.State && rec.Round == was.Round:
		return fmt.Errorf("poll %s became a draft in the same round", rec.Id)
	case !open && !rec.Counting && rec.Secret != "":
		return fmt.Errorf("poll %s is %v, but still has the secret %s", rec.Id, rec.State, rec.Secret)
	case len(p.votes) > 0 && rec.Round == was.Round && (rec.Kind != was.Kind || !slices.Equal(rec.Options, was.Options)):
		return fmt.Errorf("the kind or options of poll %s changed after votes", rec.Id)
	case rec.Shown && rec.State == pb.PollState_POLL_STATE_DRAFT:
		return fmt.Errorf("poll %s is a draft, but its result is shown", rec.Id)
	case rec.Shown && rec.Counting:
		return fmt.Errorf("poll %s is being counted, but its result is shown", rec.Id)
	}
	if rec.Round != was.Round {
		p.votes, p.kept = map[string]vote{}, nil
	}
	p.rec = rec
	if !rec.Anonymous || !closed || rec.Counting {
		return nil
	}
	if p.kept == nil {
		p.kept = rec
		return m.counted(p)
	}
	return differs("the result of anonymous poll "+rec.Id, result(rec), result(p.kept))
}

// result describes the result of a closed anonymous poll, without its texts.
func result(p *pb.Poll) string {
	return fmt.Sprint(p.Votes, " votes, ", p.Counts, p.Words, " too few: ", p.TooFew, ", void: ", p.Void)
}

// counted verifies the result of an anonymous round. With fewer than five votes the poll has no
// result. Otherwise the result includes each vote once. If the round is void or a vote is
// uncertain, counted does not verify the counts.
func (m *polls) counted(p *poll) error {
	rec := p.rec
	if err := differs("the number of votes in anonymous poll "+rec.Id, rec.Votes, len(p.votes)); err != nil || rec.Void {
		return err
	}
	if len(p.votes) < fewest {
		if !rec.TooFew || len(rec.Counts)+len(rec.Words)+len(rec.Texts) > 0 {
			return fmt.Errorf("anonymous poll %s has a result of %d votes: %s", rec.Id, len(p.votes), result(rec))
		}
		return nil
	}
	votes, sure := m.votesIn(p)
	if !sure {
		return nil
	}
	want := tallied(rec, votes)
	texts := slices.Sorted(slices.Values(rec.Texts))
	if err := differs("the texts of anonymous poll "+rec.Id, texts, want.texts); err != nil {
		return err
	}
	return differs("the result of anonymous poll "+rec.Id, tallyOf(rec), want.String())
}

// votesIn returns the votes of an anonymous round. sure is false if a vote is uncertain, because
// the response to a person's command was lost.
func (m *polls) votesIn(p *poll) (votes []vote, sure bool) {
	for who := range p.votes {
		possible := m.possible[ballot{p.rec.Id, p.rec.Round, who}]
		if len(possible) != 1 {
			return nil, false
		}
		votes = append(votes, possible[0])
	}
	return votes, true
}

// tally is the count of votes.
type tally struct {
	counts []int32
	words  map[string]int // by normalized form
	texts  []string       // sorted
}

func tallied(p *pb.Poll, votes []vote) tally {
	t := tally{words: map[string]int{}}
	switch p.Kind {
	case pb.PollKind_POLL_KIND_CHOICE, pb.PollKind_POLL_KIND_SEVERAL:
		t.counts = make([]int32, len(p.Options))
	case pb.PollKind_POLL_KIND_SCALE:
		t.counts = make([]int32, 5)
	}
	for _, v := range votes {
		for _, i := range v.options {
			t.counts[i]++
		}
		once := map[string]bool{}
		for _, w := range v.words {
			once[word(w)] = true
		}
		for w := range once {
			t.words[w]++
		}
		if v.text != "" {
			t.texts = append(t.texts, v.text)
		}
	}
	slices.Sort(t.texts)
	return t
}

func (t tally) String() string {
	return fmt.Sprint(t.counts, slices.Sorted(maps.Keys(t.words)), slices.Sorted(maps.Values(t.words)))
}

// tallyOf returns the result in a record, in the form of tally.String.
func tallyOf(p *pb.Poll) string {
	t := tally{counts: p.Counts, words: map[string]int{}}
	for _, w := range p.Words {
		t.words[word(w.Word)] += int(w.Votes)
	}
	return t.String()
}

// mixed verifies that a simulated attendee votes in an anonymous poll only if there are no real
// attendees.
func (m *polls) mixed(p *poll, who string) error {
	if voter := m.room.find(who); p.rec.Anonymous && voter != nil && voter.simulated && m.room.real() {
		return fmt.Errorf("the simulated attendee %s voted in anonymous poll %s together with real ones", who, p.rec.Id)
	}
	return nil
}

func (m *polls) voted(at int64, b *pb.PollVoted) error {
	p := m.find(b.PollId)
	switch {
	case p == nil || p.rec.State != pb.PollState_POLL_STATE_OPEN:
		return fmt.Errorf("%s voted in poll %s, which is not open", b.AttendeeId, b.PollId)
	case p.rec.EndsAt != 0 && at >= p.rec.EndsAt:
		return fmt.Errorf("%s voted in poll %s after its end", b.AttendeeId, b.PollId)
	case m.room.find(b.AttendeeId) == nil || m.room.ended:
		return fmt.Errorf("%s voted, but is not registered, or the workshop has ended", b.AttendeeId)
	case p.rec.Anonymous != (len(b.Ballot) > 0):
		return fmt.Errorf("a vote in poll %s is sealed although the poll is named, or unsealed although it is anonymous", b.PollId)
	}
	if err := m.mixed(p, b.AttendeeId); err != nil {
		return err
	}
	if p.rec.Anonymous {
		_, twice := p.votes[b.AttendeeId]
		if twice || b.Marks != 0 || len(b.Words) > 0 || b.Text != "" {
			return fmt.Errorf("%s voted in anonymous poll %s twice, or unsealed", b.AttendeeId, b.PollId)
		}
		p.votes[b.AttendeeId] = vote{}
		return nil
	}
	v := vote{words: b.Words, text: b.Text}
	for i := 0; b.Marks>>i != 0 && len(b.Words) == 0 && b.Text == ""; i++ {
		if b.Marks&(1<<i) != 0 {
			v.options = append(v.options, i)
		}
	}
	p.votes[b.AttendeeId] = v
	return nil
}

// shown verifies that attendees see the open poll and the shown polls. They see counts only while
// the counts are shown, and right options once the poll is closed and shown. They never see the
// secret, the texts, or the counts of an open anonymous poll.
func (m *polls) shown(b *pb.PollShown) error {
	p := m.find(b.PollId)
	if p == nil {
		return fmt.Errorf("attendees see poll %s, which does not exist", b.PollId)
	}
	closed := p.rec.State == pb.PollState_POLL_STATE_CLOSED
	sees := p.rec.State == pb.PollState_POLL_STATE_OPEN || closed && p.rec.Shown
	if sees != (b.Poll != nil) {
		return fmt.Errorf("attendees see poll %s: %t; it is %v, shown: %t", b.PollId, b.Poll != nil, p.rec.State, p.rec.Shown)
	}
	if !sees {
		return nil
	}
	switch got := b.Poll; {
	case got.Secret != "" || len(got.Keepers) > 0 || len(got.Texts) > 0:
		return fmt.Errorf("attendees see the secret or the texts of poll %s", b.PollId)
	case !p.rec.Shown && (len(got.Counts) > 0 || len(got.Words) > 0):
		return fmt.Errorf("attendees see the counts of poll %s, which are not shown", b.PollId)
	case !(closed && p.rec.Shown) && len(got.Right) > 0:
		return fmt.Errorf("attendees see the right options of poll %s too early", b.PollId)
	case p.rec.Anonymous && !closed && len(got.Counts) > 0:
		return fmt.Errorf("attendees see the counts of anonymous poll %s, which is open", b.PollId)
	}
	return nil
}

func (m *polls) view(v *codelab.View) error {
	if len(v.Polls) != len(m.all) {
		return differs("the number of polls", len(v.Polls), len(m.all))
	}
	for i, p := range m.all {
		got := v.Polls[i]
		what := "poll " + p.rec.Id
		if err := differs(what, fmt.Sprint(got.Id, got.State, got.Round, got.Question, got.Shown, got.Anonymous, got.EndsAt, got.StepId),
			fmt.Sprint(p.rec.Id, p.rec.State, p.rec.Round, p.rec.Question, p.rec.Shown, p.rec.Anonymous, p.rec.EndsAt, p.rec.StepId)); err != nil {
			return err
		}
		if p.rec.Anonymous {
			if err := p.sealed(v, got); err != nil {
				return err
			}
			continue
		}
		want := tallied(p.rec, slices.Collect(maps.Values(p.votes)))
		if err := differs("the result of "+what, fmt.Sprint(got.Votes, " ", tallyOf(got.Poll)), fmt.Sprint(len(p.votes), " ", want)); err != nil {
			return err
		}
		shown := map[string]vote{}
		v.EachVote(got, func(a *pb.Attendee, marks uint16, x *pb.PollSaid) {
			out := vote{words: x.GetWords(), text: x.GetText()}
			for i := range 16 {
				if marks&(1<<i) != 0 && x == nil {
					out.options = append(out.options, i)
				}
			}
			shown[a.Id] = out
		})
		if err := differs("the votes in "+what, shown, p.votes); err != nil {
			return err
		}
	}
	return nil
}

// sealed verifies an anonymous poll. While it is open nobody sees counts, and after it has closed
// the counts do not change.
func (p *poll) sealed(v *codelab.View, got *codelab.PollView) error {
	if p.kept != nil {
		return differs("the result of anonymous poll "+p.rec.Id, result(got.Poll), result(p.kept))
	}
	if len(got.Counts)+len(got.Words)+len(got.Texts) > 0 {
		return fmt.Errorf("anonymous poll %s shows %s, although it is %v", p.rec.Id, result(got.Poll), p.rec.State)
	}
	return differs("the number of votes in anonymous poll "+p.rec.Id, got.Votes, len(p.votes))
}
