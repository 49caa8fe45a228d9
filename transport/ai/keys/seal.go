package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

const sealVersion = 1

// Purposes of sealed data: data sealed for one purpose cannot be opened for another.
const (
	ForAIKey   = "atelier ai key"
	ForWebhook = "atelier webhook secret"
)

// Seal encrypts data for one purpose with AES-256-GCM under the server's own key. It is safe for
// concurrent use.
type Seal struct {
	aead    cipher.AEAD
	purpose []byte
}

// NewSeal returns a seal for one purpose. secret is the server's key.
func NewSeal(secret, purpose string) (*Seal, error) {
	key := sha256.Sum256([]byte("atelier settings seal\x00" + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("make seal: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make seal: %w", err)
	}
	return &Seal{aead, []byte(purpose)}, nil
}

// Close encrypts a text.
func (s *Seal) Close(text string) []byte {
	out := make([]byte, 1+s.aead.NonceSize(), 1+s.aead.NonceSize()+len(text)+s.aead.Overhead())
	out[0] = sealVersion
	_, _ = rand.Read(out[1:]) // never fails
	return s.aead.Seal(out, out[1:], []byte(text), s.purpose)
}

// Open decrypts the result of Close. It returns false if the text was sealed under another key or
// for another purpose, or if b is damaged.
func (s *Seal) Open(b []byte) (string, bool) {
	n := 1 + s.aead.NonceSize()
	if len(b) < n || b[0] != sealVersion {
		return "", false
	}
	text, err := s.aead.Open(nil, b[1:n], b[n:], s.purpose)
	return string(text), err == nil
}
