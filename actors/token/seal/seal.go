package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
)

// ErrDamaged means that a record or a seal was changed, truncated or moved after it was stored. No
// part of it can be trusted.
var ErrDamaged = errors.New("seal: the record is damaged")

const (
	tagBytes   = 16 // length of a record's tag, and of GCM's
	nonceBytes = 12

	recordFormat = 1
	headerBytes  = 1 + 4 + tagBytes // format, version, tag
)

// RecordKey returns the name of the token's record in the store.
func (v *Version) RecordKey(t Token) []byte { return v.lookup.mac("token", []byte(t)) }

// Authenticate returns the stored form of a record's body under key.
func (v *Version) Authenticate(key, body []byte) []byte {
	out := make([]byte, headerBytes, headerBytes+len(body))
	out[0] = recordFormat
	binary.BigEndian.PutUint32(out[1:], v.Number)
	out = append(out, body...)
	copy(out[5:headerBytes], v.tag(key, out))
	return out
}

// Verify verifies the stored form of a record and returns its body, which shares stored's memory,
// and its version. It returns ErrDamaged if the tag does not match, or if no key of this version
// is in the ring.
func (r *Ring) Verify(key, stored []byte) (body []byte, v *Version, err error) {
	if len(stored) < headerBytes || stored[0] != recordFormat {
		return nil, nil, ErrDamaged
	}
	v = r.Version(binary.BigEndian.Uint32(stored[1:]))
	if v == nil || !hmac.Equal(v.tag(key, stored), stored[5:headerBytes]) {
		return nil, nil, ErrDamaged
	}
	return stored[headerBytes:], v, nil
}

func (v *Version) tag(key, stored []byte) []byte {
	return v.record.mac("record", key, stored[:5], stored[headerBytes:])[:tagBytes]
}

// Purpose is the kind of sealed data. Data sealed as one kind cannot be opened as another.
type Purpose string

// Purposes.
const (
	ForCredential Purpose = "credential"
	ForDisplay    Purpose = "display"
)

// Opener seals and opens the data of one token. It contains a derived key, so it exists only during
// a call.
type Opener struct{ aead cipher.AEAD }

// Opener derives the key for a token's display data from the token and the server's key. This data
// can be opened as long as the token's record is stored.
func (v *Version) Opener(t Token) Opener { return opener(v.wrap.mac("seal", []byte(t))) }

// SharedOpener derives the key of a token's credential from the token, the server's key, and the
// token's share. It returns ErrOver if the share has ended.
func (v *Version) SharedOpener(t Token, s *Share) (Opener, error) {
	key, err := s.mix(v.wrap, "seal v2", []byte(t))
	if err != nil {
		return Opener{}, err
	}
	defer clear(key)
	return opener(key), nil
}

func opener(key []byte) Opener {
	block, err := aes.NewCipher(key)
	if err != nil { // impossible, because 32 bytes are a valid length
		panic("seal: key length")
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("seal: block size")
	}
	return Opener{aead}
}

// Seal encrypts clear. The result can be opened only with the same purpose and the same data bound.
func (o Opener) Seal(p Purpose, bound, clear []byte) []byte {
	out := make([]byte, nonceBytes, nonceBytes+len(clear)+o.aead.Overhead())
	_, _ = rand.Read(out) // rand.Read never fails
	return o.aead.Seal(out, out, clear, additional(p, bound))
}

// Open decrypts sealed, or returns ErrDamaged.
func (o Opener) Open(p Purpose, bound, sealed []byte) (Secret, error) {
	if len(sealed) < nonceBytes {
		return nil, ErrDamaged
	}
	clear, err := o.aead.Open(nil, sealed[:nonceBytes], sealed[nonceBytes:], additional(p, bound))
	if err != nil {
		return nil, ErrDamaged
	}
	return clear, nil
}

func additional(p Purpose, bound []byte) []byte {
	out := make([]byte, 0, 32+len(bound))
	out = append(append(append(out, "atelier seal v1\x00"...), p...), 0)
	return append(out, bound...)
}

// AnswerKey returns the name under which the answer to a request with an idempotency key is stored.
func (v *Version) AnswerKey(caller, key string) []byte {
	return v.idem.mac("name", []byte(caller), []byte(key))
}

// AnswerOpener derives the key of a stored answer from the idempotency key, the server's key, and
// the share of the token in the answer.
func (v *Version) AnswerOpener(caller, key string, s *Share) (Opener, error) {
	mixed, err := s.mix(v.idem, "seal v2", []byte(caller), []byte(key))
	if err != nil {
		return Opener{}, err
	}
	defer clear(mixed)
	return opener(mixed), nil
}

// ForAnswer is the purpose of stored answers.
const ForAnswer Purpose = "answer"

// RequestHash returns a hash for recognizing a repeated request. The hash reveals nothing about the
// request.
func (v *Version) RequestHash(caller, key string, body []byte) []byte {
	return v.idem.mac("request", []byte(caller), []byte(key), body)
}

// Body returns the body of a stored record without verifying it. Use it for counting, never for
// decisions.
func (*Ring) Body(stored []byte) (body []byte, ok bool) {
	if len(stored) < headerBytes || stored[0] != recordFormat {
		return nil, false
	}
	return stored[headerBytes:], true
}
