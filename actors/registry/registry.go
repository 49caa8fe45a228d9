package registry

import (
	"time"
	"unicode/utf8"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/naming"
)

// Caller is the acting account and its network address, for the audit trail.
type Caller struct {
	Type string // admin, participant or system
	ID   string
	// Owner is set for the owner of the installation, who can do everything.
	Owner         bool
	IP, UserAgent string
}

// Command is a command with its caller. It is plain data. B is an interface that all commands of
// the actor implement.
type Command[B any] struct {
	Caller Caller
	Body   B
}

// State is the data and the rules of one actor. B is the type of its commands, E that of its
// events, and V that of its view. Apply, Capture and Restore are the same as in durable.Core.
type State[B any, E Event, V any] interface {
	// Decide adds the decision on a command to d, and changes nothing else. An error is a
	// *durable.Rejection, which is sent to the caller.
	Decide(body B, d *Decision[E]) error
	Apply(seq uint64, event E)
	Capture() *V
	Restore(seq uint64, state []byte) error
}

// Event is a stored event.
type Event interface {
	durable.Message
	// Stamp sets the time of the event, in Unix milliseconds.
	Stamp(at int64)
}

// Decision collects the events, rows and audit records that a command produces.
type Decision[E Event] struct {
	durable.Decision[E]
	Caller Caller
	// Now is the time of the decision.
	Now time.Time

	trail *audit.Trail
}

// Event adds an event with the time of the decision.
func (d *Decision[E]) Event(e E) {
	e.Stamp(d.Now.UnixMilli())
	d.Events = append(d.Events, e)
}

// Record adds a record to the audit trail, and fills in the caller and the time. The record also
// appears in the log of each given participant.
func (d *Decision[E]) Record(r *audit.Record, participants ...string) {
	r.ActorType, r.ActorId, r.Ip, r.UserAgent = d.Caller.Type, d.Caller.ID, d.Caller.IP, d.Caller.UserAgent
	r.CreatedAt = d.Now.UnixMilli()
	d.Rows = append(d.Rows, d.trail.OwnRows(r, &audit.Own{}, participants...)...)
}

// CheckName returns the stored form of a record's name.
func CheckName(text string) (string, error) {
	name, ok := naming.Line(text)
	if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 80 {
		return "", durable.Reject(durable.Invalid, "name must be one line of 1 to 80 characters")
	}
	return name, nil
}

// Kind describes an actor to package durable. empty returns the actor's initial state. The caller
// must set EncodeState on the result. No command is marked as repeatable, so a command is not sent
// again if its answer is lost. T is the struct of an event, and P is the pointer to it.
func Kind[S State[B, P, V], B, T any, P interface {
	*T
	Event
}, V any](name string, words *durable.Vocabulary[B], trail *audit.Trail, empty func(id string) S) durable.Kind[Command[B], P, V] {
	return durable.Kind[Command[B], P, V]{
		Name: name,
		New: func(id string) durable.Core[Command[B], P, V] {
			return NewCore(empty(id), trail)
		},
		Codec: durable.JSONCodec(words,
			func(c Command[B]) (B, Caller) { return c.Body, c.Caller },
			func(body B, caller Caller) Command[B] { return Command[B]{caller, body} },
			func(Command[B]) bool { return false },
		),
		AppendEvent: durable.AppendMessage[P],
		ParseEvent:  durable.ParseMessage[P],
	}
}

// NewCore returns the core of an actor with this state. The core has no side effects.
func NewCore[B any, E Event, V any](s State[B, E, V], trail *audit.Trail) durable.Core[Command[B], E, V] {
	return &core[B, E, V]{s, trail}
}

type core[B any, E Event, V any] struct {
	State[B, E, V]
	trail *audit.Trail
}

// Decide implements durable.Core.
func (c *core[B, E, V]) Decide(cmd Command[B], env durable.Env) (durable.Decision[E], error) {
	if any(cmd.Body) == nil {
		return durable.Decision[E]{}, durable.Reject(durable.Invalid, "unknown command")
	}
	d := &Decision[E]{Caller: cmd.Caller, Now: env.Now, trail: c.trail}
	if err := c.State.Decide(cmd.Body, d); err != nil {
		return durable.Decision[E]{}, err
	}
	return d.Decision, nil
}
