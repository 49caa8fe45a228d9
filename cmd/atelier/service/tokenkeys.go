package service

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/secrets"
	"atelier/persistence/shares"
)

// TokenKeyFile returns the path of the server's token keys. A backup contains the keys only if
// AddSecrets adds them. The tokens in a backup cannot be opened, with or without the keys.
func TokenKeyFile(cfg config.Config) string {
	return secretFile(cfg, tokenKeyFile)
}

// keyChecks is the table that reveals a wrong or missing key. For each key version in use in this
// stream of the store, it contains a value that only this key produces.
const keyChecks = "tokenkeys"

// keepKeys returns how long a retired key can still be needed. This is the longest life of a token
// or a stored response, plus the times for which ended and expired tokens are remembered. One hour
// is added, because other nodes notice late that the key is retired. The 24 hours are for an
// earlier version, which kept responses for a day, even after their tokens.
func keepKeys(cfg config.Config) time.Duration {
	return time.Hour + max(cfg.Handler.SessionCap.Std(), 24*time.Hour) + cfg.Handler.RememberEnded.Std() + cfg.Handler.RememberExpired.Std()
}

// openTokenKeys returns the server's token keys. It creates the first key if no stored data needs
// another key. If a key is missing or wrong, the start fails, because acknowledged tokens would be
// lost.
func (c *Core) openTokenKeys(now time.Time) ([]seal.Key, error) {
	cfg, store, path := c.cfg, c.store, TokenKeyFile(c.cfg)
	known, err := keyVersions(store)
	if err != nil {
		return nil, err
	}
	keys, err := secrets.LoadKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		if len(known) > 0 {
			if err := c.forgetLostKeys(path); err != nil {
				return nil, err
			}
			known = nil
		}
		keys, err = secrets.CreateKeys(path, now)
	}
	if err != nil {
		return nil, err
	}
	if err := checkTokenKeys(path, keys, known, store.StreamID()); err != nil {
		return nil, fmt.Errorf("%w; %s", err, wayOut)
	}
	if store.ReadOnly() {
		return keys, nil
	}
	return settleKeys(cfg, store, keys, now)
}

// wayOut is the advice at the end of errors that refuse a start.
const wayOut = "put the right file back, or abandon all tokens with: atelier keys new --forget-tokens (OPERATIONS.md describes how to do this)"

// forgetLostKeys abandons the keys of a missing file, if nothing needs them.
func (c *Core) forgetLostKeys(path string) error {
	needed, err := c.standsOnKeys()
	if err != nil {
		return err
	}
	if needed != "" {
		return fmt.Errorf("the token keys are missing, but the store holds %s; the file %s does not exist; %s", needed, path, wayOut)
	}
	if err := forgetChecks(c.store); err != nil {
		return err
	}
	c.log.Warn("the token keys were missing, and no stored data needs them; new ones were made", "file", path)
	return nil
}

// standsOnKeys describes everything that can still need the token keys: tokens, shares of keys, and
// participants, because they can have tokens. It returns "" if there is nothing.
func (c *Core) standsOnKeys() (string, error) {
	var held []string
	add := func(n int, one, more string) {
		switch {
		case n == 1:
			held = append(held, "1 "+one)
		case n > 1:
			held = append(held, fmt.Sprint(n, " ", more))
		}
	}
	n, err := token.Count(c.store, c.store.StreamID())
	if err != nil {
		return "", err
	}
	add(n, "token", "tokens")
	all, err := c.participants.Get(participant.ID)
	if err != nil {
		return "", err
	}
	add(len(all.View().All()), "participant", "participants")
	if n, err = shares.Count(filepath.Dir(TokenKeyFile(c.cfg)), time.Now()); err != nil {
		return "", err
	}
	add(n, "share of a key", "shares of keys")
	return strings.Join(held, ", "), nil
}

// forgetChecks removes the checks of the keys used with this stream.
func forgetChecks(store durable.Store) error {
	known, err := keyVersions(store)
	if err != nil {
		return err
	}
	var rows []durable.Row
	for version := range known {
		rows = append(rows, durable.Row{Table: keyChecks, Key: checkKey(store.StreamID(), version), Delete: true})
	}
	return durable.Commit(store, rows)
}

// ForgetTokens voids all tokens of a server with missing or wrong keys. The next start creates new
// keys. ForgetTokens fails if the keys are right, or if another node of the cluster is running. ask
// is called with the number of tokens, and its error aborts.
func ForgetTokens(cfg config.Config, ask func(tokens int) error, log *slog.Logger) (err error) {
	store, err := openStore(cfg, Hooks{}, Options{}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	path := TokenKeyFile(cfg)
	known, err := keyVersions(store)
	if err != nil {
		return err
	}
	shared, several := store.(durable.Shared)
	several = several && cfg.Cluster.Enabled
	where, keys := path, []seal.Key(nil)
	if several {
		where = "the database"
		if err := nodes.AllStopped(shared); err != nil {
			return err
		}
		keys, err = sharedKeys(shared, cfg)
	} else {
		keys, err = secrets.LoadKeys(path)
	}
	if err == nil && len(keys) > 0 && checkTokenKeys(path, keys, known, store.StreamID()) == nil {
		return fmt.Errorf("%s has the right keys, so the tokens do not have to be abandoned; use atelier keys rotate to make a new key", where)
	}
	n, err := token.Count(store, store.StreamID())
	if err == nil {
		err = ask(n)
	}
	if err != nil {
		return err
	}
	trail := audit.New(store, clock.System, time.Duration(cfg.Audit.RetentionDays)*24*time.Hour)
	// The audit record is written first, so that nothing happens without one. If a later step
	// fails, the operator repeats the command, which writes another record.
	err = trail.Record(&audit.Record{
		Action: "token_keys_forget", ActorType: "system", CreatedAt: time.Now().UnixMilli(), Metadata: map[string]string{"tokens": fmt.Sprint(n), "security": "true"},
	})
	if err == nil {
		err = token.Forget(store, store.StreamID())
	}
	if err == nil {
		err = forgetChecks(store)
	}
	if err == nil && several {
		err = nodes.ForgetSecret(shared, tokenKeyFile)
	}
	if err != nil {
		return err
	}
	if err = os.Rename(path, path+".before"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sharedKeys returns the token keys that are the same on all nodes. It returns none if the database
// has none.
func sharedKeys(store durable.Shared, cfg config.Config) ([]seal.Key, error) {
	ring, err := nodes.OpenKeyring(store, string(cfg.Cluster.Secret))
	if err != nil {
		return nil, err
	}
	s, err := ring.Get(tokenKeyFile)
	if err != nil || s.Version == 0 {
		return nil, err
	}
	return secrets.ParseKeys("the database", s.Content)
}

// checkTokenKeys compares the keys of a file or of the database with the keys used with a stream of
// the store. If keys are missing or different, it returns an error that names one of them.
func checkTokenKeys(path string, keys []seal.Key, known map[uint32][]byte, stream string) error {
	for version, check := range known {
		i := slices.IndexFunc(keys, func(k seal.Key) bool { return k.Version == version })
		if i < 0 {
			return fmt.Errorf("the token keys are incomplete: %s lacks version %d, under which tokens were made", path, version)
		}
		if string(keys[i].Check(stream)) != string(check) {
			return fmt.Errorf("the token keys are wrong: version %d in %s is not the key that was used with this store", version, path)
		}
	}
	return nil
}

// newTokenKey adds a key, and drops keys that are no longer needed. If it returns keys together
// with an error, the caller must use the keys nevertheless.
func (c *Core) newTokenKey(now time.Time) ([]seal.Key, error) {
	cfg, store := c.cfg, c.store
	if _, err := c.openTokenKeys(now); err != nil {
		return nil, err
	}
	keys, err := secrets.RotateKeys(TokenKeyFile(cfg), now)
	if err != nil {
		return nil, err
	}
	settled, err := settleKeys(cfg, store, keys, now)
	if err != nil {
		// In the file, the new key is already in use, and the old key is retired. If this server
		// continued to use the old key, its tokens would expire too early. The next start creates
		// the missing check.
		return keys, err
	}
	return settled, nil
}

// settleKeys makes the store's checks and the file consistent. New keys get a check. Expired keys
// lose their check and are then removed from the file. With this order a crash in between leaves no
// check without a key.
func settleKeys(cfg config.Config, store durable.Store, keys []seal.Key, now time.Time) ([]seal.Key, error) {
	if err := noteKeys(cfg, store, keys, now); err != nil {
		return nil, err
	}
	if cfg.Cluster.Enabled {
		return keys, nil // nodes.TokenKeys removes expired keys
	}
	return secrets.KeepKeys(TokenKeyFile(cfg), func(k seal.Key) bool { return !keyIsOver(cfg, k, now) })
}

func keyIsOver(cfg config.Config, k seal.Key, now time.Time) bool {
	return !k.RetiredAt.IsZero() && now.Sub(k.RetiredAt) > keepKeys(cfg)
}

// noteKeys stores the checks of the keys in use, and removes the checks of expired keys.
func noteKeys(cfg config.Config, store durable.Store, keys []seal.Key, now time.Time) error {
	var rows []durable.Row
	for _, k := range keys {
		row := durable.Row{Table: keyChecks, Key: checkKey(store.StreamID(), k.Version), Value: k.Check(store.StreamID()), Delete: keyIsOver(cfg, k, now)}
		rows = append(rows, row)
	}
	if err := durable.Commit(store, rows); err != nil {
		return fmt.Errorf("record the checks of the token keys: %w", err)
	}
	return nil
}

func checkKey(stream string, version uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(stream), 0), version)
}

// keyVersions returns the checks of the keys in use in the store's stream. A restored backup is a
// different stream, which needs none of the earlier keys.
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
