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
// (as base64url text) when there is none. The file is readable by its owner
// only. made tells whether it is new.
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
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", false, fmt.Errorf("make folder for secret: %w", err)
	}
	secret = Random(n)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", false, fmt.Errorf("write secret: %w", err)
	}
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", false, fmt.Errorf("write secret: %w", err)
	}
	return secret, true, nil
}

// Random returns n random bytes as base64url text.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
