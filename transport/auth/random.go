package auth

import (
	"crypto/rand"
	"encoding/base64"
)

// Random returns n random bytes as base64url text.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
