package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelier/bench/api"
)

// What the room does in polls and with questions.

// polls are prepared for the facilitators. The first is open when people arrive.
var polls = []string{
	`{"lines":"Have you written Go before?\n- Never\n- A little\n- Every day"}`,
	`{"kind":"scale","question":"How fast are we?","options":["too slow","too fast"]}`,
	`{"kind":"words","question":"One word for the race detector?"}`,
	`{"kind":"text","question":"What is still unclear?","anonymous":true}`,
}

// pollOf is a poll as far as somebody who votes must know it.
type pollOf struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	State   string   `json:"state"`
	Round   int      `json:"round"`
	Options []string `json:"options"`
}

// questionOf is a question of somebody to all.
type questionOf struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// askings are what people ask all, by step like remarks.
var askings = [][]string{
	{"Will we get the code of each step?", "Do we need Docker later?"},
	{"Why {$} and not just the slash?", "When would you use a framework?"},
	{"Is a channel better than a mutex here?", "Can the map be shared by two servers?"},
	{"Should the race detector run in production?", "How do you test time-outs?"},
	{"What happens to open WebSockets at a shutdown?"},
}

// preparePolls makes the drafts and opens the first.
func preparePolls(client *api.Client, admin api.Session, lab string) error {
	for i, body := range polls {
		var made pollOf
		a, err := client.Do(&api.Request{Method: "POST", Path: "/codelabs/" + lab + "/polls", Session: admin, Body: []byte(body)})
		if err == nil {
			err = a.Decode(&made)
		}
		if err == nil && i == 0 {
			a, err = client.Do(&api.Request{Method: "POST", Path: "/codelabs/" + lab + "/polls/" + made.ID + "/open", Session: admin})
			if err == nil {
				err = a.Err()
			}
		}
		if err != nil {
			return fmt.Errorf("prepare a poll: %w", err)
		}
	}
	return nil
}

// votesIn lets the person vote in a poll that was opened; one of eight does not care.
// The facilitators wait for it, so it is not made faster with the codelab.
func (p *person) votesIn(poll *pollOf) {
	if poll == nil || poll.State != "open" || p.rng.IntN(8) == 0 {
		return
	}
	vote := map[string]any{"round": poll.Round}
	switch {
	case poll.Kind == "scale":
		vote["scale"] = 1 + (p.rng.IntN(5)+p.rng.IntN(5))/2
	case poll.Kind == "words":
		vote["words"] = []string{pick(p.rng, []string{"magic", "Magic", "strict", "slow", "helpful", "scary", "helpful"})}
	case poll.Kind == "text":
		vote["text"] = pick(p.rng, []string{"When to use a mutex and when a channel.", "How signals reach the program.", "Nothing, thank you!", "Why the test needs SetPathValue."})
	case len(poll.Options) > 0:
		vote["choice"] = []int{min(p.rng.IntN(len(poll.Options)), p.rng.IntN(len(poll.Options)))}
	}
	id := poll.ID
	p.at(between(p.rng, 2*time.Second, 25*time.Second), func(context.Context) {
		body, _ := json.Marshal(vote) // of texts and numbers
		// Closed meanwhile, or voted before: nobody minds.
		_, _ = p.demo.client.Do(&api.Request{Method: "PUT", Path: "/codelabs/" + p.demo.lab + "/polls/" + id + "/vote", Session: p.login, Body: body})
	})
}

// asksAll lets the person ask everybody something about a step.
func (p *person) asksAll(step int) {
	lines := askings[min(step, len(askings)-1)]
	// The same question once is enough, which the server does not know.
	a, err := p.post("/questions", map[string]any{"text": pick(p.rng, lines), "anonymous": p.rng.IntN(2) == 0})
	if err == nil && (a.Status == 409 || a.Status == 429) {
		return // switched off, enough of them, or too soon after the last
	}
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		p.demo.note("%s could not ask all: %v", p.name, err)
	}
}

// votesFor lets the person vote for a question, if it is theirs as well.
func (p *person) votesFor(q *questionOf) {
	if q == nil || q.State != "open" || p.rng.IntN(3) > 0 {
		return
	}
	id := q.ID
	p.at(between(p.rng, 5*time.Second, 60*time.Second), func(context.Context) {
		_, _ = p.demo.client.Do(&api.Request{Method: "PUT", Path: "/codelabs/" + p.demo.lab + "/questions/" + id + "/vote", Session: p.login})
	})
}

// findPoll votes in the poll that was open before the person came.
func (p *person) findPoll() {
	var open []pollOf
	if err := p.demo.client.Get(p.login, "/codelabs/"+p.demo.lab+"/polls", &open); err != nil {
		return
	}
	for i := range open {
		p.votesIn(&open[i])
	}
}
