package encrypted

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
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

func TestABusinessDecryptsAPlatformsMessage(t *testing.T) {
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
			if strings.Contains(message, "42424242") || strings.Count(message, ".") != 4 {
				t.Fatalf("the message of %d bytes is not encrypted", len(message))
			}
			got, err := Decrypt(keys[1], "checkout-1", message)
			if err != nil || string(got) != credential {
				t.Fatalf("Decrypt returned another credential, %v", err)
			}
			if _, err := Decrypt(keys[1], "checkout-2", message); !errors.Is(err, ErrOtherCheckout) {
				t.Fatalf("for another checkout Decrypt returned %v, want ErrOtherCheckout", err)
			}
		})
	}
}

func TestChangedOrForeignMessagesAreRefused(t *testing.T) {
	public, private := ecKey(t)
	_, other := ecKey(t)
	message, err := Encrypt(public, "c", []byte(credential))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decrypt(other, "c", message); !errors.Is(err, ErrMessage) {
		t.Errorf("with another key Decrypt returned %v, want ErrMessage", err)
	}
	for i := range len(message) {
		for _, with := range []byte("A.") {
			if message[i] == with {
				continue
			}
			changed := message[:i] + string(with) + message[i+1:]
			if got, err := Decrypt(private, "c", changed); err == nil && string(got) != credential {
				t.Fatalf("with byte %d changed, Decrypt returned another credential", i)
			} else if err == nil {
				// The last character of a base64 part has unused bits.
				if next := i + 1; next < len(message) && message[next] != '.' {
					t.Errorf("a message with byte %d changed was accepted", i)
				}
			}
		}
	}
}

func TestUnsafeKeysAreRefused(t *testing.T) {
	public, private := ecKey(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	rsaPublic, rsaPrivate := pair(t, rsaKey, err, &rsaKey.PublicKey)
	// with returns a key with changed fields. nil removes a field.
	with := func(jwk []byte, changes ...any) []byte {
		var m map[string]any
		if err := json.Unmarshal(jwk, &m); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(changes); i += 2 {
			if m[changes[i].(string)] = changes[i+1]; changes[i+1] == nil {
				delete(m, changes[i].(string))
			}
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	number := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	bits := func(n uint) *big.Int {
		x := new(big.Int).Lsh(big.NewInt(1), n-1)
		return x.Add(x, big.NewInt(1))
	}
	y := make([]byte, 32)
	for name, key := range map[string][]byte{
		"private":                  private,
		"private RSA":              rsaPrivate,
		"a single private field":   with(rsaPublic, "p", "AQAB"),
		"a private exponent":       with(rsaPublic, "d", "AQAB"),
		"a private EC field":       with(public, "d", "AQAB"),
		"additional primes":        with(rsaPublic, "oth", []any{}),
		"RSA of 1024 bits":         with(rsaPublic, "n", number(bits(1024))),
		"RSA of 2047 bits":         with(rsaPublic, "n", number(bits(2047))),
		"RSA of 8193 bits":         with(rsaPublic, "n", number(bits(8193))),
		"RSA with an even modulus": with(rsaPublic, "n", number(new(big.Int).Lsh(big.NewInt(1), 2047))),
		"RSA with e = 1":           with(rsaPublic, "e", "AQ"),
		"RSA with e = 2":           with(rsaPublic, "e", "Ag"),
		"RSA with e = 0":           with(rsaPublic, "e", "AA"),
		"RSA with an even e":       with(rsaPublic, "e", number(big.NewInt(65536))),
		"RSA with e of 32 bits":    with(rsaPublic, "e", number(bits(32))),
		"RSA with e cut to 65537":  with(rsaPublic, "e", number(new(big.Int).Add(bits(65), big.NewInt(65536)))),
		"RSA without e":            with(rsaPublic, "e", nil),
		"RSA signing":              with(rsaPublic, "alg", "RS256"),
		"RSA-OAEP with SHA-1":      with(rsaPublic, "alg", "RSA-OAEP"),
		"a point off the curve":    with(public, "y", base64.RawURLEncoding.EncodeToString(y)),
		"the point at infinity":    with(public, "x", base64.RawURLEncoding.EncodeToString(y), "y", base64.RawURLEncoding.EncodeToString(y)),
		"another curve":            with(public, "crv", "P-384"),
		"an unsupported curve":     with(public, "crv", "secp256k1"),
		"symmetric":                []byte(`{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`),
		"Edwards curve":            []byte(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`),
		"for signing":              with(public, "use", "sig"),
		"empty":                    nil,
		"null":                     []byte("null"),
		"nonsense":                 []byte("{}"),
		"huge":                     []byte(strings.Repeat(" ", MaxKeyBytes) + string(public)),
	} {
		if _, err := PublicKey(key); !errors.Is(err, ErrKey) {
			t.Errorf("PublicKey with %s returned %v, want ErrKey", name, err)
		}
		if _, err := Encrypt(key, "c", []byte(credential)); !errors.Is(err, ErrKey) {
			t.Errorf("Encrypt with %s returned %v, want ErrKey", name, err)
		}
	}
	for name, key := range map[string][]byte{
		"e = 3": with(rsaPublic, "e", "Aw"), "e = 2^31-1": with(rsaPublic, "e", number(big.NewInt(1<<31-1))),
		"alg": with(rsaPublic, "alg", "RSA-OAEP-256"), "no use": with(public, "use", nil),
	} {
		if _, err := PublicKey(key); err != nil {
			t.Errorf("the key with %s is refused: %v", name, err)
		}
	}
	if _, err := Decrypt(public, "c", "a.b.c.d.e"); !errors.Is(err, ErrKey) {
		t.Errorf("Decrypt with a public key returned %v, want ErrKey", err)
	}
}

// A message without its checkout is valid for no checkout.
func TestAMessageWithoutItsCheckoutIsRefused(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	public, private := pair(t, key, err, key.Public())
	message := func(plain string) string {
		enc, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.ECDH_ES_A256KW, Key: key.Public()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := enc.Encrypt([]byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		text, err := sealed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got, err := Decrypt(private, "c", message(`{"checkout_id":"c","credential":{}}`)); err != nil || string(got) != "{}" {
		t.Errorf("Decrypt of a complete message returned %s, %v", got, err)
	}
	for name, plain := range map[string]string{
		"no checkout": `{"credential":{}}`, "null": `{"checkout_id":null,"credential":{}}`, "a number": `{"checkout_id":0,"credential":{}}`,
		"another case": `{"Checkout_ID":"c","credential":{}}`, "no credential": `{"checkout_id":"c"}`, "a credential of text": `{"checkout_id":"c","credential":"x"}`,
		"not an object": `[]`,
	} {
		for _, checkout := range []string{"c", "0", "null"} {
			if got, err := Decrypt(private, checkout, message(plain)); !errors.Is(err, ErrMessage) || got != nil {
				t.Errorf("%s: for checkout %q Decrypt returned %v, want ErrMessage", name, checkout, err)
			}
		}
	}
	for _, checkout := range []string{"", strings.Repeat("c", 256)} {
		for _, plain := range []string{`{"credential":{}}`, `{"checkout_id":"` + checkout + `","credential":{}}`} {
			if got, err := Decrypt(private, checkout, message(plain)); !errors.Is(err, ErrCheckout) || got != nil {
				t.Errorf("for a checkout ID of %d bytes Decrypt returned %v, want ErrCheckout", len(checkout), err)
			}
		}
		if _, err := Encrypt(public, checkout, []byte(credential)); !errors.Is(err, ErrCheckout) {
			t.Errorf("for a checkout ID of %d bytes Encrypt returned %v, want ErrCheckout", len(checkout), err)
		}
	}
	if _, err := Decrypt(private, "d", message(`{"checkout_id":"c","credential":{}}`)); !errors.Is(err, ErrOtherCheckout) {
		t.Errorf("for another checkout Decrypt returned %v, want ErrOtherCheckout", err)
	}
}

// A message with an algorithm outside the short list is refused, because any other algorithm
// would add untested attack surface.
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
			t.Errorf("a message with %s returned %v, want ErrMessage", alg, err)
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
			t.Fatal("a forged message was accepted")
		}
	})
}
