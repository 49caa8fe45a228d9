package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"atelier/transport/wire"
)

const (
	prefix   = "v1:"
	saltSize = 16
	tagSize  = sha256.Size
	rounds   = 100_000
	// maxKey bounds a decrypted key and maxText its encrypted text, both in bytes.
	maxKey  = 4096
	maxText = 8192
)

// errEncrypted is the only error for texts that cannot be decrypted. It does not reveal whether the
// password or the form of the text is wrong. Only a decrypted key that is empty, too long or not
// printable ASCII without spaces has another error.
var errEncrypted = wire.Invalid("the AI key is not encrypted with ADMIN_PW, or was tampered with")

// envelope is a parsed encrypted key.
type envelope struct {
	salt, iv, body, tag []byte
	signed              []byte // the bytes that the tag authenticates
}

// parse splits an encrypted key; it does not check the password.
func parse(text string) (*envelope, error) {
	encoded, ok := strings.CutPrefix(text, prefix)
	if !ok || len(text) > maxText {
		return nil, errEncrypted
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	least := saltSize + aes.BlockSize + aes.BlockSize + tagSize
	if err != nil || strings.ContainsAny(encoded, "\r\n") || len(raw) < least || (len(raw)-least)%aes.BlockSize != 0 {
		return nil, errEncrypted
	}
	end := len(raw) - tagSize
	return &envelope{
		salt: raw[:saltSize], iv: raw[saltSize : saltSize+aes.BlockSize], body: raw[saltSize+aes.BlockSize : end],
		tag: raw[end:], signed: raw[:end],
	}, nil
}

// derived contains the keys derived from a password and a salt: the encryption key, then the MAC
// key.
type derived [64]byte

func derive(password string, salt []byte) (derived, error) {
	b, err := pbkdf2.Key(sha256.New, password, salt, rounds, len(derived{}))
	if err != nil {
		return derived{}, fmt.Errorf("derive key: %w", err)
	}
	return derived(b), nil
}

func (d *derived) tag(signed []byte) []byte {
	m := hmac.New(sha256.New, d[32:])
	m.Write(signed)
	return m.Sum(nil)
}

// open verifies the tag, decrypts the key, and checks that it has 1 to maxKey printable ASCII
// characters and no spaces.
func (e *envelope) open(d *derived) (Key, error) {
	if !hmac.Equal(d.tag(e.signed), e.tag) {
		return Key{}, errEncrypted
	}
	block, err := aes.NewCipher(d[:32])
	if err != nil {
		return Key{}, fmt.Errorf("decrypt AI key: %w", err)
	}
	clear := make([]byte, len(e.body))
	cipher.NewCBCDecrypter(block, e.iv).CryptBlocks(clear, e.body)
	pad := int(clear[len(clear)-1])
	if pad < 1 || pad > aes.BlockSize {
		return Key{}, errEncrypted
	}
	for _, b := range clear[len(clear)-pad:] {
		if int(b) != pad {
			return Key{}, errEncrypted
		}
	}
	text := string(clear[:len(clear)-pad])
	if len(text) == 0 || len(text) > maxKey || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Key{}, wire.Invalid("the AI key must be 1 to %d printable ASCII characters without spaces", maxKey)
	}
	return Key{text}, nil
}

// Encrypt returns the encrypted text of a key, as browsers produce it. random provides salt and iv.
func Encrypt(password, key string, random io.Reader) (string, error) {
	raw := make([]byte, saltSize+aes.BlockSize, saltSize+aes.BlockSize+len(key)+aes.BlockSize+tagSize)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("encrypt AI key: %w", err)
	}
	d, err := derive(password, raw[:saltSize])
	if err != nil {
		return "", err
	}
	block, err := aes.NewCipher(d[:32])
	if err != nil {
		return "", fmt.Errorf("encrypt AI key: %w", err)
	}
	pad := aes.BlockSize - len(key)%aes.BlockSize
	body := append([]byte(key), strings.Repeat(string(rune(pad)), pad)...)
	cipher.NewCBCEncrypter(block, raw[saltSize:]).CryptBlocks(body, body)
	raw = append(raw, body...)
	return prefix + base64.StdEncoding.EncodeToString(append(raw, d.tag(raw)...)), nil
}
