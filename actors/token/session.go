package token

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// sessionName returns the name of a checkout session, from participant and checkout hash. The name
// is also the key of the session's row, which is possible because neither part is secret. It does
// not depend on a server key or stream, so that an ended session stays ended after a key change or
// a restore.
func sessionName(participant string, checkout []byte) seal.Name {
	b := binary.AppendUvarint(make([]byte, 0, 80), uint64(len(participant)))
	return sha256.Sum256(append(append(b, participant...), checkout...))
}

// checkoutSession is a session's row as read.
type checkoutSession struct {
	raw    []byte      // nil if the row does not exist
	record *pb.Session // never nil
	over   bool
}

func (v *Vault) session(participant string, checkout []byte) (checkoutSession, error) {
	s := checkoutSession{record: &pb.Session{}}
	name := sessionName(participant, checkout)
	raw, err := v.get(v.tables.sessions, name[:])
	if err != nil || raw == nil {
		return s, err
	}
	s.raw = raw
	if err := s.record.Decode(raw); err != nil || s.record.Participant != participant {
		return s, fmt.Errorf("%w: checkout session", seal.ErrDamaged)
	}
	// An open session from another stream is void: the store is a restored backup.
	s.over = s.record.EndedAt != 0 || s.record.Stream != v.opts.Stream
	return s, nil
}

// ends returns the expiry of the session, which is SessionCap after it was opened. For a session
// that is not open yet, it is SessionCap after now.
func (s *checkoutSession) ends(v *Vault, now time.Time) time.Time {
	if s.raw == nil {
		return now.Add(v.opts.SessionCap)
	}
	return time.UnixMilli(s.record.OpenedAt).Add(v.opts.SessionCap)
}

func (s *checkoutSession) precondition() durable.Precondition {
	if s.raw == nil {
		return durable.Absent()
	}
	return durable.Unchanged(s.raw)
}

// openSession returns the row of an open session. Its time of opening also determines when the
// session ends, so the row is kept after that end. The row's precondition fails if the session ends
// concurrently, so an ended session is never opened again.
func (v *Vault) openSession(s checkoutSession, participant string, checkout []byte, now time.Time) (durable.Row, error) {
	record := s.record
	if s.raw == nil {
		record = &pb.Session{Participant: participant, OpenedAt: now.UnixMilli(), Stream: v.opts.Stream}
	}
	return v.sessionRow(record, checkout, s.ends(v, now).Sub(now)+v.opts.RememberSessions, s.precondition())
}

// sessionCheck returns a row that makes an append fail if a token's session has changed since it
// was read.
func (v *Vault) sessionCheck(s checkoutSession, t *pb.Token) durable.Row {
	name := sessionName(t.Participant, t.Checkout)
	return durable.Row{Table: v.tables.sessions, Key: name[:], Precondition: s.precondition(), CheckOnly: true}
}

func (v *Vault) sessionRow(record *pb.Session, checkout []byte, life time.Duration, precondition durable.Precondition) (durable.Row, error) {
	value := pbwire.Encode(record)
	name := sessionName(record.Participant, checkout)
	return durable.Row{Table: v.tables.sessions, Key: name[:], Value: value, TTL: life, Precondition: precondition}, nil
}

// sessionActor ends a checkout session by changing the session's row. All fields are owned by its
// goroutine.
type sessionActor struct {
	vault  *Vault
	parent *actor.PID
	busy   *ending
	queue  []*command
}

// ending is the end of a session while it is being committed.
type ending struct {
	cmd    *command
	rounds int
	err    error
}

// Receive handles one message.
func (a *sessionActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *command:
		a.queue = append(a.queue, m) // the shard bounds the queue
	case *ending:
		if m != a.busy {
			return
		}
		a.busy = nil
		if errors.Is(m.err, durable.ErrConflict) && m.rounds < maxRetries {
			a.end(ctx, m.cmd, m.rounds+1)
		} else {
			a.finish(ctx, m.cmd, m.err)
		}
	}
	for a.busy == nil && len(a.queue) > 0 {
		cmd := a.queue[0]
		a.queue = a.queue[1:]
		a.end(ctx, cmd, 0)
	}
}

func (a *sessionActor) end(ctx actor.Context, cmd *command, rounds int) {
	v, participant, now := a.vault, cmd.attempt.Participant, a.vault.opts.Clock.Now()
	checkout := cmd.attempt.Checkout[:]
	s, err := v.session(participant, checkout)
	if err != nil {
		a.finish(ctx, cmd, err)
		return
	}
	if s.record.EndedAt != 0 {
		a.finish(ctx, cmd, nil)
		return
	}
	record := &pb.Session{
		Participant: participant, OpenedAt: s.record.OpenedAt, EndedAt: now.UnixMilli(), EndedBy: cmd.caller.Participant, Stream: v.opts.Stream,
	}
	row, err := v.sessionRow(record, checkout, v.opts.RememberSessions, s.precondition())
	if err != nil {
		a.finish(ctx, cmd, err)
		return
	}
	rows := append(v.audit("token_session_end", cmd, pb.Policy_POLICY_SESSION, participant, now, map[string]string{
		"participant": participant, "checkout_id": cmd.checkout,
	}), row)
	e := &ending{cmd: cmd, rounds: rounds}
	self := ctx.Self()
	if err := v.opts.Journal.Append(rows, func(err error) { e.err = err; v.completions.add(self, e) }); err != nil {
		a.finish(ctx, cmd, err)
		return
	}
	a.busy = e
}

func (a *sessionActor) finish(ctx actor.Context, cmd *command, err error) {
	if errors.Is(err, seal.ErrDamaged) {
		err = durable.ErrUnavailable
	}
	cmd.answer(result{err: err})
	ctx.Send(a.parent, &finished{pid: ctx.Self(), cmd: cmd})
}
