package token

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// reads starts to count the reads of each table, also those that find no row.
func (w *watched) reads() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gets = map[string]int{}
	return w.gets
}

func TestTheFirstUseReadsNoRecord(t *testing.T) {
	w, j := stash(t)
	for _, p := range []pb.Policy{pb.Policy_POLICY_SINGLE_USE, pb.Policy_POLICY_TTL} {
		tok := w.issue("c", p)
		counts := j.reads()
		got, err := w.vault.Detokenize(business, Use{tok, "business", "c"})
		if err != nil || string(got) != cardJSON {
			t.Fatal(err)
		}
		if n := counts["tokens-production"]; n != 0 {
			t.Errorf("policy %v: the use read %d records, want 0", p, n)
		}
	}
}

// An idle actor remembers a token and its session. Changes by another node are still respected,
// because a use is committed only if both are unchanged.
func TestAnIdleActorRespectsChangesByOtherNodes(t *testing.T) {
	now := clockAt(time.Now())
	w := newWorld(t, func(o *Options) { o.Clock = now })
	other := newWorld(t, func(o *Options) { o.Journal, o.Shares, o.Clock = w.journal, w.opts.Shares, now })
	const checkout = "c"
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		policy pb.Policy
		change func(t *testing.T, use Use)
		want   error
	}{
		{"used", pb.Policy_POLICY_SINGLE_USE, func(t *testing.T, use Use) {
			_, err := other.vault.Detokenize(business, use)
			check(err)
		}, IsUsed},
		{"revoked", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) { check(other.vault.Revoke(business, use)) }, IsRevoked},
		{"locked", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) {
			use.Checkout = "wrong"
			for range 5 {
				_, _ = other.vault.Detokenize(business, use)
			}
		}, IsRevoked},
		{"session ended", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) {
			check(other.vault.EndSession(business, "business", use.Checkout))
		}, IsRevoked},
		{"forgotten", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) { check(Forget(w.journal, w.opts.Stream)) }, NotFound},
		{"damaged", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) {
			key, raw := w.rowOf(use.Token)
			raw = slices.Clone(raw)
			raw[len(raw)-1] ^= 1
			check(durable.Commit(w.journal, []durable.Row{{Table: "tokens-production", Key: key, Value: raw}}))
		}, ErrDamaged},
		{"expired", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) { now.wait(DefaultLife) }, IsExpired},
		{"used, then expired", pb.Policy_POLICY_SINGLE_USE, func(t *testing.T, use Use) {
			_, err := other.vault.Detokenize(business, use)
			check(err)
			now.wait(DefaultLife)
		}, IsUsed},
		{"unchanged", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) {}, nil},
		{"used, and repeatable", pb.Policy_POLICY_TTL, func(t *testing.T, use Use) {
			_, err := other.vault.Detokenize(business, use)
			check(err)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			use := Use{w.issue(checkout+c.name, c.policy), "business", checkout + c.name}
			c.change(t, use)
			got, err := w.vault.Detokenize(business, use)
			if !errors.Is(err, c.want) || (err == nil) != (string(got) == cardJSON) {
				t.Errorf("the use returned %v, want %v", err, c.want)
			}
		})
	}
}

// Only a use is decided on what an idle actor remembers, because only a use is checked against the
// session when it is committed.
func TestAnIdleActorShowsTheEndOfASession(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t, func(o *Options) { o.Journal, o.Shares = w.journal, w.opts.Shares })
	use := Use{w.issue("c", pb.Policy_POLICY_TTL), "business", "c"}
	if err := other.vault.EndSession(business, "business", "c"); err != nil {
		t.Fatal(err)
	}
	got, err := w.vault.Introspect(business, use)
	if err != nil || got.State != SessionEnded {
		t.Errorf("introspect returned %v, %v; want %v", got.State, err, SessionEnded)
	}
}

func TestAnIdleActorUsesNoDroppedKey(t *testing.T) {
	w := newWorld(t)
	use := Use{w.issue("c", pb.Policy_POLICY_TTL), "business", "c"}
	second := seal.Key{Version: 2, Material: []byte("0123456789abcdef0123456789abcdef")}
	if err := w.vault.SetKeys([]seal.Key{second}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.vault.Detokenize(business, use); err != NotFound {
		t.Errorf("a use after the key was dropped returned %v, want NotFound", err)
	}
}

// A refusal of another participant reads as many records while the token's actor is idle or busy as
// after the actor was stopped. The actor stays idle.
func TestAnActorRemembersOnlyForItsParticipant(t *testing.T) {
	w, j := stash(t)
	thief := func(tok seal.Token) {
		if _, err := w.vault.Detokenize(Caller{Participant: "thief"}, Use{tok, "thief", "c"}); err != NotFound {
			t.Errorf("the thief's use returned %v, want NotFound", err)
		}
	}
	stopped := w.issue("c", pb.Policy_POLICY_TTL)
	w.settle()
	counts := j.reads()
	thief(stopped)
	want := counts["tokens-production"]

	use := Use{w.issue("c", pb.Policy_POLICY_TTL), "business", "c"}
	owner := func() {
		if _, err := w.vault.Detokenize(business, use); err != nil {
			t.Error(err)
		}
	}
	counts = j.reads()
	thief(use.Token)
	if got := counts["tokens-production"]; got != want || got == 0 {
		t.Errorf("while the actor was idle, the refusal read %d records, want %d", got, want)
	}
	counts = j.reads()
	owner()
	if n := counts["tokens-production"]; n != 0 {
		t.Errorf("after the refusal, the owner's use read %d records, want 0", n)
	}

	release, before := w.journal.Hold(), j.appends.Load()
	counts = j.reads()
	var wg sync.WaitGroup
	wg.Go(owner)
	w.eventually(func() bool { return j.appends.Load() == before+1 })
	wg.Go(func() { thief(use.Token) })
	w.eventually(func() bool { return w.vault.Stats().Open == 2 })
	release()
	wg.Wait()
	if got := counts["tokens-production"]; got != want {
		t.Errorf("while the actor was busy, the refusal read %d records, want %d", got, want)
	}
}

func TestIdleActorsAreBounded(t *testing.T) {
	w := newWorld(t)
	const tokens = 3 * maxIdle * shardCount
	for i := range tokens {
		w.issue(fmt.Sprint(i), pb.Policy_POLICY_TTL)
	}
	// The shards update their counts just after the replies.
	w.eventually(func() bool { return w.vault.Stats().Live == tokens })
	const stopping = 16
	if n := w.vault.Stats().Resident; n > maxIdle*shardCount+stopping {
		t.Errorf("%d actors are in memory, want at most %d", n, maxIdle*shardCount)
	}
	w.settle()
}
