package token

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/credential"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// Caller describes the caller, for the audit trail. The caller's permissions were already checked.
type Caller struct {
	// Participant is the id of the authenticated participant.
	Participant string
	IP          string
	UserAgent   string
}

// command is one request that passes through the shard and the token actor. If it is answered more
// than once, only the first answer reaches the caller.
type command struct {
	name     seal.Name
	caller   Caller
	attempt  Attempt // the token's actor sets Now, SessionEnded and ShareOver
	token    seal.Token
	create   *creation // set for a new token, otherwise nil
	end      bool      // set to end a session
	checkout string

	reply    chan result // capacity 1
	open     *atomic.Int64
	answered atomic.Bool
	left     atomic.Bool // the caller no longer waits
}

// creation is a new token, ready to be stored.
type creation struct {
	key     []byte
	ring    *seal.Ring
	version *seal.Version
	record  *pb.Token
	kept    *durable.Row // the answer kept for the idempotency key, or nil
}

// result is the answer to a command.
type result struct {
	credential seal.Secret
	display    *pb.Display
	record     *pb.Token
	state      State
	err        error
}

// answer answers the command, unless it was already answered. Until then the command counts as
// open, even if its caller no longer waits. The number of commands that wait for a stuck journal is
// therefore bounded, too.
func (c *command) answer(r result) {
	if c.answered.CompareAndSwap(false, true) {
		c.open.Add(-1)
		c.reply <- r
		if c.left.Load() {
			c.forget()
		}
	} else {
		r.credential.Wipe()
	}
}

// leave is called when the caller no longer waits for the answer. It wipes the credential of an
// answer that has arrived. If the answer arrives later, answer wipes it.
func (c *command) leave() {
	c.left.Store(true)
	c.forget()
}

func (c *command) forget() {
	select {
	case r := <-c.reply:
		r.credential.Wipe()
	default:
	}
}

// Format redacts commands, because printing a struct does not call the methods of
// its fields.
func (*command) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[command]")) }

// Format redacts the answer.
func (result) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[result]")) }

// ErrDamaged means that the token is quarantined, because its record is damaged or its actor failed
// too often. Operations on it are refused.
var ErrDamaged = errors.New("the token is quarantined")

// Issue is a request to tokenize.
type Issue struct {
	// Participant is the id of the bound participant.
	Participant string
	Checkout    string
	Credential  *credential.Credential
	Policy      pb.Policy
	// Life is the maximum lifetime of the token.
	Life time.Duration
	// IdempotencyKey makes a repeated request return the same token; "" for none.
	IdempotencyKey string
	// Request is the request body in canonical form, which must be the same when the key is
	// repeated. It is unused without an IdempotencyKey.
	Request []byte
}

// Use is an operation on a token.
type Use struct {
	Token seal.Token
	// Participant is the id of the participant for which the caller acts.
	Participant string
	Checkout    string
}

// Status is the result of an introspection.
type Status struct {
	Policy    pb.Policy
	State     State
	ExpiresAt int64 // Unix milliseconds
	Display   *pb.Display
}
