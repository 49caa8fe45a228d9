package encrypted

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Generate returns a new P-256 key pair as JWKs. The private key is secret.
func Generate() (public, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	sum := sha256.Sum256(point)
	jwk := jose.JSONWebKey{Key: key, KeyID: base64.RawURLEncoding.EncodeToString(sum[:12]), Use: "enc", Algorithm: string(jose.ECDH_ES_A256KW)}
	if private, err = jwk.MarshalJSON(); err != nil {
		return nil, nil, fmt.Errorf("encode the key: %w", err)
	}
	jwk.Key = &key.PublicKey
	if public, err = jwk.MarshalJSON(); err != nil {
		return nil, nil, fmt.Errorf("encode the key: %w", err)
	}
	return public, private, nil
}
