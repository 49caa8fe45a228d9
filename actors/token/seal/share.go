package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Quarter is the length of the period of a share. All tokens that expire in the same period use the
// same share.
const Quarter = 15 * time.Minute

// QuarterEnd returns the end of the quarter of an hour that contains t. If t is the end of a
// quarter, QuarterEnd returns t.
func QuarterEnd(t time.Time) time.Time {
	end := t.UTC().Truncate(Quarter)
	if end.Before(t) {
		end = end.Add(Quarter)
	}
	return end
}

// ShareBytes is the length of a share's secret.
const ShareBytes = 32

// ShareID is a hash of a share's secret, so that a modified secret has a different id.
type ShareID [8]byte

// String returns the id as a file name.
func (id ShareID) String() string { return hex.EncodeToString(id[:]) }

// ErrOver means that a share has ended.
var ErrOver = errors.New("seal: the share has ended")

// Share is the common part of the sealing keys of all tokens that expire in the same quarter of an
// hour (transport/handler/RULES.md, "Secrets"). A disk can retain deleted credentials for a long
// time. After the share is wiped, nobody can open them, even with the token and the server's key.
// A Share is safe for concurrent use.
type Share struct {
	id   ShareID
	ends time.Time

	mu     sync.RWMutex
	secret [ShareBytes]byte // guarded by mu
	over   bool             // guarded by mu
}

// NewShare returns a share that ends at the given time. Its tokens must expire no later than that.
// NewShare copies the secret.
func NewShare(ends time.Time, secret *[ShareBytes]byte) *Share {
	return &Share{id: ShareIDOf(secret), ends: ends, secret: *secret}
}

// ShareIDOf returns the id of the share that has the given secret.
func ShareIDOf(secret *[ShareBytes]byte) ShareID {
	h := sha256.New()
	h.Write([]byte("atelier share id v1\x00"))
	h.Write(secret[:])
	return ShareID(h.Sum(nil)[:len(ShareID{})])
}

// ID returns the share's id.
func (s *Share) ID() ShareID { return s.id }

// Ends returns the time at which the share ends.
func (s *Share) Ends() time.Time { return s.ends }

// Wipe ends the share. After that, nothing can be sealed or opened under it.
func (s *Share) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.secret[:])
	s.over = true
}

// mix returns the message authentication code of parts and the secret.
func (s *Share) mix(k *keyed, purpose string, parts ...[]byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.over {
		return nil, ErrOver
	}
	return k.mac(purpose, append(parts, s.secret[:])...), nil
}

// Format redacts the share under every verb but %p, which prints its address.
func (*Share) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue redacts the share.
func (*Share) LogValue() slog.Value { return slog.StringValue(redacted) }
