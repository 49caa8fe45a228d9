package service

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"atelier/actors/durable"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/ondisk"
	"atelier/persistence/secrets"
)

// sharedSecret is a file of the secrets folder that all nodes have alike. The folder is
// a copy of what the database has.
type sharedSecret struct {
	name string
	// load checks the file, and makes it where there is none.
	load func() (made bool, err error)
	// lasting: with another one, what is stored already could not be read.
	lasting bool
}

func (c *Core) sharedSecrets() []sharedSecret {
	key := func(name string, lasting bool) sharedSecret {
		return sharedSecret{name, func() (bool, error) {
			_, made, err := secretKey(c.cfg, name)
			return made, err
		}, lasting}
	}
	all := []sharedSecret{{tokenKeyFile, c.loadTokenKeys, true}, key(pinKeyFile, true), key(settingsKeyFile, true)}
	if c.cfg.Session.Key == "" {
		all = append(all, key(sessionKeyFile, false))
	}
	if c.cfg.Admin.Password == "" {
		all = append(all, sharedSecret{passwordFile, func() (bool, error) {
			_, made, err := adminsPassword(c.cfg)
			return made, err
		}, false})
	}
	return all
}

func (c *Core) loadTokenKeys() (made bool, err error) {
	path := TokenKeyFile(c.cfg)
	if _, err = secrets.LoadKeys(path); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	_, err = secrets.CreateKeys(path, time.Now())
	return true, err
}

// shareSecrets brings the secrets that all nodes have alike from the database into the
// folder of secrets, or what this node has into the database. One that nobody has is
// made, unless data stands on it.
func (c *Core) shareSecrets() error {
	known, err := keyVersions(c.store)
	if err != nil {
		return err
	}
	for _, s := range c.sharedSecrets() {
		if err := c.shareSecret(s, len(known) > 0); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return nil
}

func (c *Core) shareSecret(s sharedSecret, used bool) error {
	path := secretFile(c.cfg, s.name)
	made := false
	shared, err := c.keyring.Share(s.name, func() ([]byte, error) {
		if _, err := os.Stat(path); s.lasting && errors.Is(err, fs.ErrNotExist) {
			told, err := c.keyring.Told(secretsFolder + "/" + s.name)
			if err != nil {
				return nil, err
			}
			if told || used {
				return nil, fmt.Errorf("%s is missing, and no node has brought it into the database yet, which holds data that needs it: start the node first that has it, or bring the file back", path)
			}
		}
		m, err := s.load()
		if err != nil {
			return nil, err
		}
		made = made || m
		return os.ReadFile(path)
	})
	if err == nil && s.name == tokenKeyFile {
		shared, err = c.bringKeys(shared)
	}
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err == nil && bytes.Equal(before, shared.Content) {
		c.made[s.name] = made
		return nil
	}
	// Token keys change while a node is away, and those that are gone must be gone. Of the
	// others it may be the only copy: a restored backup whose node did not start first.
	if err == nil && !made && s.lasting && s.name != tokenKeyFile {
		aside := path + ".before"
		if err := os.Rename(path, aside); err != nil {
			return err
		}
		c.log.Warn("a secret in the folder was not the one that the nodes have, and was replaced", "file", path, "kept_as", aside)
	}
	return ondisk.Replace(path, shared.Content)
}

// bringKeys returns the token keys that the nodes have. Where those lack one that was used
// with the database, a server that stood alone for a while has made it: that one brings
// what it has, and any other must not write over a file.
func (c *Core) bringKeys(shared nodes.Secret) (nodes.Secret, error) {
	path, stream := TokenKeyFile(c.cfg), c.store.StreamID()
	lacks := func(content []byte) error {
		// Read behind the content: a key is in the database before it is noted.
		known, err := keyVersions(c.store)
		if err != nil {
			return err
		}
		keys, err := secrets.ParseKeys(path, content)
		if err != nil {
			return err
		}
		return checkTokenKeys("the database", keys, known, stream)
	}
	for {
		missing := lacks(shared.Content)
		if missing == nil {
			return shared, nil
		}
		own, err := os.ReadFile(path)
		if err == nil && lacks(own) == nil {
			brought, err := c.keyring.Put(tokenKeyFile, shared, own)
			if !errors.Is(err, durable.ErrConflict) {
				return brought, err
			}
		}
		now, err := c.keyring.Get(tokenKeyFile)
		if err != nil || now.Version == shared.Version {
			return shared, errors.Join(err, fmt.Errorf("%w: start the node first that served alone meanwhile, or bring the right file back to %s", missing, path))
		}
		shared = now // another node has changed them
	}
}
