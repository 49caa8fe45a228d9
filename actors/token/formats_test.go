package token

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// The files testdata/format-N.json contain stored records of tokens in each of their forms,
// starting with 2, the form of the first release. Never regenerate them. If a record cannot be
// opened after a change, the change has broken existing data folders. Examples are a change of a
// label from which a key is derived, of the data to which a seal is bound, or of the encoding of a
// record. A new form gets its own file, and its number in this comment:
//
//	go test ./actors/token -run StoredFormsOpen -write-format 3
var writeFormat = flag.Int("write-format", 0, "write the rows of the present form as testdata/format-N.json")

// fixture is the contents of a store and the expected results.
type fixture struct {
	Environment seal.Environment `json:"environment"`
	Stream      string           `json:"stream"`
	Now         time.Time        `json:"now"`
	Keys        []fixtureKey     `json:"keys"`
	Shares      []fixtureShare   `json:"shares"`
	Rows        []fixtureRow     `json:"rows"`
	Tokens      []fixtureToken   `json:"tokens"`
	Answers     []fixtureAnswer  `json:"answers"`
	// Ended contains the checkouts whose session has ended.
	Ended []string `json:"ended"`
}

type fixtureKey struct {
	Version  uint32 `json:"version"`
	Material []byte `json:"material"`
}

type fixtureShare struct {
	Ends   time.Time `json:"ends"`
	Secret []byte    `json:"secret"`
}

type fixtureRow struct {
	Table string `json:"table"`
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// fixtureToken is a token with its expected introspection and detokenization.
type fixtureToken struct {
	About      string `json:"about"`
	Token      string `json:"token"`
	Checkout   string `json:"checkout"`
	Policy     string `json:"policy"`
	State      State  `json:"state"`
	ExpiresAt  int64  `json:"expires_at"`
	Credential string `json:"credential,omitempty"`
	// Mismatches is the number of further mismatches that lock the token.
	Mismatches int `json:"mismatches,omitempty"`
}

type fixtureAnswer struct {
	Key      string `json:"key"`
	Request  string `json:"request"`
	Checkout string `json:"checkout"`
	Token    string `json:"token"`
}

func (f *fixture) keys() []seal.Key {
	var keys []seal.Key
	for _, k := range f.Keys {
		keys = append(keys, seal.Key{Version: k.Version, Material: k.Material})
	}
	return keys
}

func (f *fixture) world(t *testing.T) *world {
	return newWorld(t, func(o *Options) {
		o.Environment, o.Stream, o.Keys = f.Environment, f.Stream, f.keys()
		o.Clock = clockAt(f.Now)
		shares := newMemoryShares(o.Clock.Now)
		for _, x := range f.Shares {
			shares.add(x.Ends, (*[seal.ShareBytes]byte)(x.Secret))
		}
		o.Shares = shares
		o.Rules = Rules{MaxMismatches: 3, DropSensitive: true}
	})
}

func TestStoredFormsOpen(t *testing.T) {
	if *writeFormat != 0 {
		makeFixture(t, fmt.Sprintf("testdata/format-%d.json", *writeFormat))
	}
	files, err := filepath.Glob("testdata/format-*.json")
	if err != nil || len(files) < 1 {
		t.Fatalf("there are %d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var f fixture
			if err := json.Unmarshal(text, &f); err != nil {
				t.Fatal(err)
			}
			f.holds(t)
		})
	}
}

// holds loads the rows and verifies all of them.
func (f *fixture) holds(t *testing.T) {
	w := f.world(t)
	var rows []durable.Row
	for _, r := range f.Rows {
		rows = append(rows, durable.Row{Table: r.Table, Key: r.Key, Value: r.Value})
	}
	if err := durable.Commit(w.journal, rows); err != nil {
		t.Fatal(err)
	}
	// Verify the stored answers first, because the key of an answer becomes free once its token is
	// used up.
	for _, a := range f.Answers {
		got, err := w.vault.Tokenize(platform, f.issue(t, a, pb.Policy_POLICY_TTL))
		if err != nil || string(got) != a.Token {
			t.Errorf("the stored answer of %s: %v", a.Checkout, err)
		}
		a.Request += " "
		if _, err := w.vault.Tokenize(platform, f.issue(t, a, pb.Policy_POLICY_TTL)); err != IsConflict {
			t.Errorf("another request with the key of %s: %v, want IsConflict", a.Checkout, err)
		}
	}
	for _, x := range f.Tokens {
		u := Use{seal.Token(x.Token), "business", x.Checkout}
		s, err := w.vault.Introspect(business, u)
		if err != nil || s.State != x.State || PolicyName(s.Policy) != x.Policy || s.ExpiresAt != x.ExpiresAt ||
			s.Display.LastFour != "4242" || s.Display.Brand != "visa" || s.Display.Type != "card" {
			t.Errorf("%s: introspection returned %+v, %v", x.About, s, err)
		}
		if _, err := w.vault.Introspect(business, Use{u.Token, "platform", x.Checkout}); err != NotFound {
			t.Errorf("%s: introspection by another participant: %v, want NotFound", x.About, err)
		}
		got, err := w.vault.Detokenize(business, u)
		if string(got) != x.Credential || (err == nil) != (x.State == Active) {
			t.Errorf("%s: detokenize returned %d bytes, %v", x.About, len(got), err)
		}
		for i := range x.Mismatches {
			if _, err := w.vault.Detokenize(business, Use{u.Token, "business", "another"}); err != BindingMismatch {
				t.Errorf("%s: with another checkout: %v, want BindingMismatch", x.About, err)
			}
			if s, _ = w.vault.Introspect(business, u); (s.State == Locked) != (i == x.Mismatches-1) {
				t.Errorf("%s: state %s after %d mismatches", x.About, s.State, i+1)
			}
		}
	}
	for _, checkout := range f.Ended {
		if _, err := w.tokenize(checkout, pb.Policy_POLICY_SESSION); err != IsSessionEnded {
			t.Errorf("a token in the ended session %s: %v, want IsSessionEnded", checkout, err)
		}
	}
}

func (f *fixture) issue(t *testing.T, a fixtureAnswer, p pb.Policy) Issue {
	return Issue{
		Participant: "business", Checkout: a.Checkout, Credential: card(t), Policy: p, Life: DefaultLife,
		IdempotencyKey: a.Key, Request: []byte(a.Request),
	}
}

// makeFixture creates every kind of row, under two versions of the server's key, and writes the
// rows to a file.
func makeFixture(t *testing.T, file string) {
	f := fixture{
		Environment: seal.Production, Stream: "stream-of-the-fixture", Now: noon,
		Keys: []fixtureKey{{1, []byte("the first key of the fixture, 32")}, {2, []byte("another key of the fixture, also")}},
	}
	w := f.world(t)
	clock := clockAt(f.Now)
	w.restart(func(o *Options) {
		o.Keys = f.keys()[:1]
		o.Clock = clock
		o.Shares = newMemoryShares(clock.Now)
	})
	add := func(about, checkout string, p pb.Policy, s State, change func(Use)) *fixtureToken {
		tok := w.issue(checkout, p)
		u := Use{tok, "business", checkout}
		if change != nil {
			change(u)
		}
		x := fixtureToken{About: about, Token: string(tok), Checkout: checkout, Policy: PolicyName(p), State: s}
		status, err := w.vault.Introspect(business, u)
		if err != nil {
			t.Fatal(err)
		}
		if x.ExpiresAt = status.ExpiresAt; s == Active {
			x.Credential = cardJSON
		}
		f.Tokens = append(f.Tokens, x)
		return &f.Tokens[len(f.Tokens)-1]
	}
	use := func(u Use) { _, _ = w.vault.Detokenize(business, u) }
	elsewhere := func(u Use) { u.Checkout = "another"; use(u) }
	for _, key := range []string{"first key", "newest key"} {
		if key == "newest key" {
			if err := w.vault.SetKeys(f.keys()); err != nil {
				t.Fatal(err)
			}
		}
		clock.at.Store(f.Now.Add(-20 * time.Minute).UnixNano())
		add(key+", expired", key+" a", pb.Policy_POLICY_TTL, Expired, nil)
		clock.at.Store(f.Now.Add(-time.Minute).UnixNano())
		add(key+", single use", key+" b", pb.Policy_POLICY_SINGLE_USE, Active, nil)
		add(key+", used", key+" b", pb.Policy_POLICY_SINGLE_USE, Redeemed, use)
		add(key+", ttl", key+" b", pb.Policy_POLICY_TTL, Active, nil)
		add(key+", session", key+" c", pb.Policy_POLICY_SESSION, Active, nil)
		add(key+", ttl and given once", key+" d", pb.Policy_POLICY_TTL, Active, use).Credential =
			`{"card_number_type":"fpan","expiry_month":12,"expiry_year":2030,"number":"4242424242424242","type":"card"}`
		add(key+", one mismatch", key+" d", pb.Policy_POLICY_TTL, Active, elsewhere).Mismatches = 2
		add(key+", locked", key+" d", pb.Policy_POLICY_SINGLE_USE, Locked, func(u Use) { elsewhere(u); elsewhere(u); elsewhere(u) })
		add(key+", revoked", key+" d", pb.Policy_POLICY_SINGLE_USE, Revoked, func(u Use) { _ = w.vault.Revoke(business, u) })
		add(key+", session over", key+" e", pb.Policy_POLICY_SESSION, SessionEnded, func(u Use) {
			if err := w.vault.EndSession(business, "business", u.Checkout); err != nil {
				t.Fatal(err)
			}
		})
		f.Ended = append(f.Ended, key+" e")
		a := fixtureAnswer{Key: "the idempotency key of the " + key, Request: `{"credential":"of the ` + key + `"}`, Checkout: key + " f"}
		tok, err := w.vault.Tokenize(platform, f.issue(t, a, pb.Policy_POLICY_TTL))
		if err != nil {
			t.Fatal(err)
		}
		a.Token = string(tok)
		f.Answers = append(f.Answers, a)
	}
	w.settle()
	for _, share := range w.opts.Shares.(*memoryShares).made {
		secret := w.opts.Shares.(*memoryShares).secrets[share.ID()]
		f.Shares = append(f.Shares, fixtureShare{share.Ends(), secret[:]})
	}
	for _, table := range []string{w.vault.tables.tokens, w.vault.tables.sessions, w.vault.tables.answers} {
		err := w.journal.Scan(durable.Scan{Table: table}, func(key, value []byte) bool {
			f.Rows = append(f.Rows, fixtureRow{table, append([]byte{}, key...), append([]byte{}, value...)})
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
