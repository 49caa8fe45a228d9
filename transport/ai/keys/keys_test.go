package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
)

const (
	password = "admin"
	vector   = "v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh/8MpZsKCcAAHJlaislgkfp68ZDeIHdtmLNKW9+3sNnilw8iJdrO9w3SS4OVdvBF5E="
)

func newRing(t testing.TB, password string) *Ring {
	t.Helper()
	r, err := NewRing(password, "server key", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func invalid(err error) bool {
	var r *durable.Rejection
	return errors.As(err, &r) && r.Reason == durable.Invalid
}

func TestEncryptedKeysMatchTheDocumentedVector(t *testing.T) {
	random := make([]byte, 32)
	for i := range random {
		random[i] = byte(i)
	}
	text, err := Encrypt(password, "test-key-123", bytes.NewReader(random))
	if err != nil || text != vector {
		t.Errorf("Encrypt returned %q, %v", text, err)
	}
	k, err := newRing(t, password).Open("a", vector)
	if err != nil || k.Reveal() != "test-key-123" {
		t.Errorf("Open returned %q, %v", k.Reveal(), err)
	}
}

func TestInvalidEncryptedKeysAreRefused(t *testing.T) {
	r := newRing(t, password)
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(vector, prefix))
	for _, bad := range []string{
		"", "test-key-123", "v1:", "v2:" + vector[3:], vector[3:], vector + "=", vector + "\n", vector[:len(vector)-4], "v1:" + strings.Repeat("A", maxText),
		"v1:" + base64.RawStdEncoding.EncodeToString(raw), "v1:" + base64.URLEncoding.EncodeToString(raw), "v1:" + base64.StdEncoding.EncodeToString(raw[:79]),
		strings.Replace(vector, "AAEC", "AAE\nC", 1),
	} {
		if _, err := r.Open("forms", bad); !invalid(err) {
			t.Errorf("the key %.40q: %v, want Invalid", bad, err)
		}
	}
	// The tag covers the salt, the iv, the ciphertext and itself.
	for _, at := range []int{16, 31, 32, 47, len(raw) - 32, len(raw) - 1} {
		changed := bytes.Clone(raw)
		changed[at] ^= 1
		if _, err := r.Open(fmt.Sprint(at), prefix+base64.StdEncoding.EncodeToString(changed)); !invalid(err) {
			t.Errorf("with byte %d changed: %v, want Invalid", at, err)
		}
	}
	if _, err := newRing(t, "other").Open("a", vector); !invalid(err) {
		t.Errorf("with another password: %v, want Invalid", err)
	}
}

func TestAKeyMustFitInAHeader(t *testing.T) {
	r := newRing(t, password)
	for _, key := range []string{"", "a b", "a\r\nX: y", "ä", strings.Repeat("x", maxKey+1)} {
		text, err := Encrypt(password, key, bytes.NewReader(make([]byte, 32)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Open("a", text); !invalid(err) {
			t.Errorf("the key %.10q: %v, want Invalid", key, err)
		}
	}
}

func TestAKeyIsNeverPrinted(t *testing.T) {
	k := Key{"canary"}
	js, err := json.Marshal(map[string]any{"k": k, "p": &k})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", k, "in", struct{ K Key }{k})
	text := string(js) + log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		text += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, &k) + fmt.Sprintf(verb, struct{ K Key }{k})
	}
	if strings.Contains(text, "canary") || strings.Contains(text, fmt.Sprintf("%x", "canary")) {
		t.Errorf("a printed key is not redacted: %s", text)
	}
}

func TestAStoredKeyNeedsTheSamePasswordAndServer(t *testing.T) {
	sealed := newRing(t, password).Seal(vector)
	if bytes.Contains(sealed, []byte("v1:")) {
		t.Error("the sealed key contains its text")
	}
	if k, ok, err := newRing(t, password).OpenStored(sealed); !ok || err != nil || k.Reveal() != "test-key-123" {
		t.Errorf("OpenStored returned %v, %v", ok, err)
	}
	changed := newRing(t, "other")
	for range 2 {
		if _, ok, err := changed.OpenStored(sealed); ok || err != nil {
			t.Errorf("after a change of the password OpenStored returned %v, %v", ok, err)
		}
	}
	other, err := NewRing(password, "another server", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	sealed[len(sealed)-1] ^= 1
	for _, b := range [][]byte{nil, {1}, {2}, sealed, newRing(t, password).Seal("plain")} {
		if _, ok, err := other.OpenStored(b); ok || err != nil {
			t.Errorf("OpenStored(%x) returned %v, %v", b, ok, err)
		}
	}
}

func TestAFloodOfWrongKeysIsSlowedDown(t *testing.T) {
	now := time.Unix(0, 0)
	r, err := NewRing(password, "k", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(vector, prefix))
	slow := 0
	for i := range 200 {
		raw[0], raw[1] = 7, byte(i)
		_, err := r.Open("eve", prefix+base64.StdEncoding.EncodeToString(raw))
		var s *Slow
		if errors.As(err, &s) && s.After > 0 {
			slow++
		} else if !invalid(err) {
			t.Fatal(err)
		}
	}
	if slow != 190 {
		t.Errorf("%d of 200 calls were slowed down, want 190", slow)
	}
	// Other people are still served. A valid key needs only one derivation, because its derived
	// keys are cached.
	for range 100 {
		if _, err := r.Open("lin", vector); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.known) != 1 {
		t.Errorf("%d salts are remembered, want 1", len(r.known))
	}
	now = now.Add(rememberFor + time.Second)
	if r.recall(saltID{}); len(r.known) != 0 {
		t.Error("a salt is remembered after its time")
	}
}

func TestConcurrentCallersWithOneKeyShareItsDerivation(t *testing.T) {
	r := newRing(t, password)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if _, err := r.Open(fmt.Sprint(i), vector); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.all.Level(""); n > 3 {
		t.Errorf("there were %d derivations, want at most 3", n)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(vector)
	f.Add("v1:")
	r := newRing(f, password)
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := parse(text); err == nil {
			if len(e.body)%16 != 0 || len(e.tag) != 32 || len(e.salt) != 16 || len(e.iv) != 16 {
				t.Errorf("%q has fields of wrong lengths", text)
			}
			var d derived
			if _, err := e.open(&d); err == nil {
				t.Errorf("%q can be opened with a zero key", text)
			}
		}
		_, _, _ = r.OpenStored([]byte(text))
	})
}
