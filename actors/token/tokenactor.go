package token

import (
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/durable"
	"atelier/actors/token/credential"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// tokenActor is one incarnation of one token. It decides one command at a time, and answers when
// the result is stored. All fields are owned by its goroutine.
type tokenActor struct {
	vault  *Vault
	parent *actor.PID

	known *view // what the last command left; nil if the next one must read the token
	busy  *work // the command that waits for the journal; nil if none does
	queue []*command
	// damaged means that the actor is being stopped, and answers further commands with ErrDamaged.
	damaged bool
}

// view is an active token and its checkout session as the last operation read or wrote them. It
// can be older than the store, because other nodes write, too.
type view struct {
	*stored
	session checkoutSession
	ring    *seal.Ring // the keys with which the record was verified
}

// work is a command whose result is being committed.
type work struct {
	cmd    *command
	seen   *view // what the command was decided on; nil for a new token
	rows   []durable.Row
	next   *stored // the stored record after the commit; nil if the record does not change
	left   *view   // for the next command, if the commit succeeds
	reply  result
	over   bool
	rounds int
	err    error // the error of the journal
}

// Format redacts the work.
func (*work) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[work]")) }

// Receive handles one message.
func (a *tokenActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *command:
		if a.busy != nil {
			a.queue = append(a.queue, m) // the shard bounds the queue
			return
		}
		a.work(ctx, &work{cmd: m})
	case *work:
		if m == a.busy {
			a.landed(ctx, m)
		}
	}
	for a.busy == nil && len(a.queue) > 0 {
		cmd := a.queue[0]
		a.queue = a.queue[1:]
		a.work(ctx, &work{cmd: cmd})
	}
}

// work decides a command and sends the resulting rows to the journal.
func (a *tokenActor) work(ctx actor.Context, w *work) {
	if a.damaged {
		a.finish(ctx, w, result{err: ErrDamaged})
		return
	}
	var err error
	w.cmd.attempt.Now = a.vault.opts.Clock.Now()
	if w.cmd.create != nil {
		err = a.create(w)
	} else {
		err = a.use(w)
	}
	switch {
	case err != nil:
		a.fail(ctx, w, err)
	case len(w.rows) == 0:
		a.finish(ctx, w, w.reply)
	default:
		a.append(ctx, w)
	}
}

func (a *tokenActor) append(ctx actor.Context, w *work) {
	completions, self := a.vault.completions, ctx.Self()
	err := a.vault.opts.Journal.Append(w.rows, func(err error) {
		w.err = err
		completions.add(self, w)
	})
	if err != nil {
		a.fail(ctx, w, err)
		return
	}
	a.busy = w
}

// landed is called with the result of an append.
func (a *tokenActor) landed(ctx actor.Context, w *work) {
	a.busy = nil
	switch {
	case w.err == nil:
		a.vault.opts.Audit.Committed(w.rows)
		a.known = w.left
		a.finish(ctx, w, w.reply)
	case errors.Is(w.err, durable.ErrConflict) && w.cmd.create == nil && w.rounds < maxRetries:
		// The record or the checkout session was changed: read both and decide again.
		w.reply.credential.Wipe()
		a.known = nil
		a.work(ctx, &work{cmd: w.cmd, rounds: w.rounds + 1})
	default:
		a.known = nil // it is unknown whether the new record is stored, so read it again
		a.fail(ctx, w, w.err)
	}
}

// create stores a new token.
func (a *tokenActor) create(w *work) error {
	v, c := a.vault, w.cmd.create
	now := w.cmd.attempt.Now
	s, err := v.session(c.record.Participant, c.record.Checkout)
	if err != nil {
		return err
	}
	if s.over {
		return IsSessionEnded
	}
	row, err := v.row(c.key, c.version, c.record, now, durable.Absent())
	if err != nil {
		return err
	}
	w.rows = append(v.audit("token_create", w.cmd, c.record.Policy, reference(c.key), now, map[string]string{
		"participant": c.record.Participant, "checkout_id": w.cmd.checkout, "policy": PolicyName(c.record.Policy),
	}), row)
	if Ends(PolicyOf(c.record.Policy)) {
		if c.record.ExpiresAt > s.ends(v, now).UnixMilli() {
			return durable.ErrConflict // the session was opened meanwhile, so decide again
		}
		open, err := v.openSession(s, c.record.Participant, c.record.Checkout, now)
		if err != nil {
			return err
		}
		w.rows = append(w.rows, open)
	}
	if c.kept != nil {
		w.rows = append(w.rows, *c.kept)
	}
	w.next = &stored{c.key, row.Value, c.record, c.version}
	if !Ends(PolicyOf(c.record.Policy)) { // such a token would have changed the session
		w.left = &view{w.next, s, c.ring}
	}
	return nil
}

// use decides an operation on an existing token. A use of the token is first decided on what the
// last command left, because the commit verifies that record and session are still the same.
// Everything else, such as a refusal, is decided on what the store contains now.
func (a *tokenActor) use(w *work) error {
	if a.known != nil && a.known.serves(w.cmd, a.vault.ring.Load()) {
		w.seen = a.known
		if err := a.decide(w); err == nil && w.reply.credential != nil {
			return nil
		}
		w.reply.credential.Wipe()
		*w = work{cmd: w.cmd, rounds: w.rounds}
	}
	a.known = nil
	var err error
	if w.seen, err = a.read(w.cmd.token); err != nil {
		return err
	}
	return a.decide(w)
}

// serves reports whether a command can be decided on the view. Another participant's command always
// reads the store. Otherwise its refusal would not take as long as for an unknown token.
func (k *view) serves(cmd *command, ring *seal.Ring) bool {
	return cmd.attempt.Operation == Detokenize && k.record.Participant == cmd.attempt.Participant && k.ring == ring
}

// read reads a token and the session of its own checkout, whichever checkout the caller has given.
func (a *tokenActor) read(t seal.Token) (*view, error) {
	ring := a.vault.ring.Load()
	k, err := a.vault.load(ring, t)
	if err != nil {
		return nil, err
	}
	s, err := a.vault.session(k.record.Participant, k.record.Checkout)
	if err != nil {
		return &view{stored: k}, err
	}
	return &view{k, s, ring}, nil
}

// decide decides an operation on what was seen.
func (a *tokenActor) decide(w *work) error {
	v, cmd, k, s := a.vault, w.cmd, w.seen, w.seen.session
	var err error
	cmd.attempt.SessionEnded = s.over
	var share *seal.Share
	if k.record.Participant == cmd.attempt.Participant || cmd.attempt.Operation == Probe {
		// For another participant's token, the share is not looked up. Otherwise the refusal would
		// take longer than for an unknown token.
		if share, err = v.findShare(k.record.Share); err != nil {
			return err
		}
		cmd.attempt.ShareOver = share == nil && len(k.record.Share) > 0
	}
	verdict := Decide(k.record, cmd.attempt, v.opts.Rules)
	w.reply = result{record: k.record, state: verdict.State}
	if verdict.Refusal != NotRefused {
		w.reply.err = verdict.Refusal
		if verdict.Refusal == NotFound {
			if err := v.levelOut(k.stored); err != nil {
				return err
			}
		}
	} else if err := a.open(w, verdict, share); errors.Is(err, seal.ErrOver) {
		w.reply = result{err: IsExpired, state: Expired} // the token has just expired
		return nil
	} else if err != nil {
		return err
	}
	if verdict.Record == "" {
		return nil
	}
	now := cmd.attempt.Now
	more := map[string]string{"participant": k.record.Participant, "checkout_id": cmd.checkout}
	if verdict.Refusal != NotRefused || cmd.attempt.Operation != Detokenize {
		more["state"] = string(verdict.State)
	}
	if verdict.Security {
		more["security"] = "true"
	}
	w.rows = append(v.audit(verdict.Record, cmd, k.record.Policy, reference(k.key), now, more), v.webhookRows(verdict.Record, cmd, k.record)...)
	if w.reply.credential != nil {
		// This row makes the append fail if the session has ended meanwhile. After the end of a
		// session is acknowledged, no credential is returned, even to a caller that read the token
		// before.
		w.rows = append(w.rows, v.sessionCheck(s, k.record))
	}
	precondition := durable.Unchanged(k.raw)
	if verdict.Next == nil {
		if w.reply.credential != nil {
			w.left = k
		}
		w.rows = append(w.rows, durable.Row{Table: v.tables.tokens, Key: k.key, Precondition: precondition, CheckOnly: true})
		return nil
	}
	row, err := v.row(k.key, k.version, verdict.Next, now, precondition)
	if err != nil {
		return err
	}
	w.rows = append(w.rows, row)
	w.next = &stored{k.key, row.Value, verdict.Next, k.version}
	if w.over = verdict.Next.State != pb.State_STATE_ACTIVE; !w.over {
		w.left = &view{w.next, s, k.ring}
	}
	return nil
}

// open decrypts the credential, or for Introspect the display data. It runs before the use is
// recorded, so that a damaged seal does not use up the token.
func (a *tokenActor) open(w *work, verdict Verdict, share *seal.Share) error {
	k, op := w.seen, w.cmd.attempt.Operation
	if op != Detokenize && op != Introspect {
		return nil
	}
	binding := bound(k.key, k.record)
	if op == Introspect {
		clear, err := k.version.Opener(w.cmd.token).Open(seal.ForDisplay, binding, k.record.Display)
		if err != nil {
			return err
		}
		w.reply.display = &pb.Display{}
		if err := w.reply.display.Decode(clear); err != nil {
			return fmt.Errorf("%w: display", seal.ErrDamaged)
		}
		return nil
	}
	opener, err := k.opener(w.cmd.token, share)
	if err != nil {
		return err
	}
	clear, err := opener.Open(seal.ForCredential, binding, k.record.Credential)
	if err != nil {
		return err
	}
	w.reply.credential = clear
	if verdict.DropSensitive {
		less, changed, err := credential.WithoutSensitive(clear)
		if err != nil {
			return fmt.Errorf("%w: credential", seal.ErrDamaged)
		}
		if changed {
			verdict.Next.Credential = opener.Seal(seal.ForCredential, binding, less)
			seal.Secret(less).Wipe()
		}
	}
	return nil
}

// fail answers a command that could not be executed. A damaged record or seal also quarantines the
// token.
func (a *tokenActor) fail(ctx actor.Context, w *work, err error) {
	w.reply.credential.Wipe()
	if !errors.Is(err, seal.ErrDamaged) {
		a.finish(ctx, w, result{err: err})
		return
	}
	now := w.cmd.attempt.Now
	target, policy, more := "", pb.Policy_POLICY_UNSPECIFIED, map[string]string{"security": "true"}
	if k := w.seen; k != nil {
		target, policy = reference(k.key), k.record.Policy
		more["participant"] = k.record.Participant
	}
	a.known, a.damaged = nil, true
	rows := a.vault.audit("token_quarantine", w.cmd, policy, target, now, more)
	log := a.vault.log
	record := func(err error) {
		if err != nil {
			log.Error("recording the quarantine of a token in the audit trail failed", "error", err)
		}
	}
	if err := a.vault.opts.Journal.Append(rows, record); err != nil {
		record(err)
	}
	w.cmd.answer(result{err: ErrDamaged})
	ctx.Send(a.parent, &finished{pid: ctx.Self(), cmd: w.cmd, damaged: true})
}

// finish answers a command and notifies the parent.
func (a *tokenActor) finish(ctx actor.Context, w *work, r result) {
	w.cmd.answer(r)
	f := &finished{pid: ctx.Self(), cmd: w.cmd, useful: a.known != nil}
	if w.next != nil && w.err == nil {
		f.ends = w.next.record.ExpiresAt
		f.created, f.over = w.cmd.create != nil, w.over
	}
	ctx.Send(a.parent, f)
}
