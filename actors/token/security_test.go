package token

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
	"atelier/persistence/badger"
)

// The tests of this file are named after the rows of the specification's table
// of security requirements (commerce protocol, Authentication 4).

func TestMustBindEveryCredentialToCheckoutAndParticipant(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	_, raw := w.rowOf(tok)
	body, _, err := w.vault.Ring().Verify(w.vault.rowKey(tok, w.vault.Ring().Newest()), raw)
	if err != nil {
		t.Fatal(err)
	}
	var r pb.Token
	if err := r.Decode(body); err != nil {
		t.Fatal(err)
	}
	want := CheckoutHash("c")
	if r.Participant != "business" || !bytes.Equal(r.Checkout, want[:]) {
		t.Errorf("the record is bound to %q, or to another checkout", r.Participant)
	}
}

func TestMustVerifyTheBindingBeforeReturningACredential(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	for _, u := range []Use{{tok, "business", "d"}, {tok, "platform", "c"}, {tok, "", "c"}, {tok, "business", ""}, {tok, "business", "C"}, {tok, "business", "c "}} {
		if got, err := w.vault.Detokenize(business, u); err == nil || got != nil {
			t.Errorf("Detokenize with checkout %+v returned %v", u.Checkout, err)
		}
	}
}

func TestTokensAreCryptographicallyRandom(t *testing.T) {
	const n = 20000
	seen := map[seal.Token]bool{}
	var ones [256]int
	for range n {
		tok := seal.NewToken(seal.Production)
		if seen[tok] {
			t.Fatal("the same token was created twice")
		}
		seen[tok] = true
		b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(string(tok), "tok_live_"))
		if err != nil || len(b) != 32 {
			t.Fatal("a token is malformed")
		}
		for i := range ones {
			ones[i] += int(b[i/8] >> (i % 8) & 1)
		}
	}
	for i, c := range ones { // six standard deviations
		if math.Abs(float64(c)-n/2) > 6*math.Sqrt(n)/2 {
			t.Errorf("bit %d is set in %d of %d tokens", i, c, n)
		}
	}
}

func TestTokensHaveSufficientLength(t *testing.T) {
	tok := seal.NewToken(seal.Sandbox)
	if bits := len(strings.TrimPrefix(string(tok), "tok_test_")) * 6; bits < 256 {
		t.Errorf("a token has %d bits, want at least 256", bits)
	}
}

// Tokens of the same credential have nothing in common. A token contains no credential, so without
// the store it is useless. The store is useless without the token, even with the server's keys: a
// seal opens under no key that is derived without the token.
func TestTheCredentialCannotBeDerivedFromTheToken(t *testing.T) {
	w := newWorld(t)
	a, b := w.issue("c", pb.Policy_POLICY_TTL), w.issue("c", pb.Policy_POLICY_TTL)
	if a == b {
		t.Fatal("two tokens are equal")
	}
	key, raw := w.rowOf(a)
	body, v, err := w.vault.Ring().Verify(key, raw)
	if err != nil {
		t.Fatal(err)
	}
	var r pb.Token
	if err := r.Decode(body); err != nil {
		t.Fatal(err)
	}
	share, err := w.vault.findShare(r.Share)
	if err != nil {
		t.Fatal(err)
	}
	for _, guess := range []seal.Token{a, b, "", seal.Token(key), seal.NewToken(seal.Production)} {
		shared, err := v.SharedOpener(guess, share)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shared.Open(seal.ForCredential, bound(key, &r), r.Credential); (err == nil) != (guess == a) {
			t.Fatal("the seal opens without the token, or not with it")
		}
		if _, err := v.Opener(guess).Open(seal.ForCredential, bound(key, &r), r.Credential); err == nil {
			t.Fatal("the seal opens without the share")
		}
	}
}

func TestATokenIsScopedToItsTokenizer(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	sandbox := newWorld(t, func(o *Options) { o.Environment, o.Journal = seal.Sandbox, w.journal })
	if _, ok := seal.ParseToken(seal.Sandbox, string(tok)); ok {
		t.Error("the sandbox accepts a production token")
	}
	if _, err := sandbox.vault.Detokenize(business, Use{tok, "business", "c"}); err != NotFound {
		t.Errorf("the token in the sandbox: %v, want NotFound", err)
	}
	elsewhere := newWorld(t, func(o *Options) {
		o.Journal, o.Keys = w.journal, []seal.Key{{Version: 1, Material: bytes.Repeat([]byte{7}, 32)}}
	})
	if _, err := elsewhere.vault.Detokenize(business, Use{tok, "business", "c"}); err != NotFound {
		t.Errorf("the token with the keys of another server: %v, want NotFound", err)
	}
}

func TestATokenIsTimeLimited(t *testing.T) {
	clock := clockAt(time.Now())
	w := newWorld(t, func(o *Options) { o.Clock = clock })
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	clock.wait(DefaultLife - time.Millisecond)
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != nil {
		t.Error(err)
	}
	clock.wait(time.Millisecond)
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsExpired {
		t.Errorf("at the end of its life: %v, want IsExpired", err)
	}
}

func TestSingleUseInvalidatesAfterTheFirstDetokenization(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("c", pb.Policy_POLICY_SINGLE_USE)
	_, before := w.rowOf(tok)
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != nil {
		t.Fatal(err)
	}
	_, after := w.rowOf(tok)
	if len(after) > len(before)-len(cardJSON) {
		t.Errorf("the sealed credential was not erased: %d bytes, before %d", len(after), len(before))
	}
	w.restart()
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsUsed {
		t.Errorf("after a restart: %v, want IsUsed", err)
	}
}

func TestSensitivePartsAreReturnedOnceIfConfigured(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rules.DropSensitive = true })
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	u := Use{tok, "business", "c"}
	first, err := w.vault.Detokenize(business, u)
	if err != nil || string(first) != cardJSON {
		t.Fatal(err)
	}
	for range 2 {
		got, err := w.vault.Detokenize(business, u)
		if err != nil || strings.Contains(string(got), "cvc") || !strings.Contains(string(got), "4242424242424242") {
			t.Errorf("a later use returned sensitive parts, or no number: %v", err)
		}
		w.restart()
	}
}

// TestTheStoreContainsNoSecretInClear searches the files of a real store, byte by byte, for secrets
// that they must never contain.
func TestTheStoreContainsNoSecretInClear(t *testing.T) {
	dir := t.TempDir()
	store, err := badger.Open(badger.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) { o.Journal = store })
	var secrets []string
	for i := range 200 {
		checkout := fmt.Sprintf("checkout-%d", i)
		tok, err := w.vault.Tokenize(platform, Issue{
			Participant: "business", Checkout: checkout, Credential: card(t), Policy: pb.Policy_POLICY_SINGLE_USE, Life: DefaultLife,
			IdempotencyKey: fmt.Sprintf("idempotency-key-%010d", i), Request: []byte(cardJSON),
		})
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, string(tok), string(tok)[9:], fmt.Sprintf("idempotency-key-%010d", i))
		if i%2 == 0 {
			if _, err := w.vault.Detokenize(business, Use{tok, "business", checkout}); err != nil {
				t.Fatal(err)
			}
		}
	}
	secrets = append(secrets, "4242424242424242", `"cvc"`, "expiry_month")
	w.stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	found, looked := 0, 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		looked += len(b)
		found += bytes.Count(b, []byte("checkout-1")) // an allowed text, which shows that the search works
		for _, s := range secrets {
			raw, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(s, "tok_live_"))
			if bytes.Contains(b, []byte(s)) || len(raw) == 32 && bytes.Contains(b, raw) {
				t.Errorf("%s contains a secret", filepath.Base(path))
				return nil
			}
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("reading the files: %v; %d bytes searched", err, looked)
	}
}

// TestUnknownAndForeignTokensTakeTheSameTime alternates requests for unknown tokens and for tokens
// of another participant on a real store, and times the refusals. The medians of many rounds must
// differ by no more than their scatter, or 6 % if the scatter is smaller.
func TestUnknownAndForeignTokensTakeTheSameTime(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector, most of the time is the detector's")
	}
	store, err := badger.Open(badger.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) { o.Journal = store })
	t.Cleanup(func() { w.stop(); _ = store.Close() })
	const rounds, perRound = 41, 300
	foreign := make([]seal.Token, perRound)
	timeOf := func(tok seal.Token) time.Duration {
		began := time.Now()
		if _, err := w.vault.Detokenize(Caller{Participant: "thief"}, Use{tok, "thief", "c"}); err != NotFound {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	median := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[len(d)/2]
	}
	var differences []float64
	for range rounds {
		var known, unknown []time.Duration
		for i := range foreign { // half of them have idle actors
			if foreign[i] = w.issue("c", pb.Policy_POLICY_TTL); i%4 < 2 {
				w.opts.System.Root.Send(w.vault.shards[foreign[i].Name()[0]], kill{foreign[i].Name()})
			}
		}
		for i := range perRound {
			stranger := seal.NewToken(seal.Production)
			if i%2 == 0 {
				known = append(known, timeOf(foreign[i]))
				unknown = append(unknown, timeOf(stranger))
			} else {
				unknown = append(unknown, timeOf(stranger))
				known = append(known, timeOf(foreign[i]))
			}
		}
		k, u := median(known), median(unknown)
		differences = append(differences, float64(k-u)/float64(u))
	}
	slices.Sort(differences)
	middle, spread := differences[rounds/2], differences[rounds*3/4]-differences[rounds/4]
	t.Logf("foreign against unknown tokens: median %+.1f %%, middle half of the rounds within %.1f %%", middle*100, spread*100)
	if math.Abs(middle) > max(0.06, spread) {
		t.Errorf("the median times differ by %+.1f %%", middle*100)
	}
}

func TestSecretsPrintAsRedactions(t *testing.T) {
	tok, secret := seal.NewToken(seal.Production), seal.Secret(cardJSON)
	cmd := &command{token: tok}
	for _, s := range []string{
		fmt.Sprint(tok), fmt.Sprintf("%v %+v %#v %s %q", tok, tok, tok, tok, tok), fmt.Sprintf("%v %+v %#v %s", secret, secret, secret, secret),
		fmt.Sprintf("%+v", result{credential: secret}), fmt.Sprintf("%+v %#v", cmd, cmd), fmt.Sprintf("%+v", Use{tok, "p", "c"}),
		fmt.Sprintf("%+v %#v", card(t), card(t)), fmt.Sprintf("%v %+v", oneKey(), seal.Material("0123456789")),
	} {
		for _, hidden := range []string{string(tok)[9:], "42424242", "cvc", "0123456789"} {
			if strings.Contains(s, hidden) {
				t.Errorf("a secret is printed: %.60s...", strings.ReplaceAll(s, hidden, "***"))
			}
		}
	}
}
