package token

import (
	"bytes"
	"crypto/hmac"
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// keptAnswer is the stored answer to an earlier request with the same idempotency key.
type keptAnswer struct {
	token    seal.Token // "" if no answer is stored
	conflict bool       // the earlier request was different
	row      []byte     // the key of the answer's row
	raw      []byte     // the value of the row, for the precondition
}

// sealedAnswer is the prefix of an answer, before the id of its share.
const sealedAnswer = "answer2\x00"

// keptAnswer finds the answer to an earlier request. The store contains only hashes and a sealed
// token. The seal can be opened only with the idempotency key, and only until the token's share
// ends.
func (v *Vault) keptAnswer(c Caller, in Issue) (keptAnswer, error) {
	if in.IdempotencyKey == "" {
		return keptAnswer{}, nil
	}
	for _, version := range v.ring.Load().Versions() {
		kept := keptAnswer{row: version.AnswerKey(c.Participant, in.IdempotencyKey)}
		var err error
		if kept.raw, err = v.get(v.tables.answers, kept.row); err != nil {
			return keptAnswer{}, err
		}
		if kept.raw == nil {
			continue
		}
		answer, err := v.openAnswer(version, c, in, kept)
		switch {
		case errors.Is(err, seal.ErrOver): // the share has ended, and with it the token
			return kept, nil
		case err != nil:
			return keptAnswer{}, fmt.Errorf("kept answer: %w", err)
		}
		kept.token = seal.Token(answer.Token)
		kept.conflict = !hmac.Equal(answer.Request, version.RequestHash(c.Participant, in.IdempotencyKey, in.Request))
		return kept, nil
	}
	return keptAnswer{}, nil
}

func (v *Vault) openAnswer(version *seal.Version, c Caller, in Issue, kept keptAnswer) (*pb.Answer, error) {
	n := len(sealedAnswer) + len(seal.ShareID{})
	if len(kept.raw) < n || !bytes.HasPrefix(kept.raw, []byte(sealedAnswer)) {
		return nil, seal.ErrDamaged
	}
	share, err := v.findShare(kept.raw[len(sealedAnswer):n])
	switch {
	case err != nil:
		return nil, err
	case share == nil:
		return nil, seal.ErrOver
	}
	opener, err := version.AnswerOpener(c.Participant, in.IdempotencyKey, share)
	if err != nil {
		return nil, err
	}
	clear, err := opener.Open(seal.ForAnswer, slices.Concat(kept.row, kept.raw[:n]), kept.raw[n:])
	if err != nil {
		return nil, err
	}
	defer clear.Wipe()
	answer := &pb.Answer{}
	if err := answer.Decode(clear); err != nil {
		return nil, seal.ErrDamaged
	}
	return answer, nil
}

// keepAnswer returns the row for a new stored answer. The row replaces an earlier answer, and
// expires with the token.
func (v *Vault) keepAnswer(c Caller, in Issue, before keptAnswer, t seal.Token, share *seal.Share) (*durable.Row, error) {
	version := v.ring.Load().Newest()
	row := version.AnswerKey(c.Participant, in.IdempotencyKey)
	precondition := durable.Absent()
	if string(before.row) == string(row) {
		precondition = durable.Unchanged(before.raw)
	}
	clear := pbwire.Encode(&pb.Answer{
		Request: version.RequestHash(c.Participant, in.IdempotencyKey, in.Request), Token: string(t),
	})
	defer seal.Secret(clear).Wipe()
	opener, err := version.AnswerOpener(c.Participant, in.IdempotencyKey, share)
	if err != nil {
		return nil, durable.ErrConflict // the share has just ended, so decide again
	}
	id := share.ID()
	head := slices.Concat([]byte(sealedAnswer), id[:])
	sealed := opener.Seal(seal.ForAnswer, slices.Concat(row, head), clear)
	// The row lives one second longer than the token, because rows expire at whole seconds.
	return &durable.Row{Table: v.tables.answers, Key: row, Value: append(head, sealed...), TTL: in.Life + time.Second, Precondition: precondition}, nil
}
