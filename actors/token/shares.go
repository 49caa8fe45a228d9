package token

import (
	"errors"
	"fmt"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
)

// Shares stores the shares of sealing keys, and destroys each one after its quarter of an hour,
// also on disk. Safe for concurrent use.
type Shares interface {
	// Until returns the share of tokens that end at the given time, and creates it if necessary.
	// When Until returns, the share survives a crash. If the share of that time has already ended,
	// Until returns seal.ErrOver.
	Until(end time.Time) (*seal.Share, error)
	// Find returns the share with an id. It returns nil if the share has ended, and an error if
	// this node cannot determine whether the share has ended. Find does not wait.
	Find(id seal.ShareID) (*seal.Share, error)
}

// shareUntil returns the share for a token that ends at the given time. It runs on the caller's
// goroutine, and waits until a new share is stored once per quarter of an hour.
func (v *Vault) shareUntil(end time.Time) (*seal.Share, error) {
	s, err := v.opts.Shares.Until(end)
	switch {
	case errors.Is(err, seal.ErrOver):
		return nil, durable.ErrConflict // the share has ended meanwhile, so decide again
	case err != nil:
		return nil, fmt.Errorf("%w: no share to seal with: %w", durable.ErrUnavailable, err)
	}
	return s, nil
}

// findShare returns the share with an id. It returns nil if the share has ended, or if there is no
// id because the token has no credential.
func (v *Vault) findShare(id []byte) (*seal.Share, error) {
	if len(id) != len(seal.ShareID{}) {
		return nil, nil
	}
	return v.opts.Shares.Find(seal.ShareID(id))
}

// opener returns the opener for a token's credential, or ErrOver if its share has ended.
func (k *stored) opener(t seal.Token, s *seal.Share) (seal.Opener, error) {
	if s == nil {
		return seal.Opener{}, seal.ErrOver
	}
	return k.version.SharedOpener(t, s)
}
