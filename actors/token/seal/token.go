package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"strings"
)

// Environment separates production from sandbox: their tokens and keys have
// nothing in common.
type Environment string

// The environments.
const (
	Production Environment = "production"
	Sandbox    Environment = "sandbox"
)

// Prefix returns the beginning of every token of the environment.
func (e Environment) Prefix() string {
	if e == Sandbox {
		return "tok_test_"
	}
	return "tok_live_"
}

const (
	tokenBytes = 32 // 256 bits; the specification asks for 128
	tokenText  = 43 // base64url without padding
)

// Token is a token in clear. Printing it in any way gives a redaction.
type Token string

// NewToken makes a token from the system's secure random generator.
func NewToken(e Environment) Token {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return Token(e.Prefix() + base64.RawURLEncoding.EncodeToString(b[:]))
}

// ParseToken returns the token if text has the form of one of the environment. The token
// need not exist.
func ParseToken(e Environment, text string) (Token, bool) {
	rest, ok := strings.CutPrefix(text, e.Prefix())
	if !ok || len(rest) != tokenText {
		return "", false
	}
	var b [tokenBytes]byte
	// Strict: a token has one spelling, so that one record has one name.
	if _, err := strictBase64.Decode(b[:], []byte(rest)); err != nil {
		return "", false
	}
	return Token(text), true
}

var strictBase64 = base64.RawURLEncoding.Strict()

// Name identifies the token inside the process. It is never stored.
type Name [sha256.Size]byte

// Name returns the token's name.
func (t Token) Name() Name { return sha256.Sum256([]byte(t)) }

const redacted = "[redacted]"

// String, GoString, MarshalText and LogValue hide the token from every way of
// printing it.
func (t Token) String() string { return redacted }

// GoString hides the token.
func (t Token) GoString() string { return redacted }

// MarshalText hides the token; an answer writes string(t).
func (t Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the token.
func (t Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// Secret is bytes that must not be printed: a credential in clear.
type Secret []byte

// String hides the secret.
func (s Secret) String() string { return redacted }

// GoString hides the secret.
func (s Secret) GoString() string { return redacted }

// MarshalText hides the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Wipe overwrites the secret.
func (s Secret) Wipe() { clear(s) }
