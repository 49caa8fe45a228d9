package token

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
)

// shard supervises the actors of a part of the tokens and checkout sessions. All fields are owned
// by its goroutine.
type shard struct {
	vault    *Vault
	children map[seal.Name]*child
	byPID    map[string]*child
	idle     []*child // children without a command; the longest idle one is the first
	troubled map[seal.Name]*trouble
	wheel    wheel
	// tokens and sessions are the properties of child actors. Their producers refer to the shard,
	// so each shard has its own properties.
	tokens, sessions *actor.Props
}

// child is one actor in memory.
type child struct {
	name seal.Name
	pid  *actor.PID
	open []*command // commands sent to the actor and not finished
	// participant is the one whose commands an idle actor can get, and turns counts the wheel's
	// turns since its last command.
	participant string
	turns       int
}

// trouble is the state of a token whose actor failed.
type trouble struct {
	failures    int
	until       time.Duration // the Clock's uptime at which the suspension ends
	quarantined bool
}

const (
	// maxWaiting bounds the commands that wait for one token.
	maxWaiting = 256
	// maxIdle bounds the idle actors per shard. An idle actor needs about 1.5 KiB.
	maxIdle = 16
	// maxIdleTurns is the number of turns of the wheel after which an idle actor is stopped.
	maxIdleTurns = 2
	// maxTroubled bounds the number of tokens per shard with recorded failures.
	maxTroubled = 1024
)

// Messages to a shard. A child's messages identify the child, so that messages from an earlier
// incarnation do not affect a later one.
type (
	// finished reports that a command was answered, and how the token changed.
	finished struct {
		pid     *actor.PID
		cmd     *command
		ends    int64 // the time at which the token expires, Unix ms; 0 if unknown
		created bool
		over    bool // the token has just ended
		damaged bool
		useful  bool // the actor remembers what the next command probably needs
	}
	// turned passes the time to the wheel.
	turned struct{ now time.Time }
	// counted contains the number of live tokens found at startup, by the second of their expiry.
	counted struct{ ends map[int64]int }
	// kill stops an incarnation immediately; for tests.
	kill struct{ name seal.Name }
)

func newShard(v *Vault) *shard {
	return &shard{
		vault: v, children: map[seal.Name]*child{}, byPID: map[string]*child{},
		troubled: map[seal.Name]*trouble{}, wheel: wheel{},
	}
}

// Receive handles one message.
func (s *shard) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *command:
		s.command(ctx, m)
	case *finished:
		s.finished(ctx, m)
	case turned:
		s.vault.live.Add(int64(-s.wheel.turn(m.now)))
		s.forgive()
		s.stopIdle(ctx)
	case counted:
		for second, n := range m.ends {
			s.wheel.add(second, n)
			s.vault.live.Add(int64(n))
		}
	case kill:
		if c := s.children[m.name]; c != nil {
			// The next command gets a new incarnation, although a write of this one can still be in
			// progress.
			s.stop(ctx, c)
		}
	case *actor.Started:
		v, parent := s.vault, ctx.Self()
		s.tokens = actor.PropsFromProducer(func() actor.Actor { return &tokenActor{vault: v, parent: parent} }, actor.WithDispatcher(inline{}))
		s.sessions = actor.PropsFromProducer(func() actor.Actor { return &sessionActor{vault: v, parent: parent} }, actor.WithDispatcher(inline{}))
	case *actor.Terminated:
		s.gone(m.Who)
	}
}

func (s *shard) command(ctx actor.Context, cmd *command) {
	if t := s.troubled[cmd.name]; t != nil && s.vault.opts.Clock.Uptime() < t.until {
		cmd.answer(result{err: t.err()})
		return
	}
	c := s.children[cmd.name]
	// While an actor is idle, another participant's command gets an actor of its own, as for an
	// unknown token. Otherwise the refusal would be faster, and reveal that the token exists.
	foreign := c != nil && len(c.open) == 0 && c.participant != cmd.attempt.Participant
	if c == nil || foreign {
		props := s.tokens
		if cmd.end {
			props = s.sessions
		}
		c = &child{name: cmd.name, pid: ctx.Spawn(props)}
		s.byPID[c.pid.Id] = c
		if !foreign {
			s.children[cmd.name] = c
		}
		s.vault.resident.Add(1)
	}
	if len(c.open) >= maxWaiting {
		cmd.answer(result{err: durable.ErrBusy})
		return
	}
	s.busy(c)
	c.open = append(c.open, cmd)
	ctx.Send(c.pid, cmd)
}

// busy removes a child from the idle ones.
func (s *shard) busy(c *child) {
	if i := slices.Index(s.idle, c); i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
	}
}

// drop removes a child that gets no further commands.
func (s *shard) drop(c *child) {
	s.busy(c)
	if s.children[c.name] == c {
		delete(s.children, c.name)
	}
}

// keep keeps a child without commands for a short time, because tokens are usually used soon after
// they were created. The first use then needs neither a new actor nor a read of the token's record
// and session.
func (s *shard) keep(ctx actor.Context, c *child, participant string) {
	c.participant, c.turns = participant, 0
	s.idle = append(s.idle, c)
	if len(s.idle) > maxIdle {
		s.stop(ctx, s.idle[0])
	}
}

// stopIdle is called at each turn of the wheel.
func (s *shard) stopIdle(ctx actor.Context) {
	for _, c := range slices.Clone(s.idle) {
		if c.turns++; c.turns == maxIdleTurns {
			s.stop(ctx, c)
		}
	}
}

func (s *shard) stop(ctx actor.Context, c *child) {
	s.drop(c)
	ctx.Stop(c.pid)
}

// finished updates the counts. If no command waits for the child, finished keeps or stops it. The
// child's mailbox is then empty, because only the shard sends to it.
func (s *shard) finished(ctx actor.Context, m *finished) {
	second := m.ends / 1000
	switch {
	case m.created && s.wheel.add(second, 1):
		s.vault.live.Add(1)
	case m.over && s.wheel.add(second, -1):
		s.vault.live.Add(-1)
	}
	c := s.byPID[m.pid.Id]
	if c == nil {
		return
	}
	if m.damaged {
		s.quarantine(c.name)
	}
	for i, cmd := range c.open {
		if cmd == m.cmd {
			c.open = append(c.open[:i], c.open[i+1:]...)
			break
		}
	}
	switch {
	case len(c.open) > 0 && !m.damaged:
	case m.useful && s.children[c.name] == c:
		s.keep(ctx, c, m.cmd.attempt.Participant)
	default:
		s.stop(ctx, c)
	}
}

// gone is called for each stopped child. It answers the child's open commands with an error that
// leaves their outcome unknown.
func (s *shard) gone(pid *actor.PID) {
	c := s.byPID[pid.Id]
	if c == nil {
		return
	}
	delete(s.byPID, pid.Id)
	s.drop(c)
	s.vault.resident.Add(-1)
	for _, cmd := range c.open {
		err := durable.ErrUnavailable
		if t := s.troubled[c.name]; t != nil {
			err = t.err()
		}
		cmd.answer(result{err: err})
	}
}

// failed is called after a child panicked. The child is not restarted, because its state is in the
// store. The next command after the suspension spawns a new child.
func (s *shard) failed(pid *actor.PID) {
	c := s.byPID[pid.Id]
	if c == nil {
		return
	}
	s.drop(c)
	o := &s.vault.opts
	t := s.trouble(c.name)
	t.failures++
	if t.failures > o.MaxFailures {
		s.quarantine(c.name)
		return
	}
	t.until = o.Clock.Uptime() + min(o.BackoffMax, o.BackoffMin<<(t.failures-1))
	s.vault.log.Warn("the actor of a token failed; it starts again after a pause", "failures", t.failures)
}

func (s *shard) trouble(name seal.Name) *trouble {
	t := s.troubled[name]
	if t == nil {
		if len(s.troubled) >= maxTroubled {
			for other := range s.troubled { // any entry, because all of them expire soon
				s.forget(other)
				break
			}
		}
		t = &trouble{}
		s.troubled[name] = t
	}
	return t
}

func (s *shard) quarantine(name seal.Name) {
	t := s.trouble(name)
	t.until = s.vault.opts.Clock.Uptime() + s.vault.opts.QuarantineFor
	if !t.quarantined {
		t.quarantined = true
		s.vault.quarantined.Add(1)
		s.vault.log.Error("token quarantined, because its record is damaged or its actor failed too often", "failures", t.failures)
	}
}

// forgive forgets failures whose suspension ended longer than BackoffMax ago.
func (s *shard) forgive() {
	now := s.vault.opts.Clock.Uptime()
	for name, t := range s.troubled {
		if now-t.until > s.vault.opts.BackoffMax {
			s.forget(name)
		}
	}
}

func (s *shard) forget(name seal.Name) {
	if s.troubled[name].quarantined {
		s.vault.quarantined.Add(-1)
	}
	delete(s.troubled, name)
}

func (t *trouble) err() error {
	if t.quarantined {
		return ErrDamaged
	}
	return durable.ErrUnavailable
}

// strategy stops a child that panicked. The library's own strategies would restart it immediately.
type strategy struct{ shard *shard }

// HandleFailure is called on the shard's goroutine. The reason is ignored, because its text could
// contain the data in use.
func (s strategy) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, pid *actor.PID, _ *actor.RestartStatistics, _ any, _ any) {
	s.shard.failed(pid)
	supervisor.StopChildren(pid)
}
