package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func key(version uint32, fill byte) Key {
	return Key{Version: version, Material: bytes.Repeat([]byte{fill}, MaterialBytes), MadeAt: time.Now()}
}

func ring(t testing.TB, e Environment, stream string, keys ...Key) *Ring {
	t.Helper()
	r, err := NewRing(e, stream, keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A seal opens only with the token, binding, purpose, server key, environment and stream with which
// it was sealed.
func TestASealOpensOnlyWithAllItsInputs(t *testing.T) {
	v := ring(t, Production, "s", key(1, 1)).Newest()
	tok := NewToken(Production)
	sealed := v.Opener(tok).Seal(ForCredential, []byte("bound"), []byte("clear"))
	if got, err := v.Opener(tok).Open(ForCredential, []byte("bound"), sealed); err != nil || string(got) != "clear" {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (Secret, error){
		"another token": func() (Secret, error) {
			return v.Opener(NewToken(Production)).Open(ForCredential, []byte("bound"), sealed)
		},
		"another binding": func() (Secret, error) { return v.Opener(tok).Open(ForCredential, []byte("bounds"), sealed) },
		"another purpose": func() (Secret, error) { return v.Opener(tok).Open(ForDisplay, []byte("bound"), sealed) },
		"another server key": func() (Secret, error) {
			return ring(t, Production, "s", key(1, 2)).Newest().Opener(tok).Open(ForCredential, []byte("bound"), sealed)
		},
		"another environment": func() (Secret, error) {
			return ring(t, Sandbox, "s", key(1, 1)).Newest().Opener(tok).Open(ForCredential, []byte("bound"), sealed)
		},
		"another stream": func() (Secret, error) {
			return ring(t, Production, "t", key(1, 1)).Newest().Opener(tok).Open(ForCredential, []byte("bound"), sealed)
		},
		"a truncated seal": func() (Secret, error) { return v.Opener(tok).Open(ForCredential, []byte("bound"), sealed[:20]) },
		"an empty seal":    func() (Secret, error) { return v.Opener(tok).Open(ForCredential, []byte("bound"), nil) },
	} {
		if got, err := open(); !errors.Is(err, ErrDamaged) || got != nil {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
	if again := v.Opener(tok).Seal(ForCredential, []byte("bound"), []byte("clear")); bytes.Equal(again, sealed) {
		t.Error("two seals of the same text are equal")
	}
}

func share(fill byte) *Share {
	return NewShare(time.Now(), (*[ShareBytes]byte)(bytes.Repeat([]byte{fill}, ShareBytes)))
}

// A seal under a share opens only with that share, and not after the share's end.
func TestASharedSealNeedsItsShare(t *testing.T) {
	v, tok, mine := ring(t, Production, "s", key(1, 1)).Newest(), NewToken(Production), share(1)
	for name, with := range map[string]func(*Share, string) (Opener, error){
		"a token":   func(s *Share, other string) (Opener, error) { return v.SharedOpener(tok+Token(other), s) },
		"an answer": func(s *Share, other string) (Opener, error) { return v.AnswerOpener("caller", "key"+other, s) },
	} {
		o, err := with(mine, "")
		if err != nil {
			t.Fatal(err)
		}
		sealed := o.Seal(ForCredential, []byte("bound"), []byte("clear"))
		opens := func(o Opener, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.Open(ForCredential, []byte("bound"), sealed)
			return err == nil && string(got) == "clear"
		}
		if !opens(with(share(1), "")) {
			t.Errorf("%s does not open with its share", name)
		}
		if opens(with(share(2), "")) || opens(with(mine, "x")) || opens(v.Opener(tok), nil) {
			t.Errorf("%s opens without its share", name)
		}
	}
	mine.Wipe()
	if _, err := v.SharedOpener(tok, mine); !errors.Is(err, ErrOver) {
		t.Errorf("SharedOpener after the end of the share: %v, want ErrOver", err)
	}
	if _, err := v.AnswerOpener("caller", "key", mine); !errors.Is(err, ErrOver) {
		t.Errorf("AnswerOpener after the end of the share: %v, want ErrOver", err)
	}
	if mine.secret != [ShareBytes]byte{} {
		t.Error("the secret of a wiped share is still in memory")
	}
	if s := fmt.Sprintf("%v %+v %#v", share('x'), share('x'), share('x')); strings.Contains(s, "xxxx") || strings.Contains(s, "120") {
		t.Error("a share prints its secret")
	}
}

func TestQuarterEnd(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]time.Duration{
		0: 0, 1: 15 * time.Minute, 15 * time.Minute: 15 * time.Minute, 15*time.Minute + 1: 30 * time.Minute, -1: 0,
	} {
		if got := QuarterEnd(noon.Add(after).In(time.FixedZone("", 5*3600+1800+7))); !got.Equal(noon.Add(want)) {
			t.Errorf("QuarterEnd %v after noon returned %v, want %v after noon", after, got, want)
		}
	}
}

func TestRecordsAreAuthenticated(t *testing.T) {
	r := ring(t, Production, "s", key(1, 1), key(2, 2))
	rapid.Check(t, func(rt *rapid.T) {
		name, body := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(rt, "key"), rapid.SliceOf(rapid.Byte()).Draw(rt, "body")
		v := rapid.SampledFrom(r.Versions()).Draw(rt, "version")
		stored := v.Authenticate(name, body)
		got, under, err := r.Verify(name, stored)
		if err != nil || !bytes.Equal(got, body) || under != v {
			rt.Fatal(err)
		}
		i := rapid.IntRange(0, len(stored)-1).Draw(rt, "place")
		stored[i] ^= byte(rapid.IntRange(1, 255).Draw(rt, "flip"))
		if _, _, err := r.Verify(name, stored); !errors.Is(err, ErrDamaged) {
			rt.Fatalf("flipping byte %d: %v, want ErrDamaged", i, err)
		}
		stored[i] = v.Authenticate(name, body)[i]
		if _, _, err := r.Verify(append(name, 0), stored); !errors.Is(err, ErrDamaged) {
			rt.Fatal("the record is valid under another name")
		}
	})
}

func TestNewRing(t *testing.T) {
	if _, err := NewRing(Production, "s", nil); !errors.Is(err, ErrNoKey) {
		t.Error(err)
	}
	for name, keys := range map[string][]Key{
		"short": {{Version: 1, Material: []byte("x")}}, "no version": {key(0, 1)}, "twice": {key(1, 1), key(1, 2)},
	} {
		if _, err := NewRing(Production, "s", keys); !errors.Is(err, ErrNoKey) || strings.Contains(err.Error(), "\x01") {
			t.Errorf("%s: %v, want ErrNoKey", name, err)
		}
	}
	r := ring(t, Production, "s", key(2, 2), key(7, 7), key(1, 1))
	if r.Newest().Number != 7 || r.Version(2) == nil || r.Version(3) != nil || len(r.Versions()) != 3 {
		t.Error("the versions are wrong")
	}
	pending := key(8, 8)
	pending.Pending = true
	if r := ring(t, Production, "s", key(7, 7), pending); r.Newest().Number != 7 || r.Version(8) == nil || r.Versions()[0].Number != 8 {
		t.Error("a pending key is used for sealing, or cannot open")
	}
	if _, err := NewRing(Production, "s", []Key{pending}); !errors.Is(err, ErrNoKey) {
		t.Errorf("a ring with only a pending key: %v, want ErrNoKey", err)
	}
	if bytes.Equal(key(1, 1).Check("s"), key(1, 1).Check("t")) || bytes.Equal(key(1, 1).Check("s"), key(1, 2).Check("s")) {
		t.Error("different keys or streams have the same check")
	}
}

func TestTokensAreParsedInOneSpellingOnly(t *testing.T) {
	for _, e := range []Environment{Production, Sandbox} {
		tok := string(NewToken(e))
		if _, ok := ParseToken(e, tok); !ok {
			t.Error("a valid token is refused")
		}
		last := tok[:len(tok)-1]
		accepted := 0
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if _, ok := ParseToken(e, last+string(c)); ok {
				accepted++
			}
		}
		if accepted != 16 { // 43 characters are 258 bits; the last two must be 0
			t.Errorf("%d spellings of the last character are accepted, want 16", accepted)
		}
		for _, bad := range []string{"", tok[1:], tok + "A", tok[:len(tok)-1], " " + tok, strings.ToUpper(tok), tok[:20] + "=" + tok[21:], tok[:20] + "+" + tok[21:]} {
			if _, ok := ParseToken(e, bad); ok {
				t.Errorf("an invalid token of %d characters is accepted", len(bad))
			}
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	tok, material, secret := NewToken(Production), Material("0123456789abcdef"), Secret("0123456789abcdef")
	var out string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		out += fmt.Sprintf(verb+verb+verb, any(tok), any(material), any(secret))
	}
	j, err := json.Marshal(map[string]any{"t": tok, "s": secret, "k": Key{Version: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{string(tok)[9:], "0123456789", "48 49 50 51", "30313233", fmt.Sprintf("%x", string(tok)[9:])} {
		if strings.Contains(out+string(j), hidden) {
			t.Error("a secret is printed")
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	v := ring(b, Production, "s", key(1, 1)).Newest()
	tok, clear, bound := NewToken(Production), make([]byte, 140), make([]byte, 150)
	b.ReportAllocs()
	for b.Loop() {
		v.Opener(tok).Seal(ForCredential, bound, clear)
	}
}

func BenchmarkRecordKey(b *testing.B) {
	v := ring(b, Production, "s", key(1, 1)).Newest()
	tok := NewToken(Production)
	b.ReportAllocs()
	for b.Loop() {
		v.RecordKey(tok)
	}
}
