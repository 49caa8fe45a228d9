package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	"atelier/persistence/ondisk"
	"atelier/persistence/secrets"
)

// TokenKeys manages the token keys that all nodes share in the database. A new key is pending until
// every living node has it, because each node must be able to find tokens created under it.
type TokenKeys struct {
	o        TokenKeyOptions
	node     *Node
	keyring  *Keyring
	exchange *Exchange[uint64]

	mu   sync.Mutex
	have Secret // guarded by mu; the keys in use
}

// TokenKeyOptions contains the operations on token keys that a single server also has. All are
// required.
type TokenKeyOptions struct {
	// File is the file with the keys, as written by Bring.
	File SharedFile
	// Use makes this node use keys.
	Use func([]seal.Key) error
	// Note records in the database which keys are used with it.
	Note func(keys []seal.Key, now time.Time) error
	// Over reports whether a key is no longer needed at the given time.
	Over func(key seal.Key, now time.Time) bool
}

// NewTokenKeys returns the token keys of a node. The node uses them when Begin is called.
func NewTokenKeys(n *Node, ring *Keyring, secret string, o TokenKeyOptions) (*TokenKeys, error) {
	exchange, err := newKeyExchange(n, secret)
	if err != nil {
		return nil, err
	}
	return &TokenKeys{o: o, node: n, keyring: ring, exchange: exchange}, nil
}

// Begin starts to use the database's keys, drops those that are no longer needed, and then follows
// the changes of other nodes.
func (k *TokenKeys) Begin() error {
	if err := k.Read(); err != nil {
		return err
	}
	if err := k.dropOld(); err != nil {
		return err
	}
	k.node.OnReturn(k.Read) // tokens may have been made under a key that this node lacks
	return k.exchange.Serve(k)
}

// All implements Kept.
func (k *TokenKeys) All() ([]uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return []uint64{k.have.Version}, nil
}

// Take implements Kept.
func (k *TokenKeys) Take(version uint64) error {
	k.mu.Lock()
	have := k.have.Version
	k.mu.Unlock()
	if version <= have {
		return nil
	}
	return k.Read()
}

// Read starts to use the database's keys, if they are newer.
func (k *TokenKeys) Read() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, err := k.keyring.Get(k.o.File.Name)
	if err != nil || s.Version <= k.have.Version {
		return err
	}
	_, err = k.take(s)
	return err
}

// take starts to use keys. The caller holds the lock.
func (k *TokenKeys) take(s Secret) ([]seal.Key, error) {
	keys, err := secrets.ParseKeys(k.o.File.Path, s.Content)
	if err == nil {
		err = k.o.Use(keys)
	}
	if err == nil {
		// The database has the keys. If the file cannot be written now, the next start writes it.
		if failed := ondisk.Replace(k.o.File.Path, s.Content); failed != nil {
			k.node.folder.Failed(failed)
		}
	}
	if err == nil {
		k.have = s
	}
	return keys, err
}

// keep writes keys into the database and starts to use them. The caller holds the lock.
func (k *TokenKeys) keep(keys []seal.Key) ([]seal.Key, error) {
	b, err := secrets.EncodeKeys(keys)
	if err != nil {
		return nil, err
	}
	s, err := k.keyring.Put(k.o.File.Name, k.have, b)
	if err != nil {
		return nil, err
	}
	return k.take(s)
}

// Change replaces the keys with the result of to. If the result is nil, the keys stay. If another
// node changes the keys at the same moment, Change calls to again with that node's keys. Change
// returns the keys in use and their version.
func (k *TokenKeys) Change(to func([]seal.Key) ([]seal.Key, error)) (keys []seal.Key, version uint64, err error) {
	for {
		if err := k.Read(); err != nil {
			return nil, 0, err
		}
		keys, version, err = k.changeOnce(to)
		if !errors.Is(err, durable.ErrConflict) {
			return keys, version, err
		}
	}
}

func (k *TokenKeys) changeOnce(to func([]seal.Key) ([]seal.Key, error)) ([]seal.Key, uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, err := secrets.ParseKeys(k.o.File.Path, k.have.Content)
	if err != nil {
		return nil, 0, err
	}
	next, err := to(keys)
	if err == nil && next != nil {
		keys, err = k.keep(next)
	}
	return keys, k.have.Version, err
}

// Rotate creates a new key, waits until all living nodes have read it, and then makes all nodes use
// it. If a node does not read it, the key stays pending, and the next call continues with it. Two
// concurrent calls finish with the same key.
func (k *TokenKeys) Rotate(now time.Time) ([]seal.Key, error) {
	_, version, err := k.Change(func(keys []seal.Key) ([]seal.Key, error) {
		if keys[len(keys)-1].Pending {
			return nil, nil
		}
		return secrets.Announced(keys, now), nil
	})
	if err != nil {
		return nil, err
	}
	// The lock is not held meanwhile, because a notification from another node needs it.
	if _, err := k.exchange.bring(version); err != nil {
		return nil, fmt.Errorf("%w; the new key stays pending, and the next rotation uses it", err)
	}
	keys, version, err := k.Change(func(keys []seal.Key) ([]seal.Key, error) {
		if !keys[len(keys)-1].Pending {
			return nil, nil // another node has completed the rotation
		}
		keys = secrets.Used(keys, now)
		return keys, k.o.Note(keys, now)
	})
	if err != nil {
		return nil, err
	}
	if _, err := k.exchange.bring(version); err != nil {
		k.node.log.Warn("a node does not use the new token key yet; it will within a minute", "error", err)
	}
	return keys, nil
}

// dropOld drops the keys that are no longer needed, unless the store is read-only.
func (k *TokenKeys) dropOld() error {
	if k.node.Store.ReadOnly() {
		return nil
	}
	now := time.Now()
	_, _, err := k.Change(func(keys []seal.Key) ([]seal.Key, error) {
		kept := secrets.Kept(keys, func(key seal.Key) bool { return !k.o.Over(key, now) })
		if len(kept) == len(keys) {
			return nil, nil
		}
		return kept, k.o.Note(keys, now)
	})
	return err
}

// Follow periodically looks for keys that this node has missed, until ctx ends.
func (k *TokenKeys) Follow(ctx context.Context, every time.Duration) {
	Every(ctx, every, k.reload)
}

// Every calls a function at intervals until ctx ends.
func Every(ctx context.Context, every time.Duration, do func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

func (k *TokenKeys) reload() {
	if err := k.Read(); err != nil {
		k.node.log.Warn("reading the token keys from the database failed", "error", err)
	}
}

// End stops the exchange that Begin started. k can be nil.
func (k *TokenKeys) End() {
	if k != nil {
		k.exchange.End()
	}
}
