// Package secretfile keeps secrets in files of the data folder, one in each,
// readable by their owner only. It never prints one.
package secretfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"atelier/persistence/ondisk"
)

// LoadOrMake returns the secret kept in a file, or keeps there what fresh
// returns when there is none. made tells whether it is new.
func LoadOrMake(path string, fresh func() string) (secret string, made bool, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		secret = strings.TrimSpace(string(b))
		switch {
		case secret == "":
			return "", false, fmt.Errorf("secret file %s is empty", path)
		case strings.Contains(secret, "\x00"):
			// As a disk leaves it that has lost a block: everybody could guess it.
			return "", false, fmt.Errorf("secret file %s is damaged: there are zero bytes in it", path)
		}
		return secret, false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read secret: %w", err)
	}
	secret = fresh()
	if err := Keep(path, secret); err != nil {
		return "", false, err
	}
	return secret, true, nil
}

// Keep writes a secret to a file. After a crash the file is as before or whole;
// when Keep returns it is on disk, and so is its name.
func Keep(path, secret string) error {
	if err := ondisk.Replace(path, []byte(secret+"\n")); err != nil {
		return fmt.Errorf("write secret: %w", err)
	}
	return nil
}
