package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// beat is the interval of checks for due actions.
const beat = 500 * time.Millisecond

var system = &codelab.Caller{Role: codelab.RoleSystem}

// Play simulates the attendees of a codelab's running rehearsal, until the rehearsal ends, its time
// has passed, or ctx ends. It ignores errors of their commands, because people also get such
// errors.
func Play(ctx context.Context, lab codelab.Codelab, seed uint64) {
	run := lab.View().Meta.GetRehearsal()
	if run == nil {
		return
	}
	began, total := lab.Clock().Uptime(), time.Duration(run.EndsAt-run.StartedAt)*time.Millisecond
	c := newCast(run, rand.New(rand.NewPCG(seed, seed)), began)
	defer func() {
		for _, p := range c.people {
			if p.here {
				lab.Depart(p.id)
			}
		}
	}()
	tick := lab.Clock().NewTicker(beat)
	defer tick.Stop()
	for {
		v := lab.View()
		if v.Meta.GetRehearsal().GetStartedAt() != run.StartedAt {
			return
		}
		now := lab.Clock().Uptime()
		if now-began > total+beat {
			return // the wall clock, which determines the end, was set back
		}
		for _, p := range c.people {
			if now < p.next || p.left || ctx.Err() != nil {
				continue
			}
			if p.id == "" {
				c.enter(lab, p, now)
				continue
			}
			turn := c.act(p, v, now)
			if turn.here != p.here {
				if p.here = turn.here; p.here {
					lab.Arrive(p.id)
				} else {
					lab.Depart(p.id)
				}
			}
			for _, body := range turn.actions {
				_, _, _ = lab.Ask(codelab.Command{Caller: p.caller(v), Body: body})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// enter registers a person under the next free name.
func (c *cast) enter(lab codelab.Codelab, p *person, now time.Duration) {
	p.next = now + 2*time.Second
	for c.named < len(names)*10 {
		name := names[c.order[c.named%len(names)]]
		if n := c.named / len(names); n > 0 {
			name = fmt.Sprint(name, " ", n+1)
		}
		v, _, err := lab.Ask(codelab.Command{Caller: system, Body: codelab.Register{Name: name, Place: p.place, Simulated: true}})
		if err == nil || errors.Is(err, codelab.ErrNameTaken) {
			c.named++
		}
		if err == nil {
			p.id, p.here = v.(codelab.Registration).Attendee.Id, true
			lab.Arrive(p.id)
		}
		if !errors.Is(err, codelab.ErrNameTaken) {
			return
		}
	}
}

// person is a member of the cast. Times are on the scale of the clock's Uptime.
type person struct {
	id, place string
	here      bool
	left      bool          // whether a facilitator has removed them
	next      time.Duration // time of their next action

	pace   float64       // factor on the planned time of a step
	skill  float64       // 0 to 1; with a higher skill, more answers are right
	step   int32         // the step to which ends applies
	ends   time.Duration // when they finish the step
	stuck  time.Duration // when their problem will be solved; 0 if they have not asked for help
	ballot string        // id and round of the poll in which they voted last
	stage  int           // number of finished activities after the steps
}

func (p *person) caller(v *codelab.View) *codelab.Caller {
	a := v.Attendee(p.id)
	return &codelab.Caller{Role: codelab.RoleAttendee, ID: p.id, Name: a.GetName(), Person: p.id, Generation: a.GetGeneration()}
}

// cast contains the simulated people of a rehearsal, and their common state. Not safe for
// concurrent use.
type cast struct {
	*rand.Rand
	people []*person
	order  []int         // the order in which names are tried, as indexes of names
	named  int           // number of names that were tried
	budget time.Duration // for all steps
}

func newCast(run *pb.Rehearsal, r *rand.Rand, now time.Duration) *cast {
	total := time.Duration(run.EndsAt-run.StartedAt) * time.Millisecond
	arriving := min(total/10, 30*time.Second)
	c := &cast{Rand: r, order: r.Perm(len(names)), budget: (total - arriving) * 7 / 10}
	for i := range int(run.People) {
		p := &person{
			next: now + time.Duration(i)*arriving/time.Duration(run.People), pace: 0.7 + c.Float64() + 0.3*c.Float64(), skill: c.Float64(),
		}
		if c.IntN(3) > 0 {
			p.place = fmt.Sprintf("%c%d", 'A'+i/8, i%8+1)
		}
		c.people = append(c.people, p)
	}
	return c
}

// turn is one turn of a person.
type turn struct {
	here    bool
	actions []codelab.Body
}

// between returns a random duration.
func (c *cast) between(from, to time.Duration) time.Duration {
	return from + time.Duration(c.Int64N(int64(to-from)))
}

// sometimes reports whether an action with a rate of perMinute happens within gap, the time until
// the person's next turn.
func (c *cast) sometimes(perMinute float64, gap time.Duration) bool {
	return c.Float64() < perMinute*gap.Minutes()
}

func pick[T any](c *cast, of []T) T { return of[c.IntN(len(of))] }

// act decides a person's next actions from the view, and sets the time of their next turn.
func (c *cast) act(p *person, v *codelab.View, now time.Duration) (t turn) {
	a := v.Attendee(p.id)
	if a == nil {
		p.left = true
		return turn{}
	}
	gap := c.between(2*time.Second, 9*time.Second)
	p.next, t.here = now+gap, true
	do := func(b codelab.Body) { t.actions = append(t.actions, b) }
	if !p.here { // a person who returns does nothing else in this turn
		return t
	}
	if p.step != a.CurrentStep {
		p.step, p.ends = a.CurrentStep, now+c.lasts(p, v, a.CurrentStep)
	}
	if poll := v.OpenPoll(); poll != nil && p.ballot != fmt.Sprint(poll.Id, poll.Round) && c.IntN(3) > 0 {
		p.ballot = fmt.Sprint(poll.Id, poll.Round)
		do(c.vote(poll))
		return t
	}
	if p.stuck > 0 && now >= p.stuck {
		p.stuck = 0
		for _, h := range v.Help.All() {
			if h.AttendeeId == p.id && h.Status == pb.HelpStatus_HELP_STATUS_PENDING {
				do(codelab.ResolveHelp{HelpID: h.Id})
			}
		}
		return t
	}
	slow := 1.5 - p.skill
	switch {
	case now >= p.ends:
		c.goOn(p, v, a, do)
	case c.sometimes(0.06*slow, gap) && p.stuck == 0 && len(v.Steps) > 0:
		p.stuck = now + c.between(2*time.Minute, 5*time.Minute)
		do(codelab.AskHelp{StepNumber: a.CurrentStep, Message: pick(c, troubles)})
	case c.sometimes(0.2, gap):
		do(codelab.PostChat{Message: pick(c, chats)})
	case c.sometimes(0.3, gap):
		do(codelab.SetPulse{State: c.mood(p, slow)})
	case c.sometimes(0.05, gap) && v.Meta.Questions != pb.Asking_ASKING_OFF:
		ask := codelab.AskQuestion{Text: pick(c, questions), Anonymous: !v.Meta.QuestionsNamed && c.IntN(2) == 0}
		if n := int(a.CurrentStep); n <= len(v.Steps) && c.IntN(2) == 0 {
			ask.StepID = v.Steps[n-1].Id
		}
		do(ask)
	case c.sometimes(0.4, gap) && len(v.Questions) > 0:
		do(codelab.VoteQuestion{QuestionID: pick(c, v.Questions).Id})
	case c.sometimes(0.05, gap):
		t.here, p.next = false, now+c.between(15*time.Second, 45*time.Second)
	case c.IntN(2) == 0:
		c.tick(v, a, do)
	}
	return t
}

// lasts returns how long a person stays on a step: the step's share of the budget, times their
// pace.
func (c *cast) lasts(p *person, v *codelab.View, number int32) time.Duration {
	share, all := 5.0, 0.0
	for i, st := range v.Steps {
		minutes := float64(st.DurationMinutes)
		if minutes == 0 {
			minutes = 5
		}
		if all += minutes; int32(i)+1 == number {
			share = minutes
		}
	}
	return time.Duration(float64(c.budget) * p.pace * (0.8 + 0.4*c.Float64()) * share / max(all, share))
}

// mood returns the pace that a simulated person reports: stuck until their problem is solved, and
// otherwise slow or fine. The higher slow is, the more often the pace is slow.
func (c *cast) mood(p *person, slow float64) pb.PulseState {
	switch x := c.Float64() * slow; {
	case p.stuck > 0:
		return pb.PulseState_PULSE_STATE_STUCK
	case x > 0.8:
		return pb.PulseState_PULSE_STATE_SLOW
	default:
		return pb.PulseState_PULSE_STATE_FINE
	}
}

// tick ticks the next task of a person's step, and reports whether there is one.
func (c *cast) tick(v *codelab.View, a *pb.Attendee, do func(codelab.Body)) bool {
	n := int(a.CurrentStep)
	if n > len(v.Steps) {
		return false
	}
	for _, task := range v.Tasks[n-1] {
		if !codelab.Ticked(a, v.Steps[n-1].Id, task.Key) {
			do(codelab.Tick{StepID: v.Steps[n-1].Id, Item: task.Key, Done: true})
			return true
		}
	}
	return false
}

// goOn ends a step, but most people first tick its remaining tasks. The quiz, feedback and
// completion follow the last step.
func (c *cast) goOn(p *person, v *codelab.View, a *pb.Attendee, do func(codelab.Body)) {
	if c.IntN(4) > 0 && c.tick(v, a, do) {
		return
	}
	if int(a.CurrentStep) < len(v.Steps) {
		do(codelab.Progress{StepNumber: a.CurrentStep + 1})
		return
	}
	p.stage++
	switch p.stage {
	case 1:
		if v.Meta.QuizEnabled && len(v.Quizzes) > 0 {
			do(c.answer(p, v))
		}
	case 2:
		if v.Meta.RequireFeedback || c.IntN(4) > 0 {
			do(codelab.GiveFeedback{
				Difficulty: fmt.Sprint(5 - int(p.skill*3.9)), Satisfaction: fmt.Sprint(3 + c.IntN(3)), Comment: pick(c, comments),
			})
		}
	case 3:
		do(codelab.Complete{})
	}
}

// answer answers all questions of the quiz. The person's skill determines how many choices are
// right.
func (c *cast) answer(p *person, v *codelab.View) codelab.Body {
	var out codelab.SubmitQuiz
	for _, q := range v.Quizzes {
		a := codelab.SubmittedAnswer{QuizID: q.Id, Answer: pick(c, answers)}
		switch {
		case q.QuizType != codelab.MultipleChoice:
		case c.Float64() < 0.5+p.skill/2:
			a.Answer = codelab.ChoiceText(q.Correct)
		default:
			a.Answer = fmt.Sprint(c.IntN(len(q.Options)))
		}
		out.Items = append(out.Items, a)
	}
	return out
}

// vote returns a vote in a poll of any kind. In a poll for one choice, a right option is more
// likely.
func (c *cast) vote(poll *codelab.PollView) codelab.Body {
	b := codelab.Vote{PollID: poll.Id, Round: poll.Round}
	switch codelab.PollKinds[poll.Kind-1] {
	case "choice":
		b.Choice = []int32{int32(c.IntN(len(poll.Options)))}
		if len(poll.Right) > 0 && c.IntN(2) == 0 {
			b.Choice = []int32{pick(c, poll.Right)}
		}
	case "several":
		for i := range poll.Options {
			if c.IntN(2) == 0 {
				b.Choice = append(b.Choice, int32(i))
			}
		}
		if b.Choice == nil {
			b.Choice = []int32{0}
		}
	case "scale":
		n := int32(1 + max(c.IntN(5), c.IntN(5)))
		b.Scale = &n
	case "words":
		b.Words = []string{pick(c, words)}
	default:
		text := pick(c, texts)
		b.Text = &text
	}
	return b
}
