package service

import (
	"fmt"
	"path/filepath"

	"atelier/cmd/atelier/config"
	"atelier/persistence/secrets"
	"atelier/transport/auth"
)

// secretFile returns the path of a secret in the data folder. Secrets are part of a backup only if
// AddSecrets adds them.
func secretFile(cfg config.Config, name string) string {
	return filepath.Join(cfg.Server.Data, secretsFolder, name)
}

// secretKey returns a key that is stored in a file, and creates the file if it is missing. A
// truncated key is not used, because it could be found by trying all values.
func secretKey(cfg config.Config, name string) (key string, made bool, err error) {
	path := secretFile(cfg, name)
	const size = 32 // bytes; the text has more characters
	key, made, err = secrets.Key(path, func() string { return auth.Random(size) })
	if err == nil && len(key) < size {
		err = fmt.Errorf("the key in %s is too short, so the file is damaged; restore it, or remove it to get a new key", path)
	}
	return key, made, err
}

// warnOfNewKey logs the consequences if a key was created although the store was used before. The
// key's file was then lost, or was not part of a restored backup.
func (c *Core) warnOfNewKey(name string, made bool, cost string) {
	if (made || c.made[name]) && c.usedBefore {
		c.log.Warn("a key file was missing, and a new key was made: "+cost, "made", secretFile(c.cfg, name))
	}
}

// pinKeyFile contains the key under which rejoin codes are hashed. Without the key nobody can find
// the codes in a backup by trying all of them.
const pinKeyFile = "pin.key"

// sessionKeyFile contains the key that signs sessions. settingsKeyFile contains the key that
// encrypts the AI key and the secrets of webhooks. tokenKeyFile contains the token keys.
const (
	sessionKeyFile  = "session.key"
	settingsKeyFile = "settings.key"
	tokenKeyFile    = "token-keys.json"
)

// pinKey returns the key of rejoin codes. If the key is lost, codes can no longer be verified, and
// must be reset.
func (c *Core) pinKey() ([]byte, error) {
	key, made, err := secretKey(c.cfg, pinKeyFile)
	if err == nil {
		err = c.node.Agree("secrets/"+pinKeyFile, key)
	}
	if (made || c.made[pinKeyFile]) && len(c.list.All()) > 0 {
		c.log.Warn("the key file of rejoin codes was missing, and a new key was made: the codes that attendees chose are void; reset them for those who need one", "made", secretFile(c.cfg, pinKeyFile))
	}
	return []byte(key), err
}
