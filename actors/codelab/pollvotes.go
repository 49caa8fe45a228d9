package codelab

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/durable"
)

// Bounds of votes; texts in code points, except for maxPollTexts.
const (
	maxVoteWords    = 3
	maxVoteWord     = 60
	maxVoteText     = 1000
	maxPollTexts    = 4 << 20 // bytes of a poll's texts
	maxPollKeys     = 20_000  // different words of a poll
	shownPollWords  = 100
	shownPollWordsB = 8 << 10 // bytes
)

var errPollFull = &durable.Rejection{Reason: durable.Conflict, Text: "full: this poll accepts no more texts or new words"}

// poll is a poll with its votes. The codelab's actor owns it.
type poll struct {
	rec *pb.Poll // replaced, never modified
	// told is rec as of its last change, with the result at that time. If it is nil, capture
	// rebuilds it with the current result.
	told *pb.Poll `snapshot:"rebuilt with the current result"`

	// marks and said are parallel to State.attendees, but can be shorter. An attendee who has not
	// voted has mark 0.
	marks cow.Vector[uint16]       `snapshot:"trailing zeros: the last may be missing"`
	said  cow.Vector[*pb.PollSaid] `snapshot:"trailing zeros: the last may be missing"`
	// ballots contains the ballots of an anonymous poll that is open or being counted. It is
	// append-only.
	ballots [][]byte `snapshot:"any order: the order of the votes would reveal who gave which answer"`
	hidden  hidden

	// The following fields are derived from those above.
	counts []int32
	voted  int
	tally  tally
	texts  int // bytes

	view *PollView `snapshot:"captured again"` // nil after a change, until the next capture
}

// PollView is a poll with its votes. Immutable.
type PollView struct {
	*pb.Poll
	// Told is the poll as of its last change, with the result at that time.
	Told    *pb.Poll               `snapshot:"rebuilt with the current result"`
	marks   cow.View[uint16]       `snapshot:"trailing zeros: the last may be missing"`
	said    cow.View[*pb.PollSaid] `snapshot:"trailing zeros: the last may be missing"`
	ballots [][]byte               `snapshot:"any order: the order of the votes would reveal who gave which answer"`
}

// keep sets the poll's record. Only closed anonymous polls keep their result in it.
func (p *poll) keep(rec *pb.Poll) {
	p.told = rec
	if !rec.Anonymous || rec.State != pollClosed {
		rec = rec.Clone()
		forgetResult(rec)
	}
	p.rec, p.view = rec, nil
	if n := optionCount(rec); len(p.counts) != n {
		p.counts = make([]int32, n)
	}
}

// votes counts the people who have voted in this round.
func (p *poll) votes() int {
	if p.rec.Anonymous {
		return max(len(p.ballots), int(p.rec.Votes))
	}
	return p.voted
}

// resultOf returns a record with the current result. It omits the texts and words of a named poll,
// whose authors can be erased later.
func (p *poll) resultOf(rec *pb.Poll) *pb.Poll {
	if rec.Anonymous && rec.State == pollClosed {
		return rec
	}
	rec = rec.Clone()
	rec.Votes = int32(p.votes())
	if !rec.Anonymous && len(p.counts) > 0 {
		rec.Counts = slices.Clone(p.counts)
	}
	return rec
}

func (p *poll) withResult() *pb.Poll { return p.resultOf(p.rec) }

// capture returns the poll for readers.
func (p *poll) capture() *PollView {
	if p.view == nil {
		rec := p.withResult()
		if p.rec.Kind == pollWords && !p.rec.Anonymous {
			rec.Words = p.tally.best()
		}
		if p.told == nil {
			p.told = p.withResult()
		}
		p.view = &PollView{rec, p.told, p.marks.Capture(), p.said.Capture(), p.ballots[:len(p.ballots):len(p.ballots)]}
	}
	return p.view
}

// Vote is an attendee's vote in a poll. It replaces an earlier vote. In an anonymous poll, a second
// vote is rejected.
type Vote struct {
	PollID string
	Round  int32
	// Exactly one of these fields is set, depending on the poll's kind.
	Choice []int32
	Scale  *int32
	Words  []string
	Text   *string
}

func (b Vote) decide(c call) (decision, error) {
	p, err := c.pollToVote(b.PollID)
	if err != nil {
		return decision{}, err
	}
	if b.Round != p.rec.Round {
		return decision{}, durable.Reject(durable.Conflict, "this poll is now in round %d: read it again", p.rec.Round)
	}
	e := &pb.PollVoted{PollId: p.rec.Id, AttendeeId: c.ID}
	if err := b.mark(p.rec, e); err != nil {
		return decision{}, err
	}
	at := c.s.byAttendee[c.ID]
	if err := c.mayRehearse(p); err != nil {
		return decision{}, err
	}
	if p.rec.Anonymous {
		if p.mark(at) != 0 {
			return decision{}, durable.Reject(durable.Conflict, "an anonymous vote cannot be changed")
		}
		if e, err = c.s.seal(p, e); err != nil {
			return decision{}, err
		}
	} else {
		if p.same(at, e) {
			return decision{}, nil
		}
		if p.overflows(at, e) {
			return decision{}, errPollFull
		}
	}
	return decided(nil, &pb.Event{Body: &pb.Event_PollVoted{PollVoted: e}}), nil
}

// pollToVote returns a poll, if the caller is an attendee and the poll is open.
func (c call) pollToVote(id string) (*poll, error) {
	if c.Role != RoleAttendee {
		return nil, durable.Reject(durable.Forbidden, "only attendees can vote")
	}
	if err := c.live(); err != nil {
		return nil, err
	}
	p, err := c.poll(id)
	switch {
	case err != nil:
		return nil, err
	case p.rec.State == pollDraft:
		return nil, ErrNoPoll
	case p.rec.State != pollOpen || p.over(c.now):
		return nil, durable.Reject(durable.Conflict, "this poll is closed")
	}
	return p, nil
}

// mark checks a vote and stores it in the event e.
func (b Vote) mark(p *pb.Poll, e *pb.PollVoted) (err error) {
	given := 0
	for _, is := range []bool{b.Choice != nil, b.Scale != nil, b.Words != nil, b.Text != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return durable.Reject(durable.Invalid, "a vote is one of choice, scale, words and text")
	}
	e.Marks = 1
	switch p.Kind {
	case pollChoice, pollSeveral:
		if len(b.Choice) == 0 || p.Kind == pollChoice && len(b.Choice) > 1 || len(b.Choice) > len(p.Options) {
			return durable.Reject(durable.Invalid, "choice: %s", map[bool]string{true: "one index of an option is needed", false: "indexes of options are needed"}[p.Kind == pollChoice])
		}
		e.Marks = 0
		for _, i := range b.Choice {
			if i < 0 || int(i) >= len(p.Options) {
				return durable.Reject(durable.Invalid, "choice: an index must be 0 to %d", len(p.Options)-1)
			}
			e.Marks |= 1 << i
		}
	case pollScale:
		if b.Scale == nil || *b.Scale < 1 || *b.Scale > scaleSteps {
			return durable.Reject(durable.Invalid, "scale must be 1 to %d", scaleSteps)
		}
		e.Marks = 1 << (*b.Scale - 1)
	case pollWords:
		return b.markWords(e)
	case pollText:
		if b.Text == nil {
			return durable.Reject(durable.Invalid, "text is required")
		}
		e.Text = *b.Text
		return text("text", e.Text, 1, maxVoteText)
	}
	return nil
}

// markWords stores the words without duplicates.
func (b Vote) markWords(e *pb.PollVoted) error {
	if len(b.Words) == 0 || len(b.Words) > maxVoteWords {
		return durable.Reject(durable.Invalid, "words: 1 to %d are needed", maxVoteWords)
	}
	var keys []string
	for _, w := range b.Words {
		w, err := PersonName("words", w, 1, maxVoteWord)
		if err != nil {
			return err
		}
		if key := wordKey(w); !slices.Contains(keys, key) {
			keys, e.Words = append(keys, key), append(e.Words, w)
		}
	}
	return nil
}

// Unvote withdraws a vote.
type Unvote struct {
	PollID string
}

func (b Unvote) decide(c call) (decision, error) {
	p, err := c.pollToVote(b.PollID)
	switch {
	case err != nil:
		return decision{}, err
	case p.rec.Anonymous:
		return decision{}, durable.Reject(durable.Conflict, "an anonymous vote cannot be taken back")
	case p.mark(c.s.byAttendee[c.ID]) == 0:
		return decision{}, nil
	}
	return decided(nil, &pb.Event{Body: &pb.Event_PollUnvoted{PollUnvoted: &pb.PollUnvoted{PollId: p.rec.Id, AttendeeId: c.ID}}}), nil
}

func (p *poll) mark(at int) uint16 {
	if at < p.marks.Len() {
		return p.marks.At(at)
	}
	return 0
}

// enteredBy returns the words or the text of the attendee at an index, or nil if there are none.
func (p *poll) enteredBy(at int) *pb.PollSaid {
	if at < p.said.Len() {
		return p.said.At(at)
	}
	return nil
}

// same reports whether an attendee has already cast this vote.
func (p *poll) same(at int, e *pb.PollVoted) bool {
	if p.mark(at) != uint16(e.Marks) {
		return false
	}
	was := p.enteredBy(at)
	return slices.Equal(was.GetWords(), e.Words) && was.GetText() == e.Text
}

// overflows reports whether a poll would exceed its bounds after this vote has replaced the
// attendee's earlier vote.
func (p *poll) overflows(at int, e *pb.PollVoted) bool {
	if p.texts-len(p.enteredBy(at).GetText())+len(e.Text) > maxPollTexts {
		return true
	}
	return p.tally.newKeys(e.Words) > maxPollKeys-len(p.tally.words)
}

func (s *State) applyPollVoted(seq uint64, b *pb.PollVoted) {
	p := s.poll(b.PollId)
	if p == nil {
		return
	}
	at, known := s.byAttendee[b.AttendeeId]
	if known && s.attendees.At(at).Simulated && !p.rec.Rehearsed {
		p.rec = p.rec.Clone()
		p.rec.Rehearsed, p.told = true, nil
		s.changed.Codelab = seq // the part Codelab includes the open poll
	}
	switch {
	case len(b.Ballot) > 0:
		p.ballots = append(p.ballots, b.Ballot)
		s.addToBounds(p, b.Ballot)
		if known {
			fit(&p.marks, at, 1)
		}
	case known:
		p.unvote(at)
		p.vote(at, uint16(b.Marks), b.Words, b.Text)
	}
	p.view, s.changed.Polls = nil, seq
}

func (s *State) applyPollUnvoted(seq uint64, b *pb.PollUnvoted) {
	p := s.poll(b.PollId)
	if at, known := s.byAttendee[b.AttendeeId]; p != nil && known {
		p.unvote(at)
		p.view, s.changed.Polls = nil, seq
	}
}

func (p *poll) vote(at int, mark uint16, words []string, text string) {
	fit(&p.marks, at, mark)
	if len(words) > 0 || text != "" {
		fit(&p.said, at, &pb.PollSaid{Words: words, Text: text})
	}
	p.count(mark, p.enteredBy(at), +1)
}

func (p *poll) unvote(at int) {
	if mark := p.mark(at); mark != 0 {
		p.count(mark, p.enteredBy(at), -1)
		p.marks.Set(at, 0)
		if at < p.said.Len() {
			p.said.Set(at, nil)
		}
	}
}

// count adds a vote to the results, or removes it.
func (p *poll) count(mark uint16, entered *pb.PollSaid, by int) {
	if mark == 0 {
		return
	}
	p.voted += by
	for i := range p.counts {
		if mark&(1<<i) != 0 {
			p.counts[i] += int32(by)
		}
	}
	p.texts += by * len(entered.GetText())
	for _, w := range entered.GetWords() {
		p.tally.add(w, by)
	}
}

// fit sets an element of a list, and extends the list if it is too short.
func fit[T any](v *cow.Vector[T], at int, x T) {
	var none T
	for v.Len() <= at {
		v.Append(none)
	}
	v.Set(at, x)
}

// drop removes the element at an index, if the list contains this index.
func drop[T any](v *cow.Vector[T], at int) {
	if at >= v.Len() {
		return
	}
	i := -1
	v.Filter(func(T) bool { i++; return i != at })
}

// forgetVoter removes the attendee at an index from the polls. Anonymous ballots stay.
func (s *State) forgetVoter(seq uint64, at int) {
	for _, p := range s.polls {
		if at >= p.marks.Len() {
			continue
		}
		if !p.rec.Anonymous {
			p.unvote(at)
		}
		drop(&p.marks, at)
		drop(&p.said, at)
		// The indexes of all later attendees change.
		p.view, p.told, s.changed.Polls = nil, nil, seq
		if p.rec.State == pollOpen {
			s.changed.Codelab = seq // the part Codelab includes the open poll
		}
	}
}

// pollViews returns the polls for readers. If no poll has changed, it returns the same slice as
// before.
func (s *State) pollViews() []*PollView {
	if s.pollsAt != s.changed.Polls || len(s.pollsShown) != len(s.polls) {
		s.pollsShown, s.pollsAt = make([]*PollView, len(s.polls)), s.changed.Polls
		for i, p := range s.polls {
			s.pollsShown[i] = p.capture()
		}
	}
	return s.pollsShown
}

// encodePolls returns the polls for a snapshot.
func encodePolls(polls []*PollView) (out []*pb.PollVotes) {
	for _, p := range polls {
		v := &pb.PollVotes{Poll: p.Poll.Clone(), Ballots: slices.Clone(p.ballots)}
		if !p.Anonymous || p.State != pollClosed {
			forgetResult(v.Poll)
		}
		// The order of the votes would reveal their authors.
		slices.SortFunc(v.Ballots, slices.Compare)
		for i, m := range p.marks.All() {
			v.Marks = append(v.Marks, uint32(m))
			if i < p.said.Len() && p.said.At(i) != nil {
				v.Said = append(v.Said, p.said.At(i))
			}
		}
		for n := len(v.Marks); n > 0 && v.Marks[n-1] == 0; n-- {
			v.Marks = v.Marks[:n-1]
		}
		out = append(out, v)
	}
	return out
}

// restorePolls restores the polls of a snapshot.
func (s *State) restorePolls(polls []*pb.PollVotes) {
	for _, v := range polls {
		p := &poll{ballots: v.Ballots}
		p.keep(v.Poll)
		p.told = nil
		entered := v.Said
		for i, m := range v.Marks {
			var x *pb.PollSaid
			if m != 0 && !v.Poll.Anonymous && optionCount(v.Poll) == 0 && len(entered) > 0 {
				x, entered = entered[0], entered[1:]
				fit(&p.said, i, x)
			}
			fit(&p.marks, i, uint16(m))
			if !v.Poll.Anonymous {
				p.count(uint16(m), x, +1)
			}
		}
		for _, b := range p.ballots {
			s.addToBounds(p, b)
		}
		s.polls = append(s.polls, p)
		s.seen(v.Poll.Id)
	}
}

// Poll returns a poll, or nil.
func (v *View) Poll(id string) *PollView {
	for _, p := range v.Polls {
		if p.Id == id {
			return p
		}
	}
	return nil
}

// OpenPoll returns the open poll, or nil.
func (v *View) OpenPoll() *PollView {
	for _, p := range v.Polls {
		if p.State == pollOpen {
			return p
		}
	}
	return nil
}

// PollsInOrder returns the polls, most recently opened first, drafts last.
func (v *View) PollsInOrder() []*PollView {
	out := slices.Clone(v.Polls)
	slices.SortStableFunc(out, func(a, b *PollView) int { return cmp.Compare(b.OpenedAt, a.OpenedAt) })
	return out
}

// place returns the index of an attendee in the lists that are parallel to Attendees, or -1 if the
// attendee does not exist.
func (v *View) place(attendee string) int {
	if i, ok := search(v.Attendees.Len(), v.Attendees.At, attendee, (*pb.Attendee).GetId); ok {
		return i
	}
	return -1
}

// Voted returns an attendee's vote: the marks, and the words or the text unless the poll is
// anonymous. marks and entered are zero if there is no vote.
func (v *View) Voted(p *PollView, attendee string) (marks uint16, entered *pb.PollSaid) {
	return p.at(v.place(attendee))
}

func (p *PollView) at(i int) (marks uint16, entered *pb.PollSaid) {
	if i < 0 || i >= p.marks.Len() {
		return 0, nil
	}
	if i < p.said.Len() {
		entered = p.said.At(i)
	}
	return p.marks.At(i), entered
}

// PollText is a text cast as a vote.
type PollText struct {
	// ID is the attendee's id. In an anonymous poll it is the number of the text, from 1.
	ID, Text string
}

// PollTexts yields the texts of a poll.
func (v *View) PollTexts(p *PollView) iter.Seq[PollText] {
	return func(yield func(PollText) bool) {
		for i, text := range p.Texts {
			if !yield(PollText{strconv.Itoa(i + 1), text}) {
				return
			}
		}
		for i, a := range v.Attendees.All() {
			if _, entered := p.at(i); entered.GetText() != "" && !yield(PollText{a.Id, entered.Text}) {
				return
			}
		}
	}
}

// EachVote calls vote for each attendee who has voted in a poll, in the order of View.Attendees.
func (v *View) EachVote(p *PollView, vote func(a *pb.Attendee, marks uint16, entered *pb.PollSaid)) {
	for i, a := range v.Attendees.All() {
		if marks, entered := p.at(i); marks != 0 {
			vote(a, marks, entered)
		}
	}
}
