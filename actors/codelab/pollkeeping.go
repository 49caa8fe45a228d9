package codelab

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// What the host does for polls: it makes and destroys the secrets of anonymous ones,
// and closes each at its end.

// OpenPoll opens a poll. All nodes have the secret of an anonymous one before it is
// open.
func (w Codelab) OpenPoll(caller *Caller, poll string, seconds *int32) (*pb.Poll, error) {
	body := OpenPoll{PollID: poll, Seconds: seconds}
	if p := w.View().Poll(poll); p != nil && p.Anonymous && p.State == pollDraft && w.all.Ballots != nil {
		var err error
		if body.Secret, err = w.all.Ballots.Make(w.ID()); err != nil {
			return nil, err
		}
	}
	v, _, err := w.Ask(Command{Caller: caller, Body: body})
	if err != nil {
		if body.Secret != "" && durable.Refused(err) { // else it may have been opened
			w.all.Ballots.Destroy(body.Secret)
		}
		return nil, err
	}
	return v.(*pb.Poll), nil
}

// duePoll says that the open poll of a view must be closed before anybody reads it: its
// time is over, or its secret is lost. A node that lacks the secret and is not the owner
// asks in vain.
func (w *Codelabs) duePoll(v *View) bool {
	p := v.OpenPoll()
	if p == nil {
		return false
	}
	return p.EndsAt != 0 && w.Durable.Clock.Now().UnixMilli() >= p.EndsAt || w.Rules.secretLost(p.Poll)
}

// closeDuePoll closes the open poll of a codelab that is at work here, if it is due.
func (w *Codelabs) closeDuePoll(id string) {
	if ws, ok := w.Peek(id); ok && w.duePoll(ws.View()) {
		// When it fails, the next one who reads tries again.
		_, _, _ = ws.Ask(Command{Caller: system, Body: CloseDuePoll{}})
	}
}

// SweepBallots destroys, now and every so often until ctx ends, the secrets of polls that
// are not open any more: those that were closed while this node did not hear of it, and
// those that no poll was opened with.
func (w *Codelabs) SweepBallots(ctx context.Context, every time.Duration) {
	tick := w.Durable.Clock.NewTicker(every)
	defer tick.Stop()
	for {
		for _, secret := range w.Ballots.Old() {
			if ctx.Err() != nil {
				return
			}
			if used, err := w.usesSecret(secret); err == nil && !used {
				w.Ballots.Destroy(secret)
			} else if err != nil {
				w.Logger.Warn("looking for the poll of a secret failed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

func (w *Codelabs) usesSecret(secret string) (bool, error) {
	id, ok := codelabOfSecret(secret)
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
	return lab.View().secret() == secret, nil
}

// codelabOfSecret is the codelab of whose poll a secret is.
func codelabOfSecret(secret string) (id string, ok bool) {
	const uuid = 36
	if len(secret) <= uuid {
		return "", false
	}
	return secret[:uuid], true
}

// secret is that of the open poll; "" for none.
func (v *View) secret() string {
	if p := v.OpenPoll(); p != nil {
		return p.Secret
	}
	return ""
}

// PollAudience is how many attendees were connected while the poll was open, as this node
// knows it of the poll that was opened last; of others it is how many voted.
func (w Codelab) PollAudience(p *PollView) int {
	return max(w.Room.Gathered(gathering(p), FacilitatorID), int(p.Votes))
}

// gathering names the round of a poll.
func gathering(p *PollView) string { return fmt.Sprint(p.Id, " ", p.Round) }

// NotVoted are the attendees who are connected and have not voted.
func (w Codelab) NotVoted(v *View, p *PollView) []string {
	out := []string{}
	for _, person := range w.Room.Present() {
		if marks, _ := v.Voted(p, person); marks == 0 && person != FacilitatorID {
			out = append(out, person)
		}
	}
	slices.Sort(out)
	return out
}

// pollWatch follows the open poll of a codelab. Owned by its observer.
type pollWatch struct {
	secret string
}

// watchPoll looks at a view that was just shown: it lets the room count who is there for
// the open poll, closes that at its end, and destroys its secret behind the close.
func (o *observer) watchPoll(v *View) {
	secret, endsAt, round := "", int64(0), ""
	if p := v.OpenPoll(); p != nil {
		secret, endsAt, round = p.Secret, p.EndsAt, gathering(p)
	}
	o.room.Gather(round)
	if was := o.poll.secret; was != "" && was != secret && o.w.Ballots != nil {
		o.w.Ballots.Destroy(was)
	}
	o.poll.secret = secret
	o.pollEnds.set(o.w.Durable.Clock, endsAt, func() { o.w.closeDuePoll(o.id) })
}
