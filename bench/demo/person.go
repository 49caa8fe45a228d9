package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/bench/api"
)

// person is somebody in the workshop. Owned by the goroutine of live.
type person struct {
	demo *demo
	rng  *rand.Rand
	plan plan
	name string
	code string

	id    string
	login api.Session
	line  *line // nil without a connection
	refs  int
	// unacked has the messages that were sent and have no ack yet, in order. They are sent again on
	// the next connection; its ref makes that safe.
	unacked []said

	agenda []entry
	step   int // from 0; len(steps) when all are done
	stuck  bool
}

// said is a message and its ref.
type said struct {
	ref     string
	message map[string]any
}

// entry is something to do.
type entry struct {
	at time.Time
	do func(ctx context.Context)
}

// in plans something for a time from now that is as long in the codelab.
func (p *person) in(d time.Duration, do func(context.Context)) {
	p.at(time.Duration(float64(d)/p.demo.cfg.Speed), do)
}

// at plans something for a time from now.
func (p *person) at(d time.Duration, do func(context.Context)) {
	p.agenda = append(p.agenda, entry{time.Now().Add(d), do})
}

// live plays the person until ctx ends.
func (p *person) live(ctx context.Context) {
	p.at(between(p.rng, 0, p.demo.cfg.Join), p.arrive)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		next := -1
		for i, e := range p.agenda {
			if next < 0 || e.at.Before(p.agenda[next].at) {
				next = i
			}
		}
		wait := time.Hour
		if next >= 0 {
			wait = time.Until(p.agenda[next].at)
		}
		timer.Reset(max(wait, 0))
		var events chan event
		if p.line != nil {
			events = p.line.events
		}
		select {
		case <-ctx.Done():
		case <-timer.C:
			if next >= 0 {
				do := p.agenda[next].do
				p.agenda = slices.Delete(p.agenda, next, next+1)
				do(ctx)
			}
		case e, ok := <-events:
			if !ok {
				p.line = nil
				p.at(between(p.rng, 200*time.Millisecond, 2*time.Second), p.connect)
				continue
			}
			p.hear(e)
		}
	}
	if p.line != nil {
		p.line.drop()
		for range p.line.events { // until its reader has ended
		}
	}
}

// arrive registers, and tries again if there is no answer.
func (p *person) arrive(ctx context.Context) {
	var record api.Attendee
	a, err := p.post("/register", map[string]any{"name": p.name, "code": p.code})
	if err == nil {
		err = a.Decode(&record)
	}
	if err != nil {
		p.demo.note("%s could not register: %v", p.name, err)
		p.at(2*time.Second, p.arrive)
		return
	}
	p.id, p.login = record.ID, a.Session
	p.connect(ctx)
	p.enter(0)
	p.findPoll()
	p.in(between(p.rng, 3*time.Minute, 30*time.Minute), p.loseNetwork)
}

func (p *person) connect(ctx context.Context) {
	if p.line != nil {
		return
	}
	l, err := dial(ctx, p.demo.socket, p.login.Cookie())
	if err != nil {
		p.at(between(p.rng, time.Second, 4*time.Second), p.connect)
		return
	}
	p.line = l
	for _, s := range p.unacked {
		l.send(s.message) // if it fails, there is a next connection
	}
}

// loseNetwork ends the connection; it is found again by itself.
func (p *person) loseNetwork(context.Context) {
	if p.line != nil {
		p.line.drop()
	}
	p.in(between(p.rng, 10*time.Minute, 40*time.Minute), p.loseNetwork)
}

// enter goes to a step.
func (p *person) enter(step int) {
	p.step, p.stuck = step, false
	stay := p.plan.stays[step]
	p.say(map[string]any{"type": "step_progress", "step_number": step + 1})
	if p.rng.IntN(3) == 0 {
		p.in(between(p.rng, stay/8, stay*3/4), func(context.Context) { p.chat(remark(p.rng, step)) })
	}
	if p.rng.IntN(8) == 0 {
		p.in(between(p.rng, stay/8, stay*3/4), func(context.Context) { p.asksAll(step) })
	}
	if step == p.plan.stuck {
		p.plan.stuck = -1
		p.in(between(p.rng, min(stay/4, 40*time.Second), min(stay/2, 2*time.Minute)), p.getStuck)
		return // who is stuck does not go on by the clock
	}
	switch p.rng.IntN(3) {
	case 0:
		p.in(stay*2/3, func(context.Context) { p.feel("fine") })
	case 1:
		if stay > p.demo.steps[step] {
			p.in(stay/2, func(context.Context) { p.feel("slow") })
		}
	}
	p.in(stay, func(ctx context.Context) { p.leave(ctx, step) })
}

// leave ends a step.
func (p *person) leave(ctx context.Context, step int) {
	if step == checkedStep {
		p.reportTests()
	}
	if step+1 < len(p.demo.steps) {
		p.enter(step + 1)
		return
	}
	p.finish(ctx)
}

func (p *person) getStuck(context.Context) {
	p.stuck = true
	p.feel("stuck")
	step := p.step
	if p.plan.asks {
		p.in(between(p.rng, 20*time.Second, 90*time.Second), func(context.Context) { p.ask(step) })
	}
	p.in(between(p.rng, 5*time.Minute, 9*time.Minute), func(context.Context) {
		switch {
		case !p.stuck || p.step != step:
		case !p.plan.asks && step+1 < len(p.demo.steps) && p.catchesUp(step+1):
		default:
			p.getOn(pick(p.rng, []string{"Found it myself.", "Got it: a typo.", ""}))
		}
	})
}

// ask asks for help. An older server takes no words with it.
func (p *person) ask(step int) {
	if !p.stuck || p.step != step {
		return
	}
	a, err := p.post("/help", map[string]any{"step_number": step + 1, "message": trouble(step)})
	if err == nil && a.Status == 400 {
		a, err = p.post("/help", map[string]any{"step_number": step + 1})
	}
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		p.demo.note("%s could not ask for help: %v", p.name, err)
	}
}

// getOn ends being stuck, with a word to the others.
func (p *person) getOn(word string) {
	p.stuck = false
	p.feel("fine")
	if word != "" {
		p.chat(word)
	}
	p.needNoHelp()
	step := p.step
	p.in(between(p.rng, 30*time.Second, 3*time.Minute), func(ctx context.Context) { p.leave(ctx, step) })
}

// needNoHelp takes back what the person has asked for.
func (p *person) needNoHelp() {
	var open []api.HelpRequest
	if err := p.demo.client.Get(p.login, "/codelabs/"+p.demo.lab+"/help", &open); err != nil {
		p.demo.note("%s: %v", p.name, err)
	}
	for _, h := range open {
		if h.AttendeeID == p.id && h.Status != "resolved" {
			p.tell("/help/"+h.ID+"/resolve", nil)
		}
	}
}

// finish does what comes after the steps.
func (p *person) finish(context.Context) {
	p.step = len(p.demo.steps)
	p.in(between(p.rng, 20*time.Second, 90*time.Second), func(context.Context) {
		var answers []map[string]any
		for _, q := range p.demo.questions {
			answers = append(answers, map[string]any{"quiz_id": q.ID, "answer": q.answer(p.rng)})
		}
		if len(answers) > 0 {
			p.tell("/quizzes/submit", map[string]any{"submissions": answers})
		}
		p.tell("/feedback", map[string]any{
			"difficulty": strconv.Itoa(2 + p.rng.IntN(3)), "satisfaction": strconv.Itoa(3 + p.rng.IntN(3)), "comment": pick(p.rng, []string{"", "", "More time for the tests, please.", "Clear and short."}),
		})
		p.tell("/complete", nil)
		if p.rng.IntN(3) == 0 {
			p.chat(pick(p.rng, farewell))
		}
	})
}

// hear handles a message.
func (p *person) hear(e event) {
	switch {
	case e.Type == "ack", e.Type == "error" && e.Ref != "":
		p.unacked = slices.DeleteFunc(p.unacked, func(s said) bool { return s.ref == e.Ref })
		if e.Type == "error" && strings.HasPrefix(e.Ref, "pulse-") {
			p.demo.noPulse.Store(true)
		} else if e.Type == "error" {
			p.demo.note("%s: %s was refused: %s", p.name, e.Ref, e.Error)
		}
	case e.Type == "poll_changed":
		p.votesIn(e.Poll)
	case e.Type == "question_changed":
		p.votesFor(e.Question)
	case e.Type == "help_resolved" && e.AttendeeID == p.id && p.stuck:
		p.in(between(p.rng, 5*time.Second, 20*time.Second), func(context.Context) {
			if p.stuck {
				p.getOn(pick(p.rng, relief))
			}
		})
	case e.Type == "dm" && e.SenderID != p.id:
		p.in(between(p.rng, 4*time.Second, 15*time.Second), func(context.Context) {
			p.say(map[string]any{"type": "dm", "target_id": e.SenderID, "message": pick(p.rng, replies)})
		})
	case (e.Type == "chat" || e.Type == "broadcast") && e.SenderID == facilitator && p.rng.IntN(15) == 0:
		p.in(between(p.rng, 3*time.Second, 12*time.Second), func(context.Context) { p.chat(pick(p.rng, nods)) })
	}
}

// facilitator is the id of all facilitators in messages.
const facilitator = "facilitator"

func (p *person) chat(text string) { p.say(map[string]any{"type": "chat", "message": text}) }

// feel says how the person is doing.
func (p *person) feel(state string) {
	if p.plan.silent && state != "stuck" || p.demo.noPulse.Load() {
		return
	}
	p.say(map[string]any{"type": "pulse", "state": state})
}

// say sends a message; without a connection it waits for one.
func (p *person) say(message map[string]any) {
	p.refs++
	ref := fmt.Sprintf("%s-%s-%d", message["type"], p.code, p.refs)
	message["ref"] = ref
	p.unacked = append(p.unacked, said{ref, message})
	if p.line != nil {
		p.line.send(message)
	}
}

// tell posts something whose answer does not matter to the person.
func (p *person) tell(path string, body any) {
	a, err := p.post(path, body)
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		p.demo.note("%s: POST %s: %v", p.name, path, err)
	}
}

// post posts below the codelab.
func (p *person) post(path string, body any) (*api.Answer, error) {
	r := &api.Request{Method: "POST", Path: "/codelabs/" + p.demo.lab + path, Session: p.login}
	if body != nil {
		var err error
		if r.Body, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return p.demo.client.Do(r)
}
