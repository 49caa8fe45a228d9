package token

import (
	"crypto/hmac"
	"fmt"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// answerLife is for how long a repeated request gets the same token.
const answerLife = 24 * time.Hour

// keptAnswer is what is kept of an earlier request with the same idempotency
// key.
type keptAnswer struct {
	token seal.Token // "" when nothing is kept
	row   []byte     // the key of its row
	raw   []byte     // its value, for the guard
}

// keptAnswer finds the answer to an earlier request. Only hashes and a sealed
// token are stored: without the idempotency key nobody gets at it.
func (v *Vault) keptAnswer(c Caller, in Issue) (keptAnswer, error) {
	var kept keptAnswer
	if in.IdempotencyKey == "" {
		return kept, nil
	}
	for _, version := range v.ring.Load().Versions() {
		row := version.AnswerKey(c.Participant, in.IdempotencyKey)
		raw, err := v.get(v.tables.answers, row)
		if err != nil {
			return kept, err
		}
		if raw == nil {
			continue
		}
		clear, err := version.AnswerOpener(c.Participant, in.IdempotencyKey).Open(seal.ForAnswer, row, raw)
		if err != nil {
			return kept, fmt.Errorf("kept answer: %w", err)
		}
		defer clear.Wipe()
		var a pb.Answer
		if err := a.UnmarshalVT(clear); err != nil {
			return kept, fmt.Errorf("kept answer: %w", seal.ErrDamaged)
		}
		if !hmac.Equal(a.Request, version.RequestHash(c.Participant, in.IdempotencyKey, in.Request)) {
			return kept, IsConflict
		}
		return keptAnswer{seal.Token(a.Token), row, raw}, nil
	}
	return kept, nil
}

// keepAnswer is the row that keeps a new answer, in place of what was there.
func (v *Vault) keepAnswer(c Caller, in Issue, before keptAnswer, t seal.Token) (*durable.Row, error) {
	version := v.ring.Load().Newest()
	row := version.AnswerKey(c.Participant, in.IdempotencyKey)
	guard := durable.Absent()
	if string(before.row) == string(row) {
		guard = durable.Unchanged(before.raw)
	}
	clear, err := (&pb.Answer{
		Request: version.RequestHash(c.Participant, in.IdempotencyKey, in.Request), Token: string(t),
	}).MarshalVT()
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	sealed := version.AnswerOpener(c.Participant, in.IdempotencyKey).Seal(seal.ForAnswer, row, clear)
	return &durable.Row{Table: v.tables.answers, Key: row, Value: sealed, TTL: answerLife, Guard: guard}, nil
}
