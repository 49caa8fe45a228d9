package token

import (
	"errors"
	"fmt"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
)

// Shares keeps the shares of sealing keys, and ends each when its quarter of an
// hour is over, also on the disk. Safe for concurrent use.
type Shares interface {
	// Until returns the share of what ends at a time, making it when there is
	// none. When Until returns, the share outlives a crash. For a time whose
	// share would be over it gives seal.ErrOver.
	Until(end time.Time) (*seal.Share, error)
	// Find returns the share with an id, or nil when it is over; an error where that
	// is not known here. It does not wait.
	Find(id seal.ShareID) (*seal.Share, error)
}

// shareUntil is the share for a token that ends at a time. It waits for the
// disk once in a quarter of an hour, on the goroutine that asks.
func (v *Vault) shareUntil(end time.Time) (*seal.Share, error) {
	s, err := v.opts.Shares.Until(end)
	switch {
	case errors.Is(err, seal.ErrOver):
		return nil, durable.ErrConflict // the clock went on: decide anew
	case err != nil:
		return nil, fmt.Errorf("%w: no share to seal with: %w", durable.ErrUnavailable, err)
	}
	return s, nil
}

// findShare is the share with an id; nil when it is over, or there is no id.
func (v *Vault) findShare(id []byte) (*seal.Share, error) {
	if len(id) != len(seal.ShareID{}) {
		return nil, nil
	}
	return v.opts.Shares.Find(seal.ShareID(id))
}

// opener is what opens a token's credential. ErrOver says that its share is
// over.
func (k *stored) opener(t seal.Token, s *seal.Share) (seal.Opener, error) {
	switch {
	case len(k.record.Share) == 0: // made before there were shares
		return k.version.Opener(t), nil
	case s == nil:
		return seal.Opener{}, seal.ErrOver
	}
	return k.version.SharedOpener(t, s)
}
