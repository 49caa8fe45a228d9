package rest

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/naming"
	"atelier/transport/wire"
)

// PollRecord is a poll as sent to clients (RULES.md, "Polls").
type PollRecord struct {
	ID        string   `json:"id" is:"Id"`
	Kind      string   `json:"kind" enum:"choice|several|scale|words|text"`
	Question  string   `json:"question" length:"1..500"`
	Options   []string `json:"options" items:"..10" length:"..200" doc:"For a scale the meaning of its lowest and highest value. For a text the labels of its boxes, or none."`
	Anonymous bool     `json:"anonymous"`
	StepID    *string  `json:"step_id" is:"Id"`
	Right     *[]int32 `json:"right" doc:"The indexes of the correct options. Attendees see them once the poll is closed and shown."`
	State     string   `json:"state" enum:"draft|open|closed"`
	Shown     bool     `json:"shown" doc:"Whether attendees see the result."`
	Round     int32    `json:"round" range:"1.." doc:"Increases with each reset. A vote contains it."`
	OpenedAt  *string  `json:"opened_at" is:"Timestamp"`
	EndsAt    *string  `json:"ends_at" is:"Timestamp" doc:"The time at which it closes automatically."`
	Votes     int      `json:"votes" doc:"The number of votes."`
	// Of is computed by this server, and not stored.
	Of int `json:"of" doc:"The number of attendees who have been connected since the poll was opened. A replayed message contains at least the number of votes."`
	PollResult
	TooFew bool `json:"too_few" doc:"The result of an anonymous poll is withheld because fewer than five people voted."`
	Void   bool `json:"void" doc:"The ballots of an anonymous poll were lost: the server was restored while it was open."`
	// Counting applies to closed polls.
	Counting bool `json:"counting" doc:"The poll is anonymous and closed, but no running node has its secret. Until such a node is back, the votes cannot be counted or shown."`
}

// PollResult is the result of a poll.
type PollResult struct {
	Counts *[]int32      `json:"counts" doc:"The number of votes for each option, or for each of the five values of a scale. Null if there are none, or if they are hidden."`
	Words  *[]WordRecord `json:"words" is:"PollWord" doc:"The most frequent words, at most 100 and 8 KiB. Words that differ only in case, width or spaces are the same; the most frequent spelling is shown."`
}

// ToResult returns the result of a poll as stored in p.
func ToResult(p *pb.Poll) PollResult { return PollResult{listOrNull(p.Counts), toWords(p.Words)} }

// WordRecord is a word and the number of people who sent it.
type WordRecord struct {
	Word  string `json:"word"`
	Votes int    `json:"votes"`
}

// ToPoll returns a poll as it appears to facilitators or to attendees. It returns nil if attendees
// do not see the poll.
func ToPoll(p *pb.Poll, facilitator bool) *PollRecord {
	if !facilitator {
		p = codelab.ForAttendees(p)
	}
	if p == nil {
		return nil
	}
	out := &PollRecord{
		ID: p.Id, Question: p.Question, Options: p.Options, Anonymous: p.Anonymous, StepID: wire.OrNull(p.StepId), Right: listOrNull(p.Right),
		Shown: p.Shown, Round: p.Round, OpenedAt: wire.StampOrNull(p.OpenedAt), EndsAt: wire.StampOrNull(p.EndsAt), Votes: int(p.Votes), Of: int(max(p.Of, p.Votes)),
		PollResult: ToResult(p), TooFew: p.TooFew, Void: p.Void, Counting: p.Counting,
	}
	if i := int(p.Kind) - 1; i >= 0 && i < len(codelab.PollKinds) {
		out.Kind = codelab.PollKinds[i]
	}
	if i := int(p.State); i < len(codelab.PollStates) {
		out.State = codelab.PollStates[i]
	}
	if out.Options == nil {
		out.Options = []string{}
	}
	return out
}

// toWords returns the words of a poll, or nil if there are none.
func toWords(words []*pb.PollWord) *[]WordRecord {
	var out []WordRecord
	for _, w := range words {
		out = append(out, WordRecord{w.Word, int(w.Votes)})
	}
	return listOrNull(out)
}

// listOrNull returns nil for an empty list, which is encoded as null.
func listOrNull[T any](list []T) *[]T {
	if len(list) == 0 {
		return nil
	}
	return &list
}

// pollRecord is a poll as returned to readers.
type pollRecord struct {
	PollRecord
	Mine    *voteRecord `json:"mine" optional:"true" doc:"The calling attendee's vote. Null if the attendee has not voted, and for facilitators. Omitted in a codelab."`
	Missing *[]string   `json:"missing,omitempty" is:"Id" doc:"The ids of the connected attendees who have not voted. Only facilitators receive them, and only while a poll with names is open."`
}

// voteRecord is a vote. In an anonymous poll only Voted is set.
type voteRecord struct {
	Choice []int32  `json:"choice,omitempty"`
	Scale  *int     `json:"scale,omitempty" range:"1..5"`
	Words  []string `json:"words,omitempty"`
	Text   *string  `json:"text,omitempty"`
	Voted  bool     `json:"voted,omitempty"`
}

func toVote(p *pb.Poll, marks uint16, entered *pb.PollSaid) *voteRecord {
	if marks == 0 {
		return nil
	}
	out := &voteRecord{}
	switch kind := p.Kind; {
	case p.Anonymous:
		out.Voted = true
	case kind == pb.PollKind_POLL_KIND_WORDS:
		out.Words = entered.GetWords()
	case kind == pb.PollKind_POLL_KIND_TEXT:
		text := entered.GetText()
		out.Text = &text
	default:
		for i := range int32(16) {
			if marks&(1<<i) == 0 {
				continue
			}
			if kind == pb.PollKind_POLL_KIND_SCALE {
				value := int(i) + 1
				out.Scale = &value
				break
			}
			out.Choice = append(out.Choice, i)
		}
	}
	return out
}

// poll returns a poll for the caller, or nil if the caller does not see it.
func (r *Request) poll(v *codelab.View, p *codelab.PollView) *pollRecord {
	seen := ToPoll(p.Poll, r.IsAdmin())
	if seen == nil {
		return nil
	}
	out := &pollRecord{PollRecord: *seen}
	out.Of = r.Codelab.PollAudience(p)
	if !r.IsAdmin() {
		marks, entered := v.Voted(p, r.Caller.ID)
		out.Mine = toVote(p.Poll, marks, entered)
		return out
	}
	if p.State == pb.PollState_POLL_STATE_OPEN && !p.Anonymous {
		missing := r.Codelab.NotVoted(v, p)
		out.Missing = &missing
	}
	return out
}

func getPolls(r *Request) error {
	v := r.view()
	out := []*pollRecord{}
	for _, p := range v.PollsInOrder() {
		if rec := r.poll(v, p); rec != nil {
			out = append(out, rec)
		}
	}
	return r.JSON(out)
}

// pollInput is a poll in a request.
type pollInput struct {
	Kind      *string   `json:"kind,omitempty" enum:"choice|several|scale|words|text"`
	Question  *string   `json:"question,omitempty" length:"1..500"`
	Options   *[]string `json:"options,omitempty" items:"..10" length:"..200" doc:"For a choice 2 to 10 options, for a scale two labels, for a text the labels of 2 to 4 boxes or none, for words none."`
	Anonymous *bool     `json:"anonymous,omitempty"`
	StepID    *string   `json:"step_id,omitempty" null:"true" is:"Id" doc:"The step of the poll, or null."`
	Right     *indexes  `json:"right,omitempty" null:"true" doc:"The indexes of the correct options of a choice."`
}

type pollCreateBody struct {
	pollInput
	Lines  *string `json:"lines,omitempty" doc:"The question, followed by lines with options that begin with «- ». Without options the poll asks for words. Replaces the fields above."`
	QuizID *string `json:"quiz_id,omitempty" doc:"Takes the question, the options and the correct options from a question of the quiz."`
}

// indexes are indexes of options. The elements are pointers because null, which is not an index,
// would otherwise decode as 0.
type indexes []*int32

func (x indexes) check(name string) error {
	if slices.Contains(x, nil) {
		return wire.Invalid("%s: an index must be a number, not null", name)
	}
	return nil
}

// numbers returns the indexes, and nil for a missing list.
func (x indexes) numbers() []int32 {
	if x == nil {
		return nil
	}
	out := make([]int32, len(x))
	for i, n := range x {
		out[i] = *n
	}
	return out
}

// right returns the correct options, or nil if the request does not contain them.
func (in *pollInput) right() (*[]int32, error) {
	if in.Right == nil {
		return nil, nil
	}
	out := in.Right
	if err := out.check("right"); err != nil {
		return nil, err
	}
	numbers := out.numbers()
	return &numbers, nil
}

func createPoll(r *Request) error {
	var in pollCreateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	p, err := r.draft(in.Lines, in.QuizID)
	if err != nil {
		return err
	}
	if in.Kind != nil {
		p.Kind = codelab.PollKind(*in.Kind)
	} else if p.Kind == 0 {
		return wire.Invalid("kind is required: %s", naming.Or(codelab.PollKinds...))
	}
	if p.Question = or(in.Question, p.Question); p.Question == "" {
		return wire.Invalid("question is required")
	}
	p.Options, p.Anonymous = or(in.Options, p.Options), or(in.Anonymous, false)
	right, err := in.right()
	if err != nil {
		return err
	}
	p.StepId, p.Right = or(in.StepID, ""), or(right, p.Right)
	return r.answerPoll(r.do(codelab.CreatePoll{Poll: p}))
}

// draft returns the poll described by lines or by a question of the quiz. Without either, it
// returns an empty poll.
func (r *Request) draft(lines, quiz *string) (*pb.Poll, error) {
	switch {
	case lines != nil:
		return codelab.PollOfLines(*lines)
	case quiz != nil:
		for _, q := range r.Codelab.View().Quizzes {
			if q.Id == *quiz {
				return codelab.PollOfQuiz(q), nil
			}
		}
		return nil, wire.Invalid("quiz_id must be the id of a question of the quiz")
	}
	return &pb.Poll{}, nil
}

func updatePoll(r *Request) error {
	body, err := r.JSONBody()
	if err != nil {
		return err
	}
	var in pollInput
	if err := wire.Decode(body, &in); err != nil {
		return err
	}
	right, err := in.right()
	if err != nil {
		return err
	}
	u := codelab.UpdatePoll{
		PollID: r.Param("poll_id"), Question: in.Question, Options: in.Options, Anonymous: in.Anonymous, StepID: in.StepID, Right: right,
	}
	// Null removes the right answers and the step.
	if in.StepID == nil && contains(body, "step_id") {
		u.StepID = new(string)
	}
	if in.Right == nil && contains(body, "right") {
		u.Right = new([]int32)
	}
	if in.Kind != nil {
		kind := codelab.PollKind(*in.Kind)
		u.Kind = &kind
	}
	return r.answerPoll(r.do(u))
}

func deletePoll(r *Request) error {
	if _, err := r.do(codelab.DeletePoll{PollID: r.Param("poll_id")}); err != nil {
		return err
	}
	return r.NoContent()
}

type pollOpenBody struct {
	Seconds *int32 `json:"seconds,omitempty" null:"true" range:"5..14400" doc:"The time until the poll closes automatically. If omitted, it stays open until somebody closes it."`
}

func openPoll(r *Request) error {
	var in pollOpenBody
	if err := r.decodeOptional(&in); err != nil {
		return err
	}
	p, err := r.Codelab.OpenPoll(r.Caller, r.Param("poll_id"), in.Seconds)
	return r.answerPoll(p, err)
}

func closePoll(r *Request) error {
	return r.answerPoll(r.do(codelab.ClosePoll{PollID: r.Param("poll_id")}))
}

type pollShowBody struct {
	Shown *bool `json:"shown"`
}

func showPoll(r *Request) error {
	var in pollShowBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.answerPoll(r.do(codelab.ShowPoll{PollID: r.Param("poll_id"), Shown: *in.Shown}))
}

func resetPoll(r *Request) error {
	return r.answerPoll(r.do(codelab.ResetPoll{PollID: r.Param("poll_id")}))
}

// answerPoll sends the poll in the path, or the poll just created, as the caller now sees it.
func (r *Request) answerPoll(made any, err error) error {
	if err != nil {
		return err
	}
	id := r.Param("poll_id")
	if p, ok := made.(*pb.Poll); ok && id == "" {
		id = p.Id
	}
	v := r.view()
	if p := v.Poll(id); p != nil {
		if rec := r.poll(v, p); rec != nil {
			return r.JSON(rec)
		}
	}
	return errNoPoll // just deleted
}

var errNoPoll = codelab.ErrNoPoll

type voteBody struct {
	Round  *int32   `json:"round" range:"1.." doc:"The round of the poll that the voter sees."`
	Choice indexes  `json:"choice,omitempty" doc:"The indexes of options: one for «choice», any number for «several»."`
	Scale  *int32   `json:"scale,omitempty" range:"1..5"`
	Words  []string `json:"words,omitempty" items:"1..3" length:"1..60"`
	Text   *string  `json:"text,omitempty" length:"1..1000"`
}

func votePoll(r *Request) error {
	var in voteBody
	wiped, err := r.decodeSecret(&in)
	defer wiped() // the memory must not contain a ballot together with its voter's cookie
	if err != nil {
		return err
	}
	if *in.Round < 1 {
		return wire.Invalid("round must be the round of the poll, 1 or more")
	}
	if err := in.Choice.check("choice"); err != nil {
		return err
	}
	choice := in.Choice.numbers()
	if slices.ContainsFunc(choice, func(i int32) bool { return i < 0 }) {
		return wire.Invalid("choice: indexes must be 0 or more")
	}
	_, err = r.do(codelab.Vote{
		PollID: r.Param("poll_id"), Round: *in.Round, Choice: choice, Scale: in.Scale, Words: in.Words, Text: in.Text,
	})
	return r.answerVote(err)
}

func unvotePoll(r *Request) error {
	_, err := r.do(codelab.Unvote{PollID: r.Param("poll_id")})
	return r.answerVote(err)
}

// answerVote responds to a vote, or to its withdrawal, with the poll, even if the poll was just
// closed and attendees no longer see it.
func (r *Request) answerVote(err error) error {
	if err != nil {
		return err
	}
	v := r.view()
	p := v.Poll(r.Param("poll_id"))
	if p == nil {
		return errNoPoll // just deleted
	}
	if rec := r.poll(v, p); rec != nil {
		return r.JSON(rec)
	}
	rec := unseen(p.Poll)
	if rec == nil {
		return errNoPoll // just reset
	}
	marks, entered := v.Voted(p, r.Caller.ID)
	return r.JSON(&pollRecord{PollRecord: *rec, Mine: toVote(p.Poll, marks, entered)})
}

// unseen returns a closed poll that is not shown, without its result. For a draft it returns nil.
func unseen(p *pb.Poll) *PollRecord {
	if p.State == pb.PollState_POLL_STATE_DRAFT {
		return nil
	}
	p = p.Clone()
	p.State = pb.PollState_POLL_STATE_OPEN
	out := ToPoll(p, false)
	out.State = codelab.PollStates[pb.PollState_POLL_STATE_CLOSED]
	return out
}

// pollTextPage is the number of texts per page.
const pollTextPage = 100

type pollTextRecord struct {
	ID   string `json:"id" doc:"The id of the attendee, if the poll has names."`
	Text string `json:"text"`
}

// getPollTexts returns at most pollTextPage texts of a poll. They begin after the text with the id
// `after`, or with the first text. The text `after` may have been withdrawn meanwhile.
func getPollTexts(r *Request) error {
	v := r.view()
	p := v.Poll(r.Param("poll_id"))
	if p == nil {
		return errNoPoll
	}
	isLater, err := laterTexts(p, r.Query("after"))
	if err != nil {
		return err
	}
	out := []pollTextRecord{}
	for x := range v.PollTexts(p) {
		if len(out) == pollTextPage {
			break
		}
		if isLater(x.ID) {
			out = append(out, pollTextRecord(x))
		}
	}
	return r.JSON(out)
}

// laterTexts returns a function that reports whether the text with an id follows the text `after`.
// In anonymous polls the ids are the numbers of the texts. In other polls they are the attendees'
// ids, which increase in the order of the texts.
func laterTexts(p *codelab.PollView, after string) (func(id string) bool, error) {
	if after == "" {
		return func(string) bool { return true }, nil
	}
	if p.Anonymous {
		if last, err := strconv.Atoi(after); err == nil && last > 0 {
			return func(id string) bool { n, err := strconv.Atoi(id); return err == nil && n > last }, nil
		}
	} else if _, isID := naming.IDTagOf(after); isID {
		return func(id string) bool { return id > after }, nil
	}
	return nil, wire.Invalid("after must be the id of a text")
}

// pollTable writes the rows of all polls. A poll with names has a row for each vote, an anonymous
// poll one for each option, word and text.
func pollTable(v *codelab.View, w *sheet) {
	w.Row("poll_id", "question", "kind", "anonymous", "round", "state", "attendee_id", "name", "answer", "votes")
	for _, p := range v.Polls {
		for x := range pollRows(v, p) {
			rec := ToPoll(p.Poll, true)
			w.Row(rec.ID, rec.Question, rec.Kind, strconv.FormatBool(rec.Anonymous), strconv.Itoa(int(rec.Round)), rec.State, x.AttendeeID, x.AttendeeName, x.Answer, strconv.Itoa(x.Votes))
		}
	}
}

// pollAnswer is one row of a result: one person's vote, or an answer with its number of votes.
type pollAnswer struct {
	AttendeeID, AttendeeName, Answer string
	Votes                            int
}

func pollRows(v *codelab.View, p *codelab.PollView) iter.Seq[pollAnswer] {
	return func(yield func(pollAnswer) bool) {
		if !p.Anonymous {
			going := true
			v.EachVote(p, func(a *pb.Attendee, marks uint16, entered *pb.PollSaid) {
				going = going && yield(pollAnswer{a.Id, a.Name, voteText(p.Poll, toVote(p.Poll, marks, entered)), 1})
			})
			return
		}
		for i, n := range p.Counts {
			if !yield(pollAnswer{Answer: optionText(p.Poll, int32(i)), Votes: int(n)}) {
				return
			}
		}
		for _, x := range p.Words {
			if !yield(pollAnswer{Answer: x.Word, Votes: int(x.Votes)}) {
				return
			}
		}
		for _, text := range p.Texts {
			if !yield(pollAnswer{Answer: text, Votes: 1}) {
				return
			}
		}
	}
}

// voteText formats a vote as text.
func voteText(p *pb.Poll, vote *voteRecord) string {
	switch {
	case vote == nil:
		return ""
	case vote.Scale != nil:
		return strconv.Itoa(*vote.Scale)
	case vote.Text != nil:
		return *vote.Text
	case vote.Words != nil:
		return strings.Join(vote.Words, "; ")
	}
	var texts []string
	for _, i := range vote.Choice {
		texts = append(texts, optionText(p, i))
	}
	return strings.Join(texts, "; ")
}

// optionText returns the text of an option, or the value for a scale. i begins at 0.
func optionText(p *pb.Poll, i int32) string {
	if p.Kind == pb.PollKind_POLL_KIND_SCALE || int(i) >= len(p.Options) {
		return strconv.Itoa(int(i) + 1)
	}
	return p.Options[i]
}
