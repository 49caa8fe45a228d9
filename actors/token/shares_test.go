package token

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
	"atelier/persistence/shares"
)

// recorder keeps every version of every row ever written. A disk can still contain all of them if
// the store compacts late or never.
type recorder struct {
	durable.Journal
	mu   sync.Mutex
	rows []durable.Row
}

func (r *recorder) Append(rows []durable.Row, done func(error)) error {
	r.mu.Lock()
	for _, row := range rows {
		if !row.CheckOnly && !row.Delete {
			r.rows = append(r.rows, row)
		}
	}
	r.mu.Unlock()
	return r.Journal.Append(rows, done)
}

// thief has the disk with everything that was ever written to it, the server's keys, the folder of
// secrets, every token and every idempotency key.
type thief struct {
	*world
	*recorder
	dir    string
	tokens []seal.Token
	keys   []string // the idempotency keys of the platform's requests
}

// shares returns the shares in the folder, and nil for records without a share.
func (th *thief) shares() []*seal.Share {
	entries, err := os.ReadDir(th.dir)
	if err != nil {
		th.Fatal(err)
	}
	found := []*seal.Share{nil}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(th.dir, e.Name()))
		if err != nil {
			th.Fatal(err)
		}
		if len(b) == seal.ShareBytes {
			found = append(found, seal.NewShare(time.Time{}, (*[seal.ShareBytes]byte)(b)))
		}
	}
	return found
}

// cards counts the records that open to a card.
func (th *thief) cards() (n int) {
	ring := th.vault.Ring()
	for _, row := range th.rows {
		body, v, err := ring.Verify(row.Key, row.Value)
		var r pb.Token
		if row.Table != th.vault.tables.tokens || err != nil || r.Decode(body) != nil {
			continue
		}
		for _, tok := range th.tokens {
			for _, share := range th.shares() {
				opener := v.Opener(tok)
				if share != nil {
					opener, _ = v.SharedOpener(tok, share)
				}
				for _, p := range []seal.Purpose{seal.ForCredential, seal.ForDisplay} {
					if got, err := opener.Open(p, bound(row.Key, &r), r.Credential); err == nil && bytes.Contains(got, []byte("4242424242424242")) {
						n++
					}
				}
			}
		}
	}
	return n
}

// answers counts the kept answers that open.
func (th *thief) answers() (n int) {
	v := th.vault.Ring().Newest()
	for _, row := range th.rows {
		if row.Table != th.vault.tables.answers {
			continue
		}
		head := len(sealedAnswer) + len(seal.ShareID{})
		for _, key := range th.keys {
			for _, share := range th.shares() {
				if share == nil {
					continue
				}
				opener, _ := v.AnswerOpener("platform", key, share)
				head := row.Value[:head]
				for _, sealed := range [][]byte{row.Value, row.Value[len(head):]} {
					for _, b := range [][]byte{row.Key, append(bytes.Clone(row.Key), head...)} {
						if got, err := opener.Open(seal.ForAnswer, b, sealed); err == nil && bytes.Contains(got, []byte("tok_live_")) {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

// At most 15 minutes after a token's expiry, nothing that was ever on the disk opens its
// credential. For a session's token, the time counts from its cap. This holds for used and unused
// tokens, with and without idempotency keys, and for credentials returned with and without their
// sensitive parts.
func TestNothingCanBeOpenedFifteenMinutesAfterItsExpiry(t *testing.T) {
	for _, c := range []struct {
		policy pb.Policy
		life   time.Duration
		uses   int
	}{
		{pb.Policy_POLICY_SINGLE_USE, 7 * time.Minute, 1}, {pb.Policy_POLICY_SINGLE_USE, time.Minute, 0},
		{pb.Policy_POLICY_TTL, 30 * time.Minute, 2}, {pb.Policy_POLICY_TTL, 15 * time.Minute, 0}, {pb.Policy_POLICY_SESSION, 6 * time.Hour, 2},
	} {
		t.Run(fmt.Sprintf("%s of %v used %d times", PolicyName(c.policy), c.life, c.uses), func(t *testing.T) {
			if testing.Short() && c.life > time.Hour {
				t.Skip("the vault runs through hours of simulated time")
			}
			clocktest.Bubble(t, func(t *testing.T) {
				// The actor system counts dead letters on a goroutine that ends shortly after the
				// last one.
				defer time.Sleep(time.Second)
				time.Sleep(time.Minute) // so that the test does not begin at the start of a quarter
				th := &thief{dir: t.TempDir()}
				store, err := shares.Open(shares.Options{Dir: th.dir, Longest: 6 * time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				w := newWorld(t, func(o *Options) {
					th.recorder = &recorder{Journal: o.Journal}
					o.Journal, o.Shares, o.Rules.DropSensitive = th.recorder, store, true
				})
				defer w.stop()
				th.world = w
				const key = "an idempotency key of the platform"
				tok, err := w.vault.Tokenize(platform, Issue{
					Participant: "business", Checkout: "c", Credential: card(t), Policy: c.policy, Life: c.life,
					IdempotencyKey: key, Request: []byte("body"),
				})
				if err != nil {
					t.Fatal(err)
				}
				th.tokens, th.keys = []seal.Token{tok}, []string{key}
				for range c.uses {
					if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != nil {
						t.Fatal(err)
					}
				}
				// Before the end the theft succeeds: everything opens, used or not.
				time.Sleep(c.life - time.Second)
				if th.cards() == 0 || th.answers() != 1 {
					t.Fatalf("before the end, %d cards and %d answers can be opened", th.cards(), th.answers())
				}
				time.Sleep(time.Second + 15*time.Minute)
				synctest.Wait()
				if th.cards() != 0 || th.answers() != 0 {
					t.Errorf("15 minutes after the expiry, %d cards and %d answers can be opened", th.cards(), th.answers())
				}
				// Public data is still returned.
				s, err := w.vault.Introspect(business, Use{tok, "business", "c"})
				if err != nil || s.Display.Brand != "visa" || s.Display.LastFour != "4242" {
					t.Errorf("introspection returned %+v, %v", s, err)
				}
			})
		})
	}
}

// If a token's share is lost early, the token counts as expired in every operation.
func TestATokenWithALostShareHasExpired(t *testing.T) {
	w, j := stash(t)
	ask := func() seal.Token {
		tok, err := w.vault.Tokenize(platform, Issue{
			Participant: "business", Checkout: "c", Credential: card(t), Policy: pb.Policy_POLICY_SINGLE_USE, Life: DefaultLife,
			IdempotencyKey: "0123456789012345678901", Request: []byte("body"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	tok := ask()
	if ask() != tok {
		t.Fatal("the same request returned another token")
	}
	w.settle()
	w.opts.Shares.(*memoryShares).lose()
	u := Use{tok, "business", "c"}
	if got, err := w.vault.Detokenize(business, u); err != IsExpired || got != nil {
		t.Errorf("detokenize: %v, want IsExpired", err)
	}
	if s, err := w.vault.Introspect(business, u); err != nil || s.State != Expired || s.Display.LastFour != "4242" {
		t.Errorf("Introspect returned %+v, %v, want an expired token", s, err)
	}
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "d"}); err != BindingMismatch {
		t.Errorf("with another checkout: %v, want BindingMismatch", err)
	}
	if err := w.vault.Revoke(business, u); err != nil {
		t.Errorf("Revoke returned %v", err)
	}
	if n := w.vault.Stats().Quarantined + int64(j.count("token_mismatch")); n != 0 {
		t.Errorf("there are %d quarantines and mismatches, want 0", n)
	}
	next := ask()
	if next == tok {
		t.Error("the same request returned the expired token")
	}
	if _, err := w.vault.Detokenize(business, Use{next, "business", "c"}); err != nil {
		t.Errorf("detokenizing the next token: %v", err)
	}
}

// A share can end while an operation uses it.
func TestAShareCanEndDuringAnOperation(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("c", pb.Policy_POLICY_SINGLE_USE)
	w.opts.Shares.(*memoryShares).made[0].Wipe()
	if got, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsExpired || got != nil {
		t.Errorf("detokenize: %v, want IsExpired", err)
	}
	if _, err := w.tokenize("c", pb.Policy_POLICY_SINGLE_USE); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("tokenize: %v, want ErrUnavailable", err)
	}
	if n := w.vault.Stats().Quarantined; n != 0 {
		t.Errorf("%d tokens are in quarantine, want 0", n)
	}
}

func TestWithoutAShareNoTokenIsCreated(t *testing.T) {
	w, j := stash(t)
	w.opts.Shares.(*memoryShares).fail = errors.New("disk full")
	before := j.appends.Load()
	if _, err := w.tokenize("c", pb.Policy_POLICY_TTL); !errors.Is(err, durable.ErrUnavailable) || j.appends.Load() != before {
		t.Errorf("tokenize returned %v after %d appends, want ErrUnavailable and no append", err, j.appends.Load()-before)
	}
}

// An idempotency key is taken while its token lives, whatever another request contains. Afterwards
// any request can use it (transport/handler/RULES.md).
func TestAnIdempotencyKeyIsFreeAfterItsToken(t *testing.T) {
	clock := clockAt(time.Now())
	w, j := stash(t, func(o *Options) { o.Clock = clock })
	ask := func(body, checkout string) (seal.Token, error) {
		return w.vault.Tokenize(platform, Issue{
			Participant: "business", Checkout: checkout, Credential: card(t), Policy: pb.Policy_POLICY_SINGLE_USE, Life: DefaultLife,
			IdempotencyKey: "0123456789012345678901", Request: []byte(body),
		})
	}
	over := map[string]func(seal.Token){
		"used":    func(tok seal.Token) { _, _ = w.vault.Detokenize(business, Use{tok, "business", "c"}) },
		"revoked": func(tok seal.Token) { _ = w.vault.Revoke(business, Use{tok, "business", "c"}) },
		"expired": func(seal.Token) { clock.wait(DefaultLife) },
		"gone":    func(seal.Token) { clock.wait(DefaultLife + seal.Quarter) },
	}
	for name, end := range over {
		tok, err := ask("of "+name, "c")
		if err != nil {
			t.Fatalf("%s: the first token: %v", name, err)
		}
		for range 6 { // more attempts than lock a token
			if _, err := ask("another", "d"); err != IsConflict {
				t.Errorf("%s: another request before the end: %v, want IsConflict", name, err)
			}
		}
		end(tok)
		next, err := ask("another", "c")
		if err != nil || next == tok {
			t.Fatalf("%s: another request after the end: %v", name, err)
		}
		if _, err := w.vault.Detokenize(business, Use{next, "business", "c"}); err != nil {
			t.Fatalf("%s: detokenizing the next token: %v", name, err)
		}
	}
	if n := j.count("token_mismatch") + j.count("token_lock") + j.count("token_replay"); n != 0 {
		t.Errorf("the audit trail has %d operations on tokens that nobody requested", n)
	}
}

// The kept answer leaves the store together with its token.
func TestAKeptAnswerExpiresWithItsToken(t *testing.T) {
	var rec *recorder
	w := newWorld(t, func(o *Options) {
		rec = &recorder{Journal: o.Journal}
		o.Journal = rec
	})
	_, err := w.vault.Tokenize(platform, Issue{
		Participant: "business", Checkout: "c", Credential: card(t), Policy: pb.Policy_POLICY_TTL, Life: 7 * time.Minute,
		IdempotencyKey: "0123456789012345678901", Request: []byte("body"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rec.rows {
		if strings.HasPrefix(row.Table, "answers") && (row.TTL < 7*time.Minute || row.TTL > 7*time.Minute+time.Second) {
			t.Errorf("the answer is kept for %v, want 7 min, or up to a second longer", row.TTL)
		}
	}
}
