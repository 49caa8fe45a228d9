package participant

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"strings"
)

// Secret is the secret of an API key. It is shown once, when the key is created, and never printed.
type Secret string

// String hides the secret.
func (Secret) String() string { return "[redacted]" }

// GoString hides the secret.
func (Secret) GoString() string { return "[redacted]" }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("[redacted]") }

const (
	livePrefix  = "ak_live_"
	testPrefix  = "ak_test_"
	keyIDDigits = 16
	secretText  = 43 // base64url of 32 bytes
)

// NewKey returns a new API key for an environment: its id, its secret, and the hash of the secret.
// Only the hash is stored. The secret contains the id, so that one look-up finds the key.
func NewKey(environment string) (id string, secret Secret, hash []byte) {
	var b [keyIDDigits/2 + sha256.Size]byte
	_, _ = rand.Read(b[:]) // never fails
	id = "key_" + hex.EncodeToString(b[:keyIDDigits/2])
	prefix := livePrefix
	if environment == Sandbox {
		prefix = testPrefix
	}
	secret = Secret(prefix + id[4:] + "_" + base64.RawURLEncoding.EncodeToString(b[keyIDDigits/2:]))
	sum := sha256.Sum256([]byte(secret))
	return id, secret, sum[:]
}

// KeyID returns the id of the key to which a secret of an environment belongs; ok is false if the
// text does not have the form of a secret.
func KeyID(environment, text string) (id string, ok bool) {
	prefix := livePrefix
	if environment == Sandbox {
		prefix = testPrefix
	}
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok || len(rest) != keyIDDigits+1+secretText || rest[keyIDDigits] != '_' {
		return "", false
	}
	return "key_" + rest[:keyIDDigits], true
}

// NewIdentity returns a new public identity for a participant.
func NewIdentity(environment string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	prefix := "id_live_"
	if environment == Sandbox {
		prefix = "id_test_"
	}
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
