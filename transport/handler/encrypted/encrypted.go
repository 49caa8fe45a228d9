// Package encrypted implements the encrypted credential pattern (transport/handler/RULES.md):
// instead of tokenizing a credential, a platform encrypts it to a public key of the business. The
// business decrypts it. The checkout's id is part of the encrypted content, and Decrypt refuses
// other checkouts, so that a message cannot be moved to another checkout.
//
// Messages are JWE (RFC 7516) in compact form, with A256GCM, and ECDH-ES+A256KW for keys on an
// elliptic curve or RSA-OAEP-256 for RSA keys. Other algorithms are refused.
package encrypted

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

var (
	// ErrKey means that a key is unusable. Its text contains no part of the key.
	ErrKey = errors.New("the key cannot be used")
	// ErrMessage means that a message cannot be decrypted, because it is malformed, modified, or
	// encrypted to another key.
	ErrMessage = errors.New("the message cannot be decrypted")
	// ErrCheckout means that a checkout's id has an invalid length.
	ErrCheckout = errors.New("checkout_id must have 1 to 255 bytes")
	// ErrOtherCheckout means that the message is for another checkout.
	ErrOtherCheckout = errors.New("the message is for another checkout")
)

const (
	// MaxKeyBytes and MaxMessageBytes bound the accepted input.
	MaxKeyBytes     = 8 << 10
	MaxMessageBytes = 64 << 10

	minRSABits = 2048
	maxRSABits = 8192
)

var (
	keyAlgorithms = []jose.KeyAlgorithm{jose.ECDH_ES_A256KW, jose.RSA_OAEP_256}
	contents      = []jose.ContentEncryption{jose.A256GCM}
)

// PublicKey checks a public JWK and returns it in normal form, for publication. It refuses weak
// keys. It also refuses keys with a private member, so that nobody publishes a private key.
func PublicKey(jwk []byte) ([]byte, error) {
	k, _, err := recipient(jwk)
	if err != nil {
		return nil, err
	}
	k.Certificates, k.CertificatesURL = nil, nil
	return k.MarshalJSON()
}

// payload is the encrypted content.
type payload struct {
	CheckoutID string          `json:"checkout_id"`
	Credential json.RawMessage `json:"credential"`
}

// Encrypt encrypts a credential, a JSON object, to a public JWK for one checkout.
func Encrypt(publicJWK []byte, checkoutID string, credential []byte) (message string, err error) {
	k, alg, err := recipient(publicJWK)
	if err != nil {
		return "", err
	}
	credential = bytes.TrimSpace(credential)
	if !isObject(credential) {
		return "", errors.New("the credential must be a JSON object")
	}
	if err := checkCheckout(checkoutID); err != nil {
		return "", err
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

// Decrypt decrypts a message with a private JWK and returns the credential if the message is for
// the checkout.
func Decrypt(privateJWK []byte, checkoutID, message string) (credential []byte, err error) {
	k, err := parseKey(privateJWK)
	if err != nil {
		return nil, err
	}
	if k.IsPublic() {
		return nil, fmt.Errorf("%w: it is a public key; decryption needs the private key", ErrKey)
	}
	if err := checkCheckout(checkoutID); err != nil {
		return nil, err
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
	// The content is decoded into a map, because decoding into a struct ignores the case of member
	// names.
	var p map[string]json.RawMessage
	var names *string
	if json.Unmarshal(plain, &p) != nil || json.Unmarshal(p["checkout_id"], &names) != nil || names == nil || !isObject(p["credential"]) {
		return nil, ErrMessage
	}
	if *names != checkoutID {
		return nil, ErrOtherCheckout
	}
	return p["credential"], nil
}

func checkCheckout(id string) error {
	if id == "" || len(id) > 255 {
		return ErrCheckout
	}
	return nil
}

func isObject(b []byte) bool { return len(b) > 0 && b[0] == '{' && json.Valid(b) }

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

// recipient returns the key to encrypt a credential to, and its algorithm.
func recipient(jwk []byte) (*jose.JSONWebKey, jose.KeyAlgorithm, error) {
	k, err := parseKey(jwk)
	if err != nil {
		return nil, "", err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(jwk, &members); err != nil {
		return nil, "", fmt.Errorf("%w: not a JWK", ErrKey)
	}
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, given := members[private]; given {
			return nil, "", fmt.Errorf("%w: it is a private key; use the public key", ErrKey)
		}
	}
	var alg jose.KeyAlgorithm
	switch key := k.Key.(type) {
	case *ecdsa.PublicKey: // the point is on its curve, because parsing would have failed otherwise
		alg = jose.ECDH_ES_A256KW
	case *rsa.PublicKey:
		alg = jose.RSA_OAEP_256
		if err := checkRSA(key.N, members["e"]); err != nil {
			return nil, "", err
		}
	default:
		return nil, "", fmt.Errorf("%w: it must be an EC or RSA key", ErrKey)
	}
	switch {
	case k.Algorithm != "" && k.Algorithm != string(alg):
		return nil, "", fmt.Errorf("%w: its alg is not %s", ErrKey, alg)
	case k.Use != "" && k.Use != "enc":
		return nil, "", fmt.Errorf("%w: its use is not enc", ErrKey)
	}
	return k, alg, nil
}

// checkRSA refuses keys that do not protect: a small or even modulus, or a bad exponent. A bad
// exponent changes nothing (1), has no inverse (an even one), or is so long that the library
// truncates it. checkRSA also refuses a modulus of more than maxRSABits.
func checkRSA(modulus *big.Int, exponent json.RawMessage) error {
	if n := modulus.BitLen(); n < minRSABits || n > maxRSABits || modulus.Bit(0) == 0 {
		return fmt.Errorf("%w: RSA keys need an odd modulus of %d to %d bits", ErrKey, minRSABits, maxRSABits)
	}
	var text string
	if err := json.Unmarshal(exponent, &text); err != nil {
		return fmt.Errorf("%w: not a JWK", ErrKey)
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if e := new(big.Int).SetBytes(b); err != nil || e.BitLen() < 2 || e.BitLen() > 31 || e.Bit(0) == 0 {
		return fmt.Errorf("%w: RSA keys need an odd exponent of 3 to 2147483647", ErrKey)
	}
	return nil
}
