// Package oracle models the promises of transport/rest/RULES.md about a codelab, without sharing
// code with it. Each model implements a section of that page, receives the events in order, and
// compares views with its expectation. The tests of package draw and the simulator use this
// package.
//
// From an event a model takes a person's input, such as the text of a question. It computes the
// consequences itself: who is in the queue, where people move when steps are removed, how many
// votes a poll has. An event that the rules do not permit is also an error.
//
// Saying passes data that the events do not contain. These are the votes of an anonymous poll,
// which are sealed in the log, the texts of attendees' own questions, and the people whose claims
// are released.
package oracle

import (
	"fmt"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// Codelab contains the models of one codelab. Not safe for concurrent use.
type Codelab struct {
	room      *room
	models    []model
	help      *help
	polls     *polls
	questions *questions
}

// model is the model of one section of the rules.
type model interface {
	// event processes an event. The model room receives each event last.
	event(e *pb.Event) error
	// view checks a view after an event.
	view(v *codelab.View) error
}

// New returns the models of a codelab without events.
func New() *Codelab {
	r := &room{}
	p := &polls{room: r, possible: map[ballot][]vote{}}
	q := &questions{room: r, wordings: map[string]bool{}}
	h := &help{room: r, over: map[string]bool{}}
	return &Codelab{room: r, help: h, polls: p, questions: q, models: []model{h, p, q, &teaching{room: r}, &talk{room: r, emails: map[string]email{}}}}
}

// Event passes the next event to the models.
func (c *Codelab) Event(e *pb.Event) error {
	for _, m := range c.models {
		if err := m.event(e); err != nil {
			return err
		}
	}
	return c.room.event(e)
}

// View returns an error if a view differs from the result of the events so far. It accepts any view
// without a codelab.
func (c *Codelab) View(v *codelab.View) error {
	if v.Meta == nil {
		return nil
	}
	for _, m := range append([]model{c.room}, c.models...) {
		if err := m.view(v); err != nil {
			return err
		}
	}
	return nil
}

// Saying announces a command before it is decided. The command can take effect at any later time.
func (c *Codelab) Saying(cmd codelab.Command) {
	if q, is := cmd.Body.(codelab.AskQuestion); is {
		c.questions.wordings[q.Text] = true
	}
	if r, is := cmd.Body.(codelab.ReleaseClaims); is {
		for _, person := range r.Persons {
			c.help.over[person] = true
		}
	}
	if v, is := cmd.Body.(codelab.Vote); is {
		b := ballot{v.PollID, v.Round, cmd.Caller.ID}
		c.polls.possible[b] = append(c.polls.possible[b], voteOf(v))
	}
}

// Refused reports that an announced command had no effect.
func (c *Codelab) Refused(cmd codelab.Command) {
	if v, is := cmd.Body.(codelab.Vote); is {
		b := ballot{v.PollID, v.Round, cmd.Caller.ID}
		for i, possible := range c.polls.possible[b] {
			if fmt.Sprint(possible) == fmt.Sprint(voteOf(v)) {
				c.polls.possible[b] = slices.Delete(c.polls.possible[b], i, i+1)
				break
			}
		}
	}
}

// differs returns the error for an unexpected value.
func differs(what string, got, want any) error {
	if fmt.Sprint(got) == fmt.Sprint(want) {
		return nil
	}
	return fmt.Errorf("%s is %v, but should be %v", what, got, want)
}
