package auth

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LoadOrMake returns the secret kept in a file, making a random one of n bytes
// (as base64url text) when there is none. made tells whether it is new.
func LoadOrMake(path string, n int) (secret string, made bool, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		secret = strings.TrimSpace(string(b))
		if secret == "" {
			return "", false, fmt.Errorf("secret file %s is empty", path)
		}
		return secret, false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read secret: %w", err)
	}
	secret = Random(n)
	if err := Keep(path, secret); err != nil {
		return "", false, err
	}
	return secret, true, nil
}

// Keep writes a secret to a file that its owner alone may read. After a crash
// the file is as before or whole; when Keep returns it is on disk, and so is its
// name.
func Keep(path, secret string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder for secret: %w", err)
	}
	f, err := os.CreateTemp(dir, ".secret-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write secret: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, syncFile(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		// The folder above too, which may just have got this one.
		err = errors.Join(syncFolder(dir), syncFolder(filepath.Dir(dir)))
	}
	if err != nil {
		return fmt.Errorf("write secret: %w", err)
	}
	return nil
}

// syncFile is what tests look at.
var syncFile = (*os.File).Sync

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(d), d.Close())
}

// Random returns n random bytes as base64url text.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
