package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
)

// Environment separates production from sandbox, which share neither tokens nor keys.
type Environment string

// The environments.
const (
	Production Environment = "production"
	Sandbox    Environment = "sandbox"
)

// Prefix returns the prefix of the environment's tokens.
func (e Environment) Prefix() string {
	if e == Sandbox {
		return "tok_test_"
	}
	return "tok_live_"
}

const (
	tokenBytes = 32 // 256 bits; the specification requires 128
	tokenText  = 43 // base64url without padding
)

// Token is a plain token. It is redacted when printed.
type Token string

// NewToken returns a token from the system's secure random generator.
func NewToken(e Environment) Token {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	return Token(e.Prefix() + base64.RawURLEncoding.EncodeToString(b[:]))
}

// ParseToken returns the token if text has the form of one of the environment's tokens. The token
// does not have to exist.
func ParseToken(e Environment, text string) (Token, bool) {
	rest, ok := strings.CutPrefix(text, e.Prefix())
	if !ok || len(rest) != tokenText {
		return "", false
	}
	var b [tokenBytes]byte
	// Decoding is strict. A token therefore has only one spelling, and its record only one name.
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

// Format redacts the token under every verb but %T, which prints its type, and %p. Nothing is printed
// with %p: it would print the token in clear.
func (Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText redacts the token. Answers to callers use string(t) instead.
func (t Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue redacts the token.
func (t Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// Secret is a plain credential, which must not be printed.
type Secret []byte

// Format redacts the secret under every verb but %T and %p, which print its type and its address.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText redacts the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue redacts the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Wipe overwrites the secret.
func (s Secret) Wipe() { clear(s) }
