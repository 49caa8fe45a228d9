package participant

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// thumbprint identifies a public key in the audit trail (RFC 7638, SHA-256). It is "" for a key
// that is neither EC nor RSA.
func thumbprint(jwk []byte) string {
	var k struct{ Kty, Crv, X, Y, N, E string }
	if json.Unmarshal(jwk, &k) != nil {
		return ""
	}
	// RFC 7638 hashes the required members in lexical order, which is the order of the fields.
	var required any
	switch k.Kty {
	case "EC":
		required = struct {
			Crv string `json:"crv"`
			Kty string `json:"kty"`
			X   string `json:"x"`
			Y   string `json:"y"`
		}{k.Crv, k.Kty, k.X, k.Y}
	case "RSA":
		required = struct {
			E   string `json:"e"`
			Kty string `json:"kty"`
			N   string `json:"n"`
		}{k.E, k.Kty, k.N}
	default:
		return ""
	}
	b, err := json.Marshal(required)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
