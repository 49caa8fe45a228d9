package service

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/secrets"
)

// sharedFiles returns the files of the secrets folder that are the same on all nodes.
func (c *Core) sharedFiles() []nodes.SharedFile {
	key := func(name string, lasting bool) nodes.SharedFile {
		return nodes.SharedFile{Name: name, Path: secretFile(c.cfg, name), Lasting: lasting, Load: func() (bool, error) {
			_, made, err := secretKey(c.cfg, name)
			return made, err
		}}
	}
	all := []nodes.SharedFile{c.tokenKeysFile(), key(pinKeyFile, true), key(settingsKeyFile, true)}
	if c.cfg.Session.Key == "" {
		all = append(all, key(sessionKeyFile, false))
	}
	if c.cfg.Admin.Password == "" {
		all = append(all, nodes.SharedFile{Name: passwordFile, Path: PasswordFile(c.cfg), Load: func() (bool, error) {
			_, made, err := adminsPassword(c.cfg)
			return made, err
		}})
	}
	return all
}

func (c *Core) tokenKeysFile() nodes.SharedFile {
	path := TokenKeyFile(c.cfg)
	return nodes.SharedFile{
		Name: tokenKeyFile, Path: path, Lasting: true, WayOut: ", or, with all nodes stopped, give up all tokens: atelier keys new --forget-tokens",
		Load: func() (made bool, err error) {
			if _, err = secrets.LoadKeys(path); !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
			_, err = secrets.CreateKeys(path, time.Now())
			return true, err
		},
		Lacks: func(content []byte) error {
			// The checks are read after the content, because a key is stored in the database before
			// its check.
			known, err := keyVersions(c.store)
			if err != nil {
				return err
			}
			keys, err := secrets.ParseKeys(path, content)
			if err != nil {
				return err
			}
			return checkTokenKeys("the database", keys, known, c.store.StreamID())
		},
	}
}

// shareSecrets fetches or publishes the secrets that are the same on all nodes.
func (c *Core) shareSecrets() error {
	for _, f := range c.sharedFiles() {
		var err error
		if c.made[f.Name], err = c.keyring.Bring(f, c.usedBefore, c.log); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return nil
}

// openSharedKeys opens the token keys of a node; use makes this node use keys.
func (c *Core) openSharedKeys(use func([]seal.Key) error) (*nodes.TokenKeys, error) {
	return nodes.NewTokenKeys(c.node, c.keyring, string(c.cfg.Cluster.Secret), nodes.TokenKeyOptions{
		File: c.tokenKeysFile(), Use: use,
		Note: func(keys []seal.Key, now time.Time) error { return noteKeys(c.cfg, c.store, keys, now) },
		Over: func(key seal.Key, now time.Time) bool { return keyIsOver(c.cfg, key, now) },
	})
}

// Rekey seals the nodes' shared secrets in the database under another cluster.secret. Rekey fails
// while any node is alive.
func Rekey(cfg config.Config, secret string, log *slog.Logger) (err error) {
	store, err := openStore(cfg, Hooks{}, Options{}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return nodes.Rekey(store.(durable.Shared), string(cfg.Cluster.Secret), secret)
}
