package token

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
)

// deaf is an actor's context that drops all messages.
type deaf struct{ actor.Context }

func (deaf) Self() *actor.PID     { return nil }
func (deaf) Send(*actor.PID, any) {}

// An opened credential that does not reach its caller is wiped, for whatever reason it is not
// delivered.
func TestAnUndeliveredCredentialIsWiped(t *testing.T) {
	w := newWorld(t)
	for name, lose := range map[string]func(*command, result){
		"the caller left before the reply": func(c *command, r result) { c.leave(); c.answer(r) },
		"the caller left after the reply":  func(c *command, r result) { c.answer(r); c.leave() },
		"the call was already answered":    func(c *command, r result) { c.answer(result{err: durable.ErrUnavailable}); c.answer(r) },
		"the use cannot be recorded": func(c *command, r result) {
			(&tokenActor{vault: w.vault}).fail(deaf{}, &work{cmd: c, reply: r}, durable.ErrBusy)
		},
		"the disk refused the use": func(c *command, r result) {
			(&tokenActor{vault: w.vault}).landed(deaf{}, &work{cmd: c, reply: r, err: durable.ErrReadOnly})
		},
		"the use conflicts with another": func(c *command, r result) {
			c.token, c.attempt.Operation = seal.NewToken(seal.Production), Detokenize
			(&tokenActor{vault: w.vault}).landed(deaf{}, &work{cmd: c, reply: r, err: durable.ErrConflict})
		},
	} {
		secret := seal.Secret("4242424242424242")
		c := &command{reply: make(chan result, 1), open: &atomic.Int64{}}
		lose(c, result{credential: secret})
		if bytes.Contains(secret, []byte("4")) {
			t.Errorf("%s: the credential is still in memory", name)
		}
	}
}
