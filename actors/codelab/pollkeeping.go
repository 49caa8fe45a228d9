package codelab

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The host's tasks for polls. The host creates and destroys the secrets of anonymous polls, and
// closes each poll at its end.

// OpenPoll opens a poll. An anonymous poll opens only after every living node that can store its
// secret has it.
func (w Codelab) OpenPoll(caller *Caller, poll string, seconds *int32) (*pb.Poll, error) {
	body := OpenPoll{PollID: poll, Seconds: seconds}
	if p := w.View().Poll(poll); p != nil && p.Anonymous && p.State == pollDraft && w.all.Ballots != nil {
		var err error
		if body.Secret, body.Keepers, err = w.all.Ballots.Make(w.ID()); err != nil {
			return nil, err
		}
	}
	v, _, err := w.Ask(Command{Caller: caller, Body: body})
	if err != nil {
		if body.Secret != "" && durable.Refused(err) { // only if the command was certainly refused; otherwise the poll may be open
			w.all.Ballots.Destroy(body.Secret)
		}
		return nil, err
	}
	return v.(*pb.Poll), nil
}

// duePoll reports whether a poll of a view must be closed or counted before the view is read. An
// open poll must be closed if its time has passed or its secret is lost. A closed poll must be
// counted once its secret has arrived or is lost. The owner decides again, in case its state
// differs from the view.
func (w *Codelabs) duePoll(v *View) bool {
	return slices.ContainsFunc(v.Polls, func(p *PollView) bool {
		switch {
		case p.State == pollOpen:
			return p.EndsAt != 0 && w.Durable.Clock.Now().UnixMilli() >= p.EndsAt || w.Rules.secretLost(p.Poll)
		case p.Counting:
			return !w.Rules.secretAwaited(p.Poll)
		}
		return false
	})
}

// CloseDuePolls closes and counts the due polls (see duePoll) of a codelab that is loaded on this
// node.
func (w *Codelabs) CloseDuePolls(id string) {
	if ws, ok := w.Peek(id); ok && w.duePoll(ws.View()) {
		// If this fails, the next reader retries.
		_, _, _ = ws.Ask(Command{Caller: system, Body: CloseDuePoll{}})
	}
}

// SweepBallots destroys the old secrets of polls that are neither open nor being counted, now and
// at every interval until ctx ends. It is needed for polls that closed while this node received no
// messages, and for secrets that no poll uses.
func (w *Codelabs) SweepBallots(ctx context.Context, every time.Duration) {
	tick := w.Durable.Clock.NewTicker(every)
	defer tick.Stop()
	for {
		for _, secret := range w.Ballots.Old() {
			if ctx.Err() != nil {
				return
			}
			if used, err := w.UsesSecret(secret); err == nil && !used {
				w.Ballots.Destroy(secret)
			} else if err != nil {
				w.Logger.Warn("finding the poll of a secret failed; the secret is kept", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// UsesSecret reports whether a poll that is open or being counted uses a secret.
func (w *Codelabs) UsesSecret(secret string) (bool, error) {
	id, ok := CodelabOfSecret(secret)
	if !ok {
		return false, nil
	}
	lab, err := w.Get(id)
	if durable.IsMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.Contains(lab.View().secrets(), secret), nil
}

// CodelabOfSecret returns the id of the codelab of a secret's poll. ok is
// false if secret is not the id of a secret.
func CodelabOfSecret(secret string) (id string, ok bool) {
	const uuid = 36
	if len(secret) <= uuid {
		return "", false
	}
	return secret[:uuid], true
}

// secrets returns the secrets of the polls that are open or being counted.
func (v *View) secrets() (ids []string) {
	for _, p := range v.Polls {
		if p.Secret != "" {
			ids = append(ids, p.Secret)
		}
	}
	return ids
}

// PollAudience returns how many attendees were connected while the poll was open, if it is the last
// opened poll. The result is at least the number of votes. For other polls it is the number of
// votes.
func (w Codelab) PollAudience(p *PollView) int {
	return max(w.Room.Gathered(gathering(p.Id, p.Round), notAsked(w.View(), p.Poll)...), int(p.Votes))
}

// notAsked returns the people outside the audience of a poll. These are the facilitators, and
// during an anonymous poll in a rehearsal with real attendees also the simulated attendees.
func notAsked(v *View, p *pb.Poll) []string {
	out := []string{FacilitatorID}
	if p.Anonymous && v.Meta.GetRehearsal() != nil && v.anybody() {
		for _, a := range v.Attendees.All() {
			if a.Simulated {
				out = append(out, a.Id)
			}
		}
	}
	return out
}

// gathering returns the key of a poll's round.
func gathering(id string, round int32) string { return fmt.Sprint(id, " ", round) }

// NotVoted returns the connected attendees in the audience of a poll who have not voted, sorted by
// id.
func (w Codelab) NotVoted(v *View, p *PollView) []string {
	out := []string{}
	not := notAsked(v, p.Poll)
	for _, person := range w.Room.Present() {
		if marks, _ := v.Voted(p, person); marks == 0 && !slices.Contains(not, person) {
			out = append(out, person)
		}
	}
	slices.Sort(out)
	return out
}

// gather makes the room record the connected people while a poll is open.
func (o *observer) gather(v *View) {
	round := ""
	if p := v.OpenPoll(); p != nil {
		round = gathering(p.Id, p.Round)
	}
	o.room.Gather(round)
}

// watchPoll handles the polls of a new view. It schedules the end of the open poll, and destroys
// the secrets that are no longer used. For a new secret that this node lacks, it starts a search on
// other nodes.
func (o *observer) watchPoll(v *View) {
	endsAt := int64(0)
	if p := v.OpenPoll(); p != nil {
		endsAt = p.EndsAt
	}
	secrets := v.secrets()
	for _, was := range o.secrets {
		if !slices.Contains(secrets, was) && o.w.Ballots != nil {
			o.w.Ballots.Destroy(was)
		}
	}
	for _, p := range v.Polls {
		if p.Secret != "" && !slices.Contains(o.secrets, p.Secret) {
			_ = o.w.Rules.secretAwaited(p.Poll) // starts a search on other nodes
		}
	}
	o.secrets = secrets
	o.pollEnds.set(o.w.Durable.Clock, endsAt, func() { o.w.CloseDuePolls(o.id) })
}
