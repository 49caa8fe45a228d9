package token

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// CheckoutHash returns a hash by which a record refers to its checkout. Checkout ids are opaque
// texts of any length; the hash keeps records small.
func CheckoutHash(checkout string) [32]byte { return sha256.Sum256([]byte(checkout)) }

// stored is a token's record as read, with the data needed to change it.
type stored struct {
	key     []byte // the key of the row
	raw     []byte // the row's value, for its precondition
	record  *pb.Token
	version *seal.Version
}

// rowKey returns the key of a token's row: the first 4 bytes of a hash of the store's stream id,
// the shard, and the keyed hash of the token. The stream id comes first, so that rows of another
// stream are never read.
func (v *Vault) rowKey(t seal.Token, version *seal.Version) []byte {
	name := t.Name()
	key := make([]byte, 0, streamTagBytes+1+sha256.Size)
	key = append(key, v.streamTag[:]...)
	key = append(key, name[0])
	return append(key, version.RecordKey(t)...)
}

const streamTagBytes = 4

// reference returns the name of a token in the audit trail: part of the keyed hash, from which the
// token cannot be derived.
func reference(rowKey []byte) string {
	return "tok-" + hex.EncodeToString(rowKey[streamTagBytes+1:][:8])
}

// load reads a token's record. For an unknown token it returns a record without an owner. Decide
// refuses this record in the same steps as another participant's token, so that both take the same
// time (see levelOut). For a damaged record, load returns seal.ErrDamaged.
func (v *Vault) load(ring *seal.Ring, t seal.Token) (*stored, error) {
	var s *stored
	for _, version := range ring.Versions() {
		key := v.rowKey(t, version)
		raw, err := v.get(v.tables.tokens, key)
		if err != nil {
			return nil, err
		}
		if raw != nil && s == nil {
			s = &stored{key: key, raw: raw}
		}
	}
	unknown := s == nil
	if unknown {
		raw, err := v.get(v.tables.tokens, v.placeholderKey)
		if err != nil && !errors.Is(err, seal.ErrDamaged) {
			return nil, err
		}
		s = &stored{key: v.placeholderKey, raw: raw}
	}
	body, version, err := ring.Verify(s.key, s.raw)
	if err != nil && unknown { // the placeholder could not be written, or is damaged
		return &stored{record: &pb.Token{}}, nil
	}
	if err != nil {
		return s, err
	}
	s.version, s.record = version, &pb.Token{}
	if err := s.record.Decode(body); err != nil {
		return s, fmt.Errorf("%w: %w", seal.ErrDamaged, err)
	}
	return s, nil
}

// levelOut looks up a missing row, unless the token is unknown. The refusal of another
// participant's token then takes as long as the refusal of an unknown token, for which load has
// already looked up a missing row. All other steps are the same.
func (v *Vault) levelOut(s *stored) error {
	if string(s.key) == string(v.placeholderKey) {
		return nil
	}
	_, err := v.get(v.tables.tokens, v.missingKey)
	return err
}

// row returns the row that stores a record.
func (v *Vault) row(key []byte, version *seal.Version, t *pb.Token, now time.Time, precondition durable.Precondition) (durable.Row, error) {
	body := pbwire.Encode(t)
	// until is the time until which the record is stored. The record of an ended token is needed to
	// distinguish a second use from an unknown token.
	until := time.UnixMilli(t.ExpiresAt).Add(v.opts.RememberExpired)
	if t.EndedAt != 0 {
		until = time.UnixMilli(max(t.ExpiresAt, t.EndedAt)).Add(v.opts.RememberEnded)
	}
	return durable.Row{
		Table: v.tables.tokens, Key: key, Value: version.Authenticate(key, body),
		TTL: max(until.Sub(now), time.Second), Precondition: precondition,
	}, nil
}

// bound returns the data to which a seal is bound: the record's key, participant, checkout, policy
// and expiry (transport/handler/RULES.md, "Secrets").
func bound(key []byte, t *pb.Token) []byte {
	b := make([]byte, 0, 192)
	part := func(p []byte) { b = append(binary.AppendUvarint(b, uint64(len(p))), p...) }
	part(key)
	part([]byte(t.Participant))
	part(t.Checkout)
	b = binary.AppendUvarint(b, uint64(t.Policy))
	return binary.AppendVarint(b, t.ExpiresAt)
}
