package codelab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Polls (transport/rest/RULES.md, "Polls"): questions to the audience. This file contains the
// facilitators' commands; pollvotes.go contains the votes, and ballots.go the anonymous ballots.

// Bounds of polls; the lengths of texts are in code points.
const (
	maxPolls        = 100
	maxPollQuestion = 500
	maxPollOptions  = 10
	maxPollOption   = 200
	maxPollBoxes    = 4
	maxPollLines    = 32 << 10 // bytes; larger than the longest valid question with all options
	minPollSeconds  = 5
	maxPollSeconds  = 14_400
)

const (
	pollDraft  = pb.PollState_POLL_STATE_DRAFT
	pollOpen   = pb.PollState_POLL_STATE_OPEN
	pollClosed = pb.PollState_POLL_STATE_CLOSED

	pollChoice  = pb.PollKind_POLL_KIND_CHOICE
	pollSeveral = pb.PollKind_POLL_KIND_SEVERAL
	pollScale   = pb.PollKind_POLL_KIND_SCALE
	pollWords   = pb.PollKind_POLL_KIND_WORDS
	pollText    = pb.PollKind_POLL_KIND_TEXT
)

// PollKinds and PollStates list the names of kinds and states, ordered by number. Askings lists the
// names of the settings for questions.
var (
	PollKinds  = []string{"choice", "several", "scale", "words", "text"}
	PollStates = []string{"draft", "open", "closed"}
	Askings    = []string{"off", "open", "checked"}
)

// PollKind returns the kind with a name, or POLL_KIND_NONE if the name is unknown.
func PollKind(name string) pb.PollKind { return pb.PollKind(slices.Index(PollKinds, name) + 1) }

// scaleSteps is the highest value on a scale; the lowest is 1.
const scaleSteps = 5

// CreatePoll creates a draft. The reply is the draft's record.
type CreatePoll struct {
	// Poll contains the kind, question, options, anonymity, step and right options.
	Poll *pb.Poll
}

func (b CreatePoll) decide(c call) (decision, error) {
	if err := c.leadsPolls(); err != nil {
		return decision{}, err
	}
	if b.Poll == nil {
		return decision{}, durable.Reject(durable.Invalid, "a poll is required")
	}
	if len(c.s.polls) >= maxPolls {
		return decision{}, durable.Reject(durable.Conflict, "a codelab has at most %d polls", maxPolls)
	}
	p, err := c.newPoll(b.Poll)
	if err == nil {
		err = c.pollStep(p)
	}
	if err != nil {
		return decision{}, err
	}
	d := decided(p, &pb.Event{Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: p}}})
	d.Rows = c.audit("poll_create", p.Id, nil)
	return d, nil
}

// newPoll checks a draft and assigns its id.
func (c call) newPoll(in *pb.Poll) (*pb.Poll, error) {
	p := &pb.Poll{
		Id: c.id(), Kind: in.Kind, Question: in.Question, Options: slices.Clone(in.Options), Anonymous: in.Anonymous,
		StepId: in.StepId, Right: slices.Clone(in.Right), Round: 1, CreatedAt: c.now.UnixMilli(),
	}
	return p, CheckPoll(p)
}

// newPolls returns drafts for imported polls. A poll's StepId refers to a step in given, or is
// dropped. made contains the same steps with their new ids, in the same order.
func (c call) newPolls(in []*pb.Poll, given, made []*pb.Step) ([]*pb.Poll, error) {
	if len(in) > maxPolls {
		return nil, durable.Reject(durable.Invalid, "a codelab has at most %d polls", maxPolls)
	}
	var out []*pb.Poll
	for i, p := range in {
		p, err := c.newPoll(p)
		if err != nil {
			return nil, fmt.Errorf("polls[%d]: %w", i, err)
		}
		at := slices.IndexFunc(given, func(st *pb.Step) bool { return p.StepId != "" && st.Id == p.StepId })
		if p.StepId = ""; at >= 0 {
			p.StepId = made[at].Id
		}
		out = append(out, p)
	}
	return out, nil
}

func (c call) leadsPolls() error {
	if !c.admin() {
		return durable.Reject(durable.Forbidden, "only facilitators can create and change polls")
	}
	return nil
}

func (c call) pollStep(p *pb.Poll) error {
	if p.StepId != "" && !hasStep(c.s.steps, p.StepId) {
		return durable.Reject(durable.Invalid, "step_id must be the id of a step of this codelab")
	}
	return nil
}

// CheckPoll normalizes and checks an author's poll. An import omits polls that CheckPoll rejects.
func CheckPoll(p *pb.Poll) (err error) {
	if p.Question, err = line("question", p.Question, 1, maxPollQuestion); err != nil {
		return err
	}
	switch p.Kind {
	case pollChoice, pollSeveral:
		if len(p.Options) < 2 || len(p.Options) > maxPollOptions {
			return durable.Reject(durable.Invalid, "options: 2 to %d are needed", maxPollOptions)
		}
	case pollScale:
		if len(p.Options) == 0 {
			p.Options = []string{"", ""}
		}
		if len(p.Options) != 2 {
			return durable.Reject(durable.Invalid, "options: a scale has two labels, for its lowest and its highest value")
		}
	case pollWords:
		if len(p.Options) > 0 {
			return durable.Reject(durable.Invalid, "options: a poll for words has no options")
		}
	case pollText:
		if n := len(p.Options); n == 1 || n > maxPollBoxes {
			return durable.Reject(durable.Invalid, "options: a poll for texts has no options, or the labels of 2 to %d boxes", maxPollBoxes)
		}
	default:
		return durable.Reject(durable.Invalid, "kind must be choice, several, scale, words or text")
	}
	least := 1
	if p.Kind == pollScale {
		least = 0
	}
	for i := range p.Options {
		if p.Options[i], err = line(fmt.Sprintf("options[%d]", i), p.Options[i], least, maxPollOption); err != nil {
			return err
		}
	}
	slices.Sort(p.Right)
	p.Right = slices.Compact(p.Right)
	switch {
	case len(p.Right) == 0:
		p.Right = nil
	case p.Kind != pollChoice && p.Kind != pollSeveral:
		return durable.Reject(durable.Invalid, "right: only a choice has right options")
	case p.Right[0] < 0 || int(p.Right[len(p.Right)-1]) >= len(p.Options):
		return durable.Reject(durable.Invalid, "right must be indexes of options")
	}
	return nil
}

// UpdatePoll changes a poll; nil fields keep their value. After the first vote, only the question,
// the step and the right options can change. Only a draft can change whether it is anonymous.
type UpdatePoll struct {
	PollID    string
	Kind      *pb.PollKind
	Question  *string
	Options   *[]string
	Anonymous *bool
	// StepID replaces the step; "" removes it.
	StepID *string
	Right  *[]int32
}

func (b UpdatePoll) decide(c call) (decision, error) {
	p, err := c.pollToLead(b.PollID)
	if err != nil {
		return decision{}, err
	}
	was, out := p.rec, p.rec.Clone()
	changed := map[string]string{}
	set(changed, "kind", &out.Kind, b.Kind)
	set(changed, "question", &out.Question, b.Question)
	set(changed, "anonymous", &out.Anonymous, b.Anonymous)
	set(changed, "step_id", &out.StepId, b.StepID)
	if b.Options != nil {
		out.Options = slices.Clone(*b.Options)
	}
	if b.Right != nil {
		out.Right = slices.Clone(*b.Right)
	}
	if err := CheckPoll(out); err != nil {
		return decision{}, err
	}
	if err := c.pollStep(out); err != nil {
		return decision{}, err
	}
	switch {
	case out.Anonymous != was.Anonymous && was.State != pollDraft:
		return decision{}, durable.Reject(durable.Conflict, "voters rely on whether this poll is anonymous: reset it first")
	case p.votes() > 0 && (out.Kind != was.Kind || !slices.Equal(out.Options, was.Options)):
		return decision{}, durable.Reject(durable.Conflict, "somebody has voted: kind and options stay until the poll is reset")
	}
	return c.pollChanged(p, out, "poll_update"), nil
}

// OpenPoll lets attendees vote, and closes the previously open poll. A closed named poll that opens
// again keeps its votes. If the poll is already open, OpenPoll sets a new end.
type OpenPoll struct {
	PollID string
	// Seconds is the time until the poll closes. nil means that the poll stays open until somebody
	// closes it.
	Seconds *int32
	// Secret is the id of the secret for the ballots of an anonymous poll. Keepers are the
	// nodes that store the secret; see BallotKeys.
	Secret  string
	Keepers []string
}

func (b OpenPoll) decide(c call) (decision, error) {
	p, err := c.pollToLead(b.PollID)
	if err != nil {
		return decision{}, err
	}
	if c.s.meta.EndedAt != 0 {
		return decision{}, durable.Reject(durable.Conflict, "the workshop has ended")
	}
	if b.Seconds != nil && (*b.Seconds < minPollSeconds || *b.Seconds > maxPollSeconds) {
		return decision{}, durable.Reject(durable.Invalid, "seconds must be %d to %d", minPollSeconds, maxPollSeconds)
	}
	out := p.rec.Clone()
	if out.State != pollOpen {
		out.OpenedAt = c.now.UnixMilli()
	}
	if out.Anonymous && out.State != pollOpen {
		switch {
		case out.State == pollClosed:
			return decision{}, durable.Reject(durable.Conflict, "a closed anonymous poll is not opened again: reset it first")
		case b.Secret == "":
			return decision{}, durable.Reject(durable.Conflict, "somebody has made this poll anonymous just now: open it again")
		case c.s.rules.ballotKey(b.Secret) == nil:
			return decision{}, durable.ErrUnavailable
		}
		out.Secret, out.Keepers = b.Secret, b.Keepers
	}
	out.State, out.EndsAt = pollOpen, 0
	if b.Seconds != nil {
		out.EndsAt = c.now.Add(time.Duration(*b.Seconds) * time.Second).UnixMilli()
	}
	d := decision{}
	if other := c.s.openPoll(); other != nil && other != p {
		d = c.closePoll(other)
	}
	opened := c.pollChanged(p, out, "poll_open")
	d.Events, d.Rows, d.Reply = append(d.Events, opened.Events...), append(d.Rows, opened.Rows...), opened.Reply
	return d, nil
}

// ClosePoll ends the voting.
type ClosePoll struct {
	PollID string
}

func (b ClosePoll) decide(c call) (decision, error) {
	p, err := c.pollToLead(b.PollID)
	switch {
	case err != nil:
		return decision{}, err
	case p.rec.State == pollClosed:
		return decided(p.withResult()), nil
	case p.rec.State != pollOpen:
		return decision{}, durable.Reject(durable.Conflict, "this poll is not open")
	}
	return c.closePoll(p), nil
}

// CloseDuePoll closes the open poll if its time has passed or its secret is lost. It also counts
// closed polls that could not be counted earlier.
type CloseDuePoll struct{}

func (CloseDuePoll) decide(c call) (decision, error) {
	d := decision{}
	for _, p := range c.s.polls {
		switch {
		case p.rec.State == pollOpen && (p.over(c.now) || c.s.rules.secretLost(p.rec)):
			closed := c.closePoll(p)
			d.Events, d.Rows, d.Reply = append(d.Events, closed.Events...), append(d.Rows, closed.Rows...), closed.Reply
		case p.rec.Counting && !c.s.rules.secretAwaited(p.rec):
			out := p.rec.Clone()
			c.s.countBallots(p, out)
			d.Events = append(d.Events, c.pollChanged(p, out, "").Events...)
		}
	}
	return d, nil
}

// over reports whether the time of an open poll has passed.
func (p *poll) over(now time.Time) bool { return p.rec.EndsAt != 0 && now.UnixMilli() >= p.rec.EndsAt }

// closePoll returns the decision that closes an open poll. For an anonymous poll, the decision
// includes the result and removes the ballots. If another node may still have the secret that this
// node lacks, both are postponed.
func (c call) closePoll(p *poll) decision {
	out := p.rec.Clone()
	out.State, out.EndsAt = pollClosed, 0
	switch {
	case !p.rec.Anonymous:
	case c.s.rules.secretAwaited(p.rec):
		out.Votes, out.Counting = int32(len(p.ballots)), true
	default:
		c.s.countBallots(p, out)
	}
	return c.pollChanged(p, out, "poll_close")
}

// ShowPoll shows the result of a poll to everybody, or hides it.
type ShowPoll struct {
	PollID string
	Shown  bool
}

func (b ShowPoll) decide(c call) (decision, error) {
	p, err := c.pollToLead(b.PollID)
	switch {
	case err != nil:
		return decision{}, err
	case p.rec.State == pollDraft:
		return decision{}, durable.Reject(durable.Conflict, "this poll has not been opened yet")
	case p.rec.Counting:
		return decision{}, durable.Reject(durable.Conflict, "this poll is still being counted: the nodes with its secret are unreachable")
	case p.rec.Shown == b.Shown:
		return decided(p.withResult()), nil
	}
	out := p.rec.Clone()
	out.Shown = b.Shown
	return c.pollChanged(p, out, "poll_show"), nil
}

// ResetPoll makes a poll a draft again, without votes, for another round.
type ResetPoll struct {
	PollID string
}

func (b ResetPoll) decide(c call) (decision, error) {
	p, err := c.pollToLead(b.PollID)
	switch {
	case err != nil:
		return decision{}, err
	case p.rec.State == pollDraft:
		return decided(p.rec), nil
	}
	return c.pollReset(p, "poll_reset"), nil
}

func (c call) pollReset(p *poll, action string) decision {
	out := p.rec.Clone()
	out.State, out.Shown, out.Round, out.OpenedAt, out.EndsAt, out.Rehearsed = pollDraft, false, out.Round+1, 0, 0, false
	forgetSecret(out)
	forgetResult(out)
	return c.pollChanged(p, out, action)
}

// DeletePoll removes a poll with its votes.
type DeletePoll struct {
	PollID string
}

func (b DeletePoll) decide(c call) (decision, error) {
	p, err := c.pollToLead(b.PollID)
	if err != nil {
		return decision{}, err
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_PollDeleted{PollDeleted: &pb.PollDeleted{PollId: p.rec.Id, BallotsGone: p.rec.Secret != ""}}})
	d.Events = append(d.Events, c.unspotlight("poll", p.rec.Id)...)
	d.Rows = c.audit("poll_delete", p.rec.Id, nil)
	return d, nil
}

// pollToLead returns a poll, if the caller is a facilitator.
func (c call) pollToLead(id string) (*poll, error) {
	if err := c.leadsPolls(); err != nil {
		return nil, err
	}
	return c.poll(id)
}

// ErrNoPoll is the rejection of an unknown poll id, and of a vote in a draft, which attendees do
// not see.
var ErrNoPoll error = &durable.Rejection{Reason: durable.Missing, Text: "poll not found"}

func (c call) poll(id string) (*poll, error) {
	if p := c.s.poll(id); p != nil {
		return p, nil
	}
	return nil, ErrNoPoll
}

// pollChanged returns the decision that changes a poll. Its events also show attendees the parts
// that they are allowed to see.
func (c call) pollChanged(p *poll, out *pb.Poll, action string) decision {
	again := out.Round != p.rec.Round
	gone := p.rec.Secret != "" && out.Secret != p.rec.Secret || again && p.votes() > 0
	visible := out
	if !again {
		visible = p.resultOf(out)
	}
	if p.keepsTexts(out) && len(out.Texts) > 0 {
		visible = visible.Clone()
		visible.Texts = nil
	}
	d := decided(visible, &pb.Event{Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: visible, BallotsGone: gone}}})
	was, now := ForAttendees(p.withResult()), ForAttendees(visible)
	if was != nil || now != nil {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: out.Id, Poll: now}}})
	}
	if action != "" {
		d.Rows = c.audit(action, out.Id, nil)
	}
	return d
}

// keepsTexts reports whether a poll keeps its texts when it changes to out. The event then omits
// them, because texts can take megabytes, and a poll can be shown and hidden often.
func (p *poll) keepsTexts(out *pb.Poll) bool {
	return p.rec.Anonymous && p.rec.State == pollClosed && !p.rec.Counting && out.State == pollClosed && out.Round == p.rec.Round
}

// ForAttendees returns a poll as attendees see it, or nil if attendees do not see the poll. It
// always includes the number of votes, and never the texts, the secret or the secret's keepers.
// It includes counts and words only if the result is shown, and the right options only if the
// poll is also closed.
func ForAttendees(p *pb.Poll) *pb.Poll {
	if p.State == pollDraft || p.State == pollClosed && !p.Shown {
		return nil
	}
	p = p.Clone()
	p.Secret, p.Keepers, p.Texts = "", nil, nil
	if !p.Shown {
		p.Counts, p.Words, p.TooFew = nil, nil, false
	}
	if !p.Shown || p.State != pollClosed {
		p.Right = nil
	}
	return p
}

// forgetSecret removes the secret from the record of a poll whose ballots are removed.
func forgetSecret(p *pb.Poll) { p.Secret, p.Keepers, p.Counting = "", nil, false }

func forgetResult(p *pb.Poll) {
	p.Votes, p.Counts, p.Words, p.Texts, p.TooFew, p.Void = 0, nil, nil, nil, false, false
}

func (s *State) poll(id string) *poll {
	for _, p := range s.polls {
		if p.rec.Id == id {
			return p
		}
	}
	return nil
}

// openPoll returns the open poll, or nil if no poll is open.
func (s *State) openPoll() *poll {
	for _, p := range s.polls {
		if p.rec.State == pollOpen {
			return p
		}
	}
	return nil
}

func (s *State) applyPollChanged(seq uint64, b *pb.PollChanged) {
	rec := b.Poll
	p := s.poll(rec.Id)
	switch {
	case p == nil:
		p = &poll{}
		s.polls = append(slices.Clip(s.polls), p)
		s.seen(rec.Id)
	case p.rec.Round != rec.Round:
		*p = poll{}
	}
	if b.BallotsGone {
		p.ballots, p.hidden = nil, hidden{}
	}
	if p.rec != nil && p.keepsTexts(rec) && len(rec.Texts) == 0 {
		rec = rec.Clone()
		rec.Texts = p.rec.Texts
	}
	p.keep(rec)
	s.changed.Polls, s.changed.Codelab = seq, seq
}

func (s *State) applyPollDeleted(seq uint64, id string) {
	s.polls = slices.DeleteFunc(slices.Clone(s.polls), func(p *poll) bool { return p.rec.Id == id })
	s.changed.Polls, s.changed.Codelab = seq, seq
}

// unstepPolls removes deleted steps from the polls.
func (s *State) unstepPolls(seq uint64) {
	for _, p := range s.polls {
		if p.rec.StepId != "" && !hasStep(s.steps, p.rec.StepId) {
			rec := p.rec.Clone()
			rec.StepId = ""
			p.rec, p.told, p.view = rec, nil, nil
			s.changed.Polls, s.changed.Codelab = seq, seq
		}
	}
}

// PollOfLines parses the lines that a facilitator wrote. The question comes first, in one or more
// lines. Each line that begins with a dash, star or plus and a space is an option. Blank lines,
// and lines that consist only of these marks, are ignored. A poll without options asks for words.
func PollOfLines(text string) (*pb.Poll, error) {
	p := &pb.Poll{}
	if len(text) > maxPollLines {
		return nil, durable.Reject(durable.Invalid, "lines is longer than %d bytes", maxPollLines)
	}
	for _, l := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		l = strings.TrimSpace(l)
		option, is := l, false
		for _, mark := range []string{"- ", "* ", "+ "} {
			if rest, ok := strings.CutPrefix(l, mark); ok {
				option, is = strings.TrimSpace(rest), true
			}
		}
		switch {
		case l == "" || !is && strings.Trim(l, "-*+") == "":
		case is:
			p.Options = append(p.Options, option)
		case len(p.Options) > 0:
			return nil, durable.Reject(durable.Invalid, "lines: the question comes first, then an option in each line that begins with \"- \"")
		case p.Question != "":
			p.Question += " " + l
		default:
			p.Question = l
		}
	}
	p.Kind = pollWords
	if len(p.Options) > 0 {
		p.Kind = pollChoice
	}
	return p, nil
}

// PollOfQuiz returns the draft of a poll that asks a quiz question.
func PollOfQuiz(q *pb.Quiz) *pb.Poll {
	p := &pb.Poll{Kind: pollText, Question: q.Question}
	if q.QuizType == MultipleChoice {
		p.Kind, p.Options, p.Right = pollChoice, slices.Clone(q.Options), slices.Clone(q.Correct)
		if q.Several || len(q.Correct) > 1 {
			p.Kind = pollSeveral
		}
	}
	return p
}
