package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/ondisk"
	"atelier/persistence/secrets"
)

// sharedKeys are the token keys of a server that is one of several: the newest of what
// the database has. A new key is pending until every living node has it, for what is made
// under it must be found on each.
type sharedKeys struct {
	core     *Core
	exchange *nodes.Exchange[uint64]
	// use takes keys into use here.
	use func([]seal.Key) error

	mu   sync.Mutex
	have nodes.Secret // guarded by mu; that is in use
}

func (c *Core) openSharedKeys(use func([]seal.Key) error) (*sharedKeys, error) {
	k := &sharedKeys{core: c, use: use}
	var err error
	k.exchange, err = nodes.NewKeyExchange(c.node, string(c.cfg.Cluster.Secret))
	return k, err
}

// begin takes keys from other nodes.
func (k *sharedKeys) begin() error {
	if err := k.read(); err != nil {
		return err
	}
	if err := k.dropOld(); err != nil {
		return err
	}
	k.core.node.OnReturn(k.read) // tokens may have been made under a key that this node lacks
	return k.exchange.Serve(k)
}

// All implements nodes.Kept.
func (k *sharedKeys) All() ([]uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return []uint64{k.have.Version}, nil
}

// Take implements nodes.Kept.
func (k *sharedKeys) Take(version uint64) error {
	k.mu.Lock()
	have := k.have.Version
	k.mu.Unlock()
	if version <= have {
		return nil
	}
	return k.read()
}

// read takes into use what the database has, if it is newer.
func (k *sharedKeys) read() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, err := k.core.keyring.Get(tokenKeyFile)
	if err != nil || s.Version <= k.have.Version {
		return err
	}
	_, err = k.take(s)
	return err
}

// take takes keys into use. The lock is held.
func (k *sharedKeys) take(s nodes.Secret) ([]seal.Key, error) {
	path := TokenKeyFile(k.core.cfg)
	keys, err := secrets.ParseKeys(path, s.Content)
	if err == nil {
		err = ondisk.Replace(path, s.Content)
	}
	if err == nil {
		err = k.use(keys)
	}
	if err == nil {
		k.have = s
	}
	return keys, err
}

// keep writes keys into the database and takes them into use. The lock is held.
func (k *sharedKeys) keep(keys []seal.Key) ([]seal.Key, error) {
	b, err := secrets.EncodeKeys(keys)
	if err != nil {
		return nil, err
	}
	s, err := k.core.keyring.Put(tokenKeyFile, k.have, b)
	if err != nil {
		return nil, err
	}
	return k.take(s)
}

// change replaces the keys by what to makes of them; nil changes nothing. Where another
// node changes them at the moment it begins again with what that one has made.
func (k *sharedKeys) change(to func([]seal.Key) ([]seal.Key, error)) (keys []seal.Key, version uint64, err error) {
	for {
		if err := k.read(); err != nil {
			return nil, 0, err
		}
		keys, version, err = k.changeOnce(to)
		if !errors.Is(err, durable.ErrConflict) {
			return keys, version, err
		}
	}
}

func (k *sharedKeys) changeOnce(to func([]seal.Key) ([]seal.Key, error)) ([]seal.Key, uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, err := secrets.ParseKeys(TokenKeyFile(k.core.cfg), k.have.Content)
	if err != nil {
		return nil, 0, err
	}
	next, err := to(keys)
	if err == nil && next != nil {
		keys, err = k.keep(next)
	}
	return keys, k.have.Version, err
}

// rotate makes a new key, brings it to all living nodes, and then takes it into use
// everywhere. What fails on the way leaves a pending key, with which the next call goes
// on. Of two at one time, both are done with the same key.
func (k *sharedKeys) rotate(now time.Time) ([]seal.Key, error) {
	_, version, err := k.change(func(keys []seal.Key) ([]seal.Key, error) {
		if keys[len(keys)-1].Pending {
			return nil, nil
		}
		return secrets.Announced(keys, now), nil
	})
	if err != nil {
		return nil, err
	}
	// Without the lock: another node that rotates brings its word here.
	if err := k.exchange.Spread(version); err != nil {
		return nil, fmt.Errorf("%w; the new key waits, and is used when this is called again", err)
	}
	keys, version, err := k.change(func(keys []seal.Key) ([]seal.Key, error) {
		if !keys[len(keys)-1].Pending {
			return nil, nil // another node has done the rest
		}
		keys = secrets.Used(keys, now)
		return keys, noteKeys(k.core.cfg, k.core.store, keys, now)
	})
	if err != nil {
		return nil, err
	}
	if err := k.exchange.Spread(version); err != nil {
		k.core.log.Warn("a node does not use the new token key yet; it will within a minute", "error", err)
	}
	return keys, nil
}

// dropOld drops what nothing needs any more.
func (k *sharedKeys) dropOld() error {
	if k.core.store.ReadOnly() {
		return nil
	}
	now := time.Now()
	_, _, err := k.change(func(keys []seal.Key) ([]seal.Key, error) {
		kept := secrets.Kept(keys, func(key seal.Key) bool { return !keyIsOver(k.core.cfg, key, now) })
		if len(kept) == len(keys) {
			return nil, nil
		}
		return kept, noteKeys(k.core.cfg, k.core.store, keys, now)
	})
	return err
}

// follow looks for keys of which this node was not told, until ctx ends.
func (k *sharedKeys) follow(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		k.look()
	}
}

func (k *sharedKeys) look() {
	if err := k.read(); err != nil {
		k.core.log.Warn("the token keys in the database", "error", err)
	}
}

// Rekey seals what nodes share in the database under another cluster.secret. It is
// refused while a node lives.
func Rekey(cfg config.Config, secret string, log *slog.Logger) (err error) {
	store, err := openStore(cfg, Hooks{}, Options{}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	members, err := store.(durable.Shared).Members()
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Left > 0 && m.Node != cfg.Cluster.Node {
			return fmt.Errorf("node %s is running: stop all nodes first", m.Node)
		}
	}
	k, err := nodes.OpenKeyring(store, string(cfg.Cluster.Secret))
	if err != nil {
		return err
	}
	return k.Rekey(secret)
}
