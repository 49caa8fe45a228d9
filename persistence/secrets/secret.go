package secrets

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"

	"atelier/persistence/ondisk"
)

// Key returns the key stored in a file. If the file does not exist, Key stores and returns the
// result of fresh. made reports whether the key is new.
func Key(path string, fresh func() string) (key string, made bool, err error) {
	return loadOrMake(path, fresh, KeepKey)
}

// Password is like Key, for a secret that people read.
func Password(path string, fresh func() string) (password string, made bool, err error) {
	return loadOrMake(path, fresh, func(path, password string) error { return keep(path, password+"\n") })
}

func loadOrMake(path string, fresh func() string, keep func(path, secret string) error) (secret string, made bool, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		secret, err = parse(path, string(b))
		return secret, false, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read secret: %w", err)
	}
	secret = fresh()
	if err := keep(path, secret); err != nil {
		return "", false, err
	}
	return secret, true, nil
}

// sumMark begins the line with the checksum.
const sumMark = "# crc32c "

func sumOf(secret string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(secret), crc32.MakeTable(crc32.Castagnoli)))
}

func parse(path, content string) (string, error) {
	secret, sum, checked := strings.Cut(strings.TrimSpace(content), sumMark)
	if checked && strings.HasSuffix(secret, "\n") {
		secret = strings.TrimSuffix(secret, "\n")
	} else if checked {
		sum = "" // makes the checksum wrong, because the mark must begin a line
	}
	switch {
	case secret == "":
		return "", fmt.Errorf("secret file %s is empty", path)
	case strings.Contains(content, "\x00"):
		// A disk that has lost a block can leave zero bytes, and anybody could guess such a secret.
		return "", fmt.Errorf("secret file %s is damaged: it contains zero bytes", path)
	case checked && sum != sumOf(secret):
		return "", fmt.Errorf("secret file %s does not match its checksum; restore the file from a copy", path)
	case strings.Contains(secret, "\n"):
		return "", fmt.Errorf("secret file %s has more than one line", path)
	}
	return secret, nil
}

// KeepKey writes a key to a file. After a crash the file is either unchanged or complete. When
// KeepKey returns nil, the file and its name are on disk.
func KeepKey(path, key string) error {
	return keep(path, key+"\n"+sumMark+sumOf(key)+"\n")
}

func keep(path, content string) error {
	if err := ondisk.Replace(path, []byte(content)); err != nil {
		return fmt.Errorf("write secret: %w", err)
	}
	return nil
}
