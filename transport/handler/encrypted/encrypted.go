// Package encrypted is the encrypted credential pattern (decisions C1): instead
// of tokenizing, a platform encrypts a credential to a key that the business
// published, and the business decrypts it. The checkout's id lies inside what
// is encrypted, and Decrypt refuses another checkout: a message cannot be
// carried over to one.
//
// Messages are JWE (RFC 7516) in compact form, with A256GCM, and ECDH-ES+A256KW
// for keys on an elliptic curve or RSA-OAEP-256 for RSA keys; no others are
// accepted.
package encrypted

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

var (
	// ErrKey says that a key cannot be used. Its text holds nothing of the key.
	ErrKey = errors.New("the key cannot be used")
	// ErrMessage says that a message does not open: malformed, changed, or
	// encrypted to another key.
	ErrMessage = errors.New("the message does not open")
	// ErrOtherCheckout says that the message is for another checkout.
	ErrOtherCheckout = errors.New("the message is for another checkout")
)

const (
	// MaxKeyBytes and MaxMessageBytes bound what is looked at.
	MaxKeyBytes     = 8 << 10
	MaxMessageBytes = 64 << 10

	minRSABits = 2048
)

var (
	keyAlgorithms = []jose.KeyAlgorithm{jose.ECDH_ES_A256KW, jose.RSA_OAEP_256}
	contents      = []jose.ContentEncryption{jose.A256GCM}
)

// PublicKey checks a public JWK and returns it in a normal form: what is
// published. A private key is refused, so that nobody publishes one.
func PublicKey(jwk []byte) ([]byte, error) {
	k, err := parseKey(jwk)
	if err != nil {
		return nil, err
	}
	if !k.IsPublic() {
		return nil, fmt.Errorf("%w: it is a private key; publish the public one", ErrKey)
	}
	if _, err := algorithm(k); err != nil {
		return nil, err
	}
	if k.Use != "" && k.Use != "enc" {
		return nil, fmt.Errorf("%w: its use is not enc", ErrKey)
	}
	k.Certificates, k.CertificatesURL = nil, nil
	return k.MarshalJSON()
}

// payload is what is encrypted.
type payload struct {
	CheckoutID string          `json:"checkout_id"`
	Credential json.RawMessage `json:"credential"`
}

// Encrypt encrypts a credential, a JSON object, to a public JWK for one
// checkout.
func Encrypt(publicJWK []byte, checkoutID string, credential []byte) (message string, err error) {
	k, err := parseKey(publicJWK)
	if err != nil {
		return "", err
	}
	if !k.IsPublic() {
		public := k.Public()
		k = &public
	}
	alg, err := algorithm(k)
	if err != nil {
		return "", err
	}
	credential = bytes.TrimSpace(credential)
	if !json.Valid(credential) || credential[0] != '{' {
		return "", errors.New("the credential must be a JSON object")
	}
	if checkoutID == "" || len(checkoutID) > 255 {
		return "", errors.New("checkout_id must have 1 to 255 bytes")
	}
	plain, err := json.Marshal(payload{checkoutID, credential})
	if err != nil {
		return "", errors.New("the credential cannot be encoded")
	}
	defer clear(plain)
	enc, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: alg, Key: k.Key, KeyID: k.KeyID},
		(&jose.EncrypterOptions{}).WithContentType("json"))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrKey, err)
	}
	sealed, err := enc.Encrypt(plain)
	if err != nil {
		return "", fmt.Errorf("encrypt: %w", err)
	}
	return sealed.CompactSerialize()
}

// Decrypt opens a message with a private JWK and returns the credential, if
// the message is for the checkout.
func Decrypt(privateJWK []byte, checkoutID, message string) (credential []byte, err error) {
	k, err := parseKey(privateJWK)
	if err != nil {
		return nil, err
	}
	if k.IsPublic() {
		return nil, fmt.Errorf("%w: it is a public key; decrypting takes the private one", ErrKey)
	}
	if len(message) > MaxMessageBytes {
		return nil, ErrMessage
	}
	sealed, err := jose.ParseEncryptedCompact(message, keyAlgorithms, contents)
	if err != nil {
		return nil, ErrMessage
	}
	plain, err := sealed.Decrypt(k.Key)
	if err != nil {
		return nil, ErrMessage
	}
	defer clear(plain)
	var p payload
	if err := json.Unmarshal(plain, &p); err != nil || len(p.Credential) == 0 {
		return nil, ErrMessage
	}
	if p.CheckoutID != checkoutID {
		return nil, ErrOtherCheckout
	}
	return p.Credential, nil
}

func parseKey(jwk []byte) (*jose.JSONWebKey, error) {
	if len(jwk) > MaxKeyBytes {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrKey, MaxKeyBytes)
	}
	var k jose.JSONWebKey
	// The library's error could quote the key.
	if err := k.UnmarshalJSON(jwk); err != nil || !k.Valid() {
		return nil, fmt.Errorf("%w: not a JWK", ErrKey)
	}
	return &k, nil
}

// algorithm is how to encrypt to a key.
func algorithm(k *jose.JSONWebKey) (jose.KeyAlgorithm, error) {
	var alg jose.KeyAlgorithm
	switch key := k.Key.(type) {
	case *ecdsa.PublicKey:
		alg = jose.ECDH_ES_A256KW
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSABits {
			return "", fmt.Errorf("%w: RSA keys need %d bits", ErrKey, minRSABits)
		}
		alg = jose.RSA_OAEP_256
	default:
		return "", fmt.Errorf("%w: it must be an EC or RSA key", ErrKey)
	}
	if k.Algorithm != "" && k.Algorithm != string(alg) {
		return "", fmt.Errorf("%w: its alg is not %s", ErrKey, alg)
	}
	return alg, nil
}
