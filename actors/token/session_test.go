package token

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

func TestOneRecordEndsAllTokensOfACheckout(t *testing.T) {
	w := newWorld(t)
	var tokens []seal.Token
	for _, p := range []pb.Policy{pb.Policy_POLICY_SESSION, pb.Policy_POLICY_SESSION, pb.Policy_POLICY_TTL, pb.Policy_POLICY_SINGLE_USE} {
		tokens = append(tokens, w.issue("c", p))
	}
	other := w.issue("d", pb.Policy_POLICY_SESSION)
	for range 2 { // ending a session twice succeeds
		if err := w.vault.EndSession(business, "business", "c"); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := w.audit.Find(audit.Query{Action: "token_session_end", Limit: 9}); err != nil || len(found) != 1 {
		t.Errorf("after two ends, the audit trail has %d records of them, %v", len(found), err)
	}
	for _, tok := range tokens {
		if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsRevoked {
			t.Errorf("a token of the ended session: %v, want IsRevoked", err)
		}
		if s, err := w.vault.Introspect(business, Use{tok, "business", "c"}); err != nil || s.State != SessionEnded {
			t.Errorf("introspection after the end: state %v, %v", s.State, err)
		}
	}
	if _, err := w.vault.Detokenize(business, Use{other, "business", "d"}); err != nil {
		t.Errorf("a token of another checkout: %v", err)
	}
	for _, p := range []pb.Policy{pb.Policy_POLICY_SESSION, pb.Policy_POLICY_SINGLE_USE} {
		if _, err := w.tokenize("c", p); err != IsSessionEnded {
			t.Errorf("a new token in the ended session: %v, want IsSessionEnded", err)
		}
	}
	w.restart()
	if _, err := w.tokenize("c", pb.Policy_POLICY_TTL); err != IsSessionEnded {
		t.Errorf("a new token after a restart: %v, want IsSessionEnded", err)
	}
	if err := w.vault.EndSession(business, "business", "never opened"); err != nil {
		t.Error(err)
	}
	if _, err := w.tokenize("never opened", pb.Policy_POLICY_TTL); err != IsSessionEnded {
		t.Errorf("a new token in a session that ended before it began: %v, want IsSessionEnded", err)
	}
}

// If a session ends while tokens are being created, the end wins: earlier tokens are revoked, and
// nothing opens the session again.
func TestASessionStaysEndedDespiteConcurrentTokens(t *testing.T) {
	w := newWorld(t)
	for round := range 50 {
		checkout := fmt.Sprint(round)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var tokens []seal.Token
		for range 8 {
			wg.Go(func() {
				tok, err := w.tokenize(checkout, pb.Policy_POLICY_SESSION)
				if err != nil && err != IsSessionEnded {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					tokens = append(tokens, tok)
					mu.Unlock()
				}
			})
		}
		wg.Go(func() {
			if err := w.vault.EndSession(business, "business", checkout); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		for _, tok := range tokens {
			if _, err := w.vault.Detokenize(business, Use{tok, "business", checkout}); err != IsRevoked {
				t.Fatalf("a token of the ended session: %v, want IsRevoked", err)
			}
		}
		if _, err := w.tokenize(checkout, pb.Policy_POLICY_SESSION); err != IsSessionEnded {
			t.Fatalf("a new token in the ended session: %v, want IsSessionEnded", err)
		}
	}
}

// A token requested while the end of its session is being committed does not reopen the session.
// The end is committed between the reads of the session and of the token.
func TestATokenDuringTheEndDoesNotReopenTheSession(t *testing.T) {
	w := newWorld(t)
	release := w.journal.Hold()
	defer release()
	queued := w.journal.Queued()
	ended, made := make(chan error, 1), make(chan error, 1)
	go func() { ended <- w.vault.EndSession(business, "business", "c") }()
	w.eventually(func() bool { return w.journal.Queued() == queued+1 })
	go func() {
		_, err := w.tokenize("c", pb.Policy_POLICY_SESSION)
		made <- err
	}()
	w.eventually(func() bool { return w.journal.Queued() == queued+2 })
	release()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != IsSessionEnded {
		t.Errorf("a token created during the end: %v, want IsSessionEnded", err)
	}
	if _, err := w.tokenize("c", pb.Policy_POLICY_SESSION); err != IsSessionEnded {
		t.Errorf("a token created after the end: %v, want IsSessionEnded", err)
	}
}

// While a session's first token is being created, EndSession reads the session as not open. Its
// commit then conflicts with the new token, so the end is decided again and also revokes that
// token.
func TestAnEndDuringTheFirstTokenRevokesIt(t *testing.T) {
	w := newWorld(t)
	release := w.journal.Hold()
	defer release()
	queued := w.journal.Queued()
	made, ended := make(chan seal.Token, 1), make(chan error, 1)
	go func() {
		tok, err := w.tokenize("c", pb.Policy_POLICY_SESSION)
		if err != nil {
			t.Error(err)
		}
		made <- tok
	}()
	w.eventually(func() bool { return w.journal.Queued() == queued+1 })
	go func() { ended <- w.vault.EndSession(business, "business", "c") }()
	w.eventually(func() bool { return w.journal.Queued() == queued+2 })
	release()
	tok := <-made
	if err := <-ended; err != nil {
		t.Fatalf("EndSession returned %v", err)
	}
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsRevoked {
		t.Errorf("the first token after the end: %v, want IsRevoked", err)
	}
}

// A use that read its session before the session's end was committed returns no credential. It
// commits only if the session is unchanged.
func TestAUseDuringTheEndOfItsSessionReturnsNothing(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	release := w.journal.Hold()
	defer release()
	queued := w.journal.Queued()
	ended, used := make(chan error, 1), make(chan error, 1)
	go func() { ended <- w.vault.EndSession(business, "business", "c") }()
	w.eventually(func() bool { return w.journal.Queued() == queued+1 })
	go func() {
		_, err := w.vault.Detokenize(business, Use{tok, "business", "c"})
		used <- err
	}()
	w.eventually(func() bool { return w.journal.Queued() == queued+2 })
	release()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := <-used; err != IsRevoked {
		t.Errorf("the use returned %v, want IsRevoked", err)
	}
}

// A restored backup has another stream id. Even with the same keys, its tokens and open sessions
// are invalid, and ended sessions stay ended.
func TestARestoredBackupInvalidatesEveryToken(t *testing.T) {
	w := newWorld(t)
	single, session := w.issue("c", pb.Policy_POLICY_SINGLE_USE), w.issue("d", pb.Policy_POLICY_SESSION)
	if err := w.vault.EndSession(business, "business", "ended"); err != nil {
		t.Fatal(err)
	}
	w.restart(func(o *Options) { o.Stream = "stream-2" })
	for checkout, tok := range map[string]seal.Token{"c": single, "d": session} {
		if _, err := w.vault.Detokenize(business, Use{tok, "business", checkout}); err != NotFound {
			t.Errorf("the token of %s: %v, want NotFound", checkout, err)
		}
	}
	for _, checkout := range []string{"d", "ended"} {
		if _, err := w.tokenize(checkout, pb.Policy_POLICY_SESSION); err != IsSessionEnded {
			t.Errorf("a new token in the session %s: %v, want IsSessionEnded", checkout, err)
		}
	}
	if _, err := w.tokenize("new", pb.Policy_POLICY_SESSION); err != nil {
		t.Error(err)
	}
}

func TestKeysRotate(t *testing.T) {
	w := newWorld(t)
	old := w.issue("c", pb.Policy_POLICY_TTL)
	second := seal.Key{Version: 2, Material: []byte("0123456789abcdef0123456789abcdef")}
	both := append(oneKey(), second)
	if err := w.vault.SetKeys(both); err != nil {
		t.Fatal(err)
	}
	fresh := w.issue("c", pb.Policy_POLICY_TTL)
	if v := w.vault.Ring().Newest().Number; v != 2 {
		t.Fatalf("the newest version is %d, want 2", v)
	}
	check := func(tok seal.Token, want error) {
		t.Helper()
		if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); !errors.Is(err, want) {
			t.Errorf("detokenize returned %v, want %v", err, want)
		}
	}
	check(old, nil)
	check(fresh, nil)
	w.restart(func(o *Options) { o.Keys = both })
	check(old, nil)
	check(fresh, nil)
	w.restart(func(o *Options) { o.Keys = []seal.Key{second} })
	check(old, NotFound)
	check(fresh, nil)
}

func TestTheSameRequestGetsTheSameToken(t *testing.T) {
	clock := clockAt(time.Now())
	w := newWorld(t, func(o *Options) { o.Clock = clock })
	ask := func(c Caller, key, body string, policy pb.Policy) (seal.Token, error) {
		return w.vault.Tokenize(c, Issue{
			Participant: "business", Checkout: "c", Credential: card(t), Policy: policy, Life: DefaultLife,
			IdempotencyKey: key, Request: []byte(body),
		})
	}
	const key = "0123456789012345678901"
	first, err := ask(platform, key, "body", pb.Policy_POLICY_SINGLE_USE)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ask(platform, key, "body", pb.Policy_POLICY_SINGLE_USE)
	if err != nil || again != first {
		t.Fatalf("the same request returned another token: %v", err)
	}
	if _, err := ask(platform, key, "another", pb.Policy_POLICY_SINGLE_USE); err != IsConflict {
		t.Errorf("another request with the key: %v, want IsConflict", err)
	}
	if other, err := ask(Caller{Participant: "platform 2"}, key, "body", pb.Policy_POLICY_SINGLE_USE); err != nil || other == first {
		t.Errorf("the same key of another caller: no new token, %v", err)
	}
	if other, err := ask(platform, key+"x", "body", pb.Policy_POLICY_SINGLE_USE); err != nil || other == first {
		t.Errorf("another key: no new token, %v", err)
	}
	w.restart()
	if again, err := ask(platform, key, "body", pb.Policy_POLICY_SINGLE_USE); err != nil || again != first {
		t.Errorf("after a restart: another token, %v", err)
	}
	if err := w.vault.SetKeys(append(oneKey(), seal.Key{Version: 2, Material: make([]byte, 32)})); err != nil {
		t.Fatal(err)
	}
	if again, err := ask(platform, key, "body", pb.Policy_POLICY_SINGLE_USE); err != nil || again != first {
		t.Errorf("after a key rotation: another token, %v", err)
	}
	if _, err := w.vault.Detokenize(business, Use{first, "business", "c"}); err != nil {
		t.Fatal(err)
	}
	next, err := ask(platform, key, "body", pb.Policy_POLICY_SINGLE_USE)
	if err != nil || next == first {
		t.Errorf("after the use: no new token, %v", err)
	}
}

func TestConcurrentEqualRequestsCreateOneToken(t *testing.T) {
	w := newWorld(t)
	for round := range 50 {
		var wg sync.WaitGroup
		got := make([]seal.Token, 8)
		for i := range got {
			wg.Go(func() {
				var err error
				got[i], err = w.vault.Tokenize(platform, Issue{
					Participant: "business", Checkout: "c", Credential: card(t), Policy: pb.Policy_POLICY_TTL, Life: DefaultLife,
					IdempotencyKey: fmt.Sprintf("%022d", round), Request: []byte("body"),
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, tok := range got {
			if tok != got[0] {
				t.Fatal("one request got two tokens")
			}
		}
	}
}

// The cap applies to the session, so a token that is created late ends together with the session.
// After the end no token can be created.
func TestTheCapAppliesToTheSession(t *testing.T) {
	clock := clockAt(time.Now())
	w := newWorld(t, func(o *Options) { o.Clock = clock })
	first := w.issue("c", pb.Policy_POLICY_SESSION)
	clock.wait(5*time.Hour + 59*time.Minute)
	late := w.issue("c", pb.Policy_POLICY_SESSION)
	for _, tok := range []seal.Token{first, late} {
		if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != nil {
			t.Error(err)
		}
	}
	clock.wait(time.Minute)
	for _, tok := range []seal.Token{first, late} {
		if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsExpired {
			t.Errorf("a token at the cap of its session: %v, want IsExpired", err)
		}
	}
	if _, err := w.tokenize("c", pb.Policy_POLICY_SESSION); err != IsSessionEnded {
		t.Errorf("a new token at the cap of the session: %v, want IsSessionEnded", err)
	}
}

// A session that reached its cap is remembered for as long as an ended session, so that it cannot
// be opened again.
func TestACappedSessionIsRemembered(t *testing.T) {
	var rec *recorder
	w := newWorld(t, func(o *Options) {
		rec = &recorder{Journal: o.Journal}
		o.Journal = rec
	})
	w.issue("c", pb.Policy_POLICY_SESSION)
	for _, row := range rec.rows {
		if row.Table == w.vault.tables.sessions && row.TTL < 6*time.Hour+w.vault.opts.RememberSessions {
			t.Errorf("the session is remembered for %v, want RememberSessions after its cap", row.TTL)
		}
	}
}

// An ended session is remembered for the full time, even if it was never opened. Otherwise the same
// session could be opened again.
func TestAnEndedSessionIsRemembered(t *testing.T) {
	var rec *recorder
	w := newWorld(t, func(o *Options) {
		rec = &recorder{Journal: o.Journal}
		o.Journal = rec
	})
	w.issue("opened", pb.Policy_POLICY_SESSION)
	for _, checkout := range []string{"opened", "never opened"} {
		if err := w.vault.EndSession(business, "business", checkout); err != nil {
			t.Fatal(err)
		}
		last := time.Duration(-1)
		for _, row := range rec.rows {
			if row.Table == w.vault.tables.sessions {
				last = row.TTL
			}
		}
		if last < w.vault.opts.RememberSessions {
			t.Errorf("%s: the session is remembered for %v, want RememberSessions", checkout, last)
		}
	}
}

// An operation counts as open while the journal processes it, even if its caller no longer waits.
// Otherwise operations would accumulate without bound on a stuck disk.
func TestOperationsInAStuckJournalAreBounded(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.MaxOpen, o.Timeout = 3, 20*time.Millisecond })
	release := w.journal.Hold()
	var timedOut, busy int
	for i := range 10 {
		switch _, err := w.tokenize(fmt.Sprint(i), pb.Policy_POLICY_TTL); {
		case errors.Is(err, durable.ErrTimeout):
			timedOut++
		case errors.Is(err, durable.ErrBusy):
			busy++
		default:
			t.Errorf("tokenize with a stuck journal: %v", err)
		}
	}
	if timedOut != 3 || busy != 7 {
		t.Errorf("%d calls timed out and %d were refused, want 3 and 7", timedOut, busy)
	}
	release()
	w.eventually(func() bool { return w.vault.Stats().Open == 0 })
	w.restart(func(o *Options) { o.Timeout = time.Minute }) // a busy machine can need longer
	w.issue("after", pb.Policy_POLICY_TTL)
}

// A use that read its session before the end, but commits after the acknowledged end, returns no
// credential.
func TestNoCredentialIsReturnedAfterTheEndOfASession(t *testing.T) {
	for _, p := range []pb.Policy{pb.Policy_POLICY_SESSION, pb.Policy_POLICY_TTL, pb.Policy_POLICY_SINGLE_USE} {
		w, j := stash(t)
		tok := w.issue("c", p)
		release := w.journal.Hold()
		before := j.appends.Load()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := w.vault.EndSession(business, "business", "c"); err != nil {
				t.Error(err)
			}
		})
		w.eventually(func() bool { return j.appends.Load() == before+1 })
		wg.Go(func() {
			if got, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != IsRevoked || got != nil {
				t.Errorf("policy %v: %v, want IsRevoked", p, err)
			}
		})
		w.eventually(func() bool { return j.appends.Load() == before+2 })
		release()
		wg.Wait()
	}
}
