package encrypted

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

const credential = `{"type":"card","number":"4242424242424242","expiry_month":1}`

func ecKey(t testing.TB) (public, private []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return pair(t, key, err, key.Public())
}

func pair(t testing.TB, private any, err error, public any) ([]byte, []byte) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	pub, err1 := (&jose.JSONWebKey{Key: public, KeyID: "k1", Use: "enc"}).MarshalJSON()
	priv, err2 := (&jose.JSONWebKey{Key: private, KeyID: "k1"}).MarshalJSON()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return pub, priv
}

func TestABusinessReadsWhatAPlatformEncryptedToIt(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	rsaPublic, rsaPrivate := pair(t, rsaKey, err, &rsaKey.PublicKey)
	ecPublic, ecPrivate := ecKey(t)
	for name, keys := range map[string][2][]byte{"EC": {ecPublic, ecPrivate}, "RSA": {rsaPublic, rsaPrivate}} {
		t.Run(name, func(t *testing.T) {
			published, err := PublicKey(keys[0])
			if err != nil {
				t.Fatal(err)
			}
			message, err := Encrypt(published, "checkout-1", []byte(credential))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(message, "4242") || strings.Count(message, ".") != 4 {
				t.Fatalf("%d bytes", len(message))
			}
			got, err := Decrypt(keys[1], "checkout-1", message)
			if err != nil || string(got) != credential {
				t.Fatalf("%v", err)
			}
			if _, err := Decrypt(keys[1], "checkout-2", message); !errors.Is(err, ErrOtherCheckout) {
				t.Fatalf("another checkout: %v", err)
			}
		})
	}
}

func TestAMessageThatWasChangedOrIsForAnotherKeyDoesNotOpen(t *testing.T) {
	public, private := ecKey(t)
	_, other := ecKey(t)
	message, err := Encrypt(public, "c", []byte(credential))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decrypt(other, "c", message); !errors.Is(err, ErrMessage) {
		t.Errorf("another key: %v", err)
	}
	for i := range len(message) {
		for _, with := range []byte("A.") {
			if message[i] == with {
				continue
			}
			changed := message[:i] + string(with) + message[i+1:]
			if got, err := Decrypt(private, "c", changed); err == nil && string(got) != credential {
				t.Fatalf("byte %d: opened as something else", i)
			} else if err == nil {
				// The last character of a base64 part has bits that mean nothing.
				if next := i + 1; next < len(message) && message[next] != '.' {
					t.Errorf("byte %d: opened", i)
				}
			}
		}
	}
}

func TestKeysThatMustNotBeUsedAreRefused(t *testing.T) {
	public, private := ecKey(t)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	smallPublic, _ := pair(t, small, err, &small.PublicKey)
	symmetric := []byte(`{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`)
	signing := []byte(strings.Replace(string(public), `"use":"enc"`, `"use":"sig"`, 1))
	for name, key := range map[string][]byte{
		"private": private, "small RSA": smallPublic, "symmetric": symmetric, "for signing": signing, "empty": nil,
		"nonsense": []byte("{}"), "huge": []byte(strings.Repeat(" ", MaxKeyBytes) + string(public)),
	} {
		if _, err := PublicKey(key); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decrypt(public, "c", "a.b.c.d.e"); !errors.Is(err, ErrKey) {
		t.Errorf("decrypting with a public key: %v", err)
	}
}

// A message made with an algorithm outside the short list is not looked at, as
// any other would open doors that nobody watches.
func TestOtherAlgorithmsAreRefused(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	_, private := pair(t, key, err, &key.PublicKey)
	for _, alg := range []jose.KeyAlgorithm{jose.RSA1_5, jose.RSA_OAEP} {
		enc, err := jose.NewEncrypter(jose.A128GCM, jose.Recipient{Algorithm: alg, Key: &key.PublicKey}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := enc.Encrypt([]byte(`{"checkout_id":"c","credential":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		message, err := sealed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decrypt(private, "c", message); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", alg, err)
		}
	}
}

func FuzzDecrypt(f *testing.F) {
	public, private := ecKey(f)
	message, err := Encrypt(public, "c", []byte(credential))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(message)
	f.Add("....")
	f.Fuzz(func(t *testing.T, message string) {
		got, err := Decrypt(private, "c", message)
		if err == nil && string(got) != credential {
			t.Fatal("a message that nobody made opened")
		}
	})
}
