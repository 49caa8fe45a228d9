package service

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/config"
	"atelier/persistence/secrets"
)

// TokenKeyFile is where the server's token keys lie. They are not part of a
// backup: what a backup holds of tokens opens without them no more than with.
func TokenKeyFile(cfg config.Config) string {
	return secretFile(cfg, tokenKeyFile)
}

// keyChecks is the table by which a wrong or missing key is noticed: for each
// version in use in this stream of the store, a value that only the key gives.
const keyChecks = "tokenkeys"

// keepKeys is how long a retired key may still be needed: for the longest life
// of a token or of a kept answer (a day, before answers went with their tokens),
// and for as long as its end is remembered; and an hour more, for other nodes hear late
// that it is retired.
func keepKeys(cfg config.Config) time.Duration {
	return time.Hour + max(cfg.Handler.SessionCap.Std(), 24*time.Hour) + cfg.Handler.RememberEnded.Std() + cfg.Handler.RememberExpired.Std()
}

// openTokenKeys returns the server's token keys, making the first one where
// none was ever used. It refuses to start with a key missing or wrong: tokens
// that were acknowledged could not be kept.
func openTokenKeys(cfg config.Config, store durable.Store, now time.Time) ([]seal.Key, error) {
	path := TokenKeyFile(cfg)
	known, err := keyVersions(store)
	if err != nil {
		return nil, err
	}
	keys, err := secrets.LoadKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(known) == 0:
		if keys, err = secrets.CreateKeys(path, now); err != nil {
			return nil, err
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the token keys are missing: %s was used with this store and is gone; put it back", path)
	case err != nil:
		return nil, err
	}
	if err := checkTokenKeys(path, keys, known, store.StreamID()); err != nil {
		return nil, fmt.Errorf("%w; put back the right file", err)
	}
	if store.ReadOnly() {
		return keys, nil
	}
	return settleKeys(cfg, store, keys, now)
}

// checkTokenKeys says which of the keys that were used with a stream of the store are
// not among those of a file, or are others there.
func checkTokenKeys(path string, keys []seal.Key, known map[uint32][]byte, stream string) error {
	for version, check := range known {
		i := slices.IndexFunc(keys, func(k seal.Key) bool { return k.Version == version })
		if i < 0 {
			return fmt.Errorf("the token keys are incomplete: %s lacks version %d, under which tokens were made", path, version)
		}
		if string(keys[i].Check(stream)) != string(check) {
			return fmt.Errorf("the token keys are wrong: version %d in %s is not the one that this store was used with", version, path)
		}
	}
	return nil
}

// rotateTokenKeys adds a key, and drops those that nothing needs any more. Keys
// that come with an error are to be used all the same.
func rotateTokenKeys(cfg config.Config, store durable.Store, now time.Time) ([]seal.Key, error) {
	if _, err := openTokenKeys(cfg, store, now); err != nil {
		return nil, err
	}
	keys, err := secrets.RotateKeys(TokenKeyFile(cfg), now)
	if err != nil {
		return nil, err
	}
	settled, err := settleKeys(cfg, store, keys, now)
	if err != nil {
		// The file has the new key, and the old one is retired in it: tokens made
		// with the old one would end too early. What
		// is missing, the check, is made at the next start.
		return keys, err
	}
	return settled, nil
}

// settleKeys makes the store's checks and the file agree: new keys get a check,
// keys that are over lose it and then leave the file. In this order a crash on
// the way leaves no check without a key.
func settleKeys(cfg config.Config, store durable.Store, keys []seal.Key, now time.Time) ([]seal.Key, error) {
	if err := noteKeys(cfg, store, keys, now); err != nil {
		return nil, err
	}
	if cfg.Cluster.Enabled {
		return keys, nil // see nodes.TokenKeys
	}
	return secrets.KeepKeys(TokenKeyFile(cfg), func(k seal.Key) bool { return !keyIsOver(cfg, k, now) })
}

func keyIsOver(cfg config.Config, k seal.Key, now time.Time) bool {
	return !k.RetiredAt.IsZero() && now.Sub(k.RetiredAt) > keepKeys(cfg)
}

// noteKeys makes the store's checks those of the keys that are not over.
func noteKeys(cfg config.Config, store durable.Store, keys []seal.Key, now time.Time) error {
	var rows []durable.Row
	for _, k := range keys {
		row := durable.Row{Table: keyChecks, Key: checkKey(store.StreamID(), k.Version), Value: k.Check(store.StreamID()), Delete: keyIsOver(cfg, k, now)}
		rows = append(rows, row)
	}
	if err := durable.Commit(store, rows); err != nil {
		return fmt.Errorf("note the token keys: %w", err)
	}
	return nil
}

func checkKey(stream string, version uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(stream), 0), version)
}

// keyVersions returns the checks of the keys in use in the store's stream. A
// restored backup is another stream: it needs none of the earlier keys.
func keyVersions(store durable.Store) (map[uint32][]byte, error) {
	known := map[uint32][]byte{}
	prefix := checkKey(store.StreamID(), 0)
	prefix = prefix[:len(prefix)-4]
	err := store.Scan(durable.Scan{Table: keyChecks, Prefix: prefix}, func(key, value []byte) bool {
		if rest := key[len(prefix):]; len(rest) == 4 {
			known[binary.BigEndian.Uint32(rest)] = slices.Clone(value)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read the checks of the token keys: %w", err)
	}
	return known, nil
}
