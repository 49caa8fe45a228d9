package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

const sealVersion = 1

// sealedAs binds what is sealed to its purpose.
var sealedAs = []byte("atelier ai key")

// seal is AES-256-GCM under the server's own key. Safe for concurrent use.
type seal struct{ aead cipher.AEAD }

func newSeal(secret string) (*seal, error) {
	key := sha256.Sum256([]byte("atelier settings seal\x00" + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("make seal: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make seal: %w", err)
	}
	return &seal{aead}, nil
}

func (s *seal) close(text string) []byte {
	out := make([]byte, 1+s.aead.NonceSize(), 1+s.aead.NonceSize()+len(text)+s.aead.Overhead())
	out[0] = sealVersion
	_, _ = rand.Read(out[1:]) // never fails
	return s.aead.Seal(out, out[1:], []byte(text), sealedAs)
}

func (s *seal) open(b []byte) (string, bool) {
	n := 1 + s.aead.NonceSize()
	if len(b) < n || b[0] != sealVersion {
		return "", false
	}
	text, err := s.aead.Open(nil, b[1:n], b[n:], sealedAs)
	return string(text), err == nil
}
