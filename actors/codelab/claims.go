package codelab

import (
	"errors"
	"time"

	"atelier/actors/durable"
)

const (
	// claimsStay is how long uploads stay claimed if the outcome of their command is unknown,
	// because the command may still be recorded.
	claimsStay = 2 * time.Minute
	// maxClaiming is the maximum number of submitted commands that wait for their claims.
	maxClaiming = 256
)

// Ask works like durable.Handle.Ask. It also protects the uploads that the command mentions until
// the codelab's reference to them is recorded. If the codelab has been deleted since w was looked
// up, Ask returns errGone. If the actor stopped for another reason, Ask returns durable.ErrRested,
// and the caller must look up the codelab again, because w's room and views would not show the
// result.
func (w Codelab) Ask(cmd Command) (any, uint64, error) {
	v, seq, err := w.ask(cmd)
	if errors.Is(err, durable.ErrRested) {
		if m, failed := w.all.List.Get(w.ID()); m == nil && failed == nil {
			err = errGone
		}
	}
	return v, seq, err
}

func (w Codelab) ask(cmd Command) (any, uint64, error) {
	release, err := w.claim(cmd.Body)
	if err != nil {
		return nil, 0, err
	}
	v, seq, err := w.handle.Ask(cmd)
	w.settle(release, err)
	return v, seq, err
}

// Submit works like durable.Handle.Submit, with claims as in Ask. It never blocks. A command that
// mentions uploads is sent once they are claimed, possibly after commands that were submitted
// later.
func (w Codelab) Submit(cmd Command, to durable.Replier) error {
	if len(Mentions(cmd.Body)) == 0 {
		return w.handle.Submit(cmd, to)
	}
	if w.all.claiming.Add(1) > maxClaiming {
		w.all.claiming.Add(-1)
		return durable.ErrBusy
	}
	go func() {
		defer w.all.claiming.Add(-1)
		c := claimant{w: w, to: to}
		var err error
		if c.release, err = w.claim(cmd.Body); err == nil {
			err = w.handle.Submit(cmd, c)
		}
		if err != nil { // the command was not sent
			if c.release != nil {
				c.release()
			}
			if to != nil {
				to.Reply(durable.Reply{Err: err})
			}
		}
	}()
	return nil
}

// claim claims the uploads that a command mentions. release is nil if the command mentions none.
func (w Codelab) claim(b Body) (release func(), err error) {
	names := Mentions(b)
	if len(names) == 0 {
		return nil, nil
	}
	return w.all.Files.ClaimKnown(names...)
}

// settle releases the claims of a command that was answered with err. If the outcome is certain, it
// releases them immediately, otherwise after claimsStay.
func (w Codelab) settle(release func(), err error) {
	switch {
	case release == nil:
	case err == nil || durable.Refused(err):
		release()
	default:
		w.Clock().AfterFunc(claimsStay, release)
	}
}

// claimant forwards the answer to a command, and releases the command's claims.
type claimant struct {
	w       Codelab
	to      durable.Replier
	release func()
}

// Reply implements durable.Replier.
func (c claimant) Reply(r durable.Reply) {
	if c.to != nil {
		c.to.Reply(r)
	}
	go c.w.settle(c.release, r.Err) // in the background, because settle waits for the store
}
