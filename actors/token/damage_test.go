package token

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// stash returns a world and its journal, through which the test can observe and change what is
// stored.
func stash(t *testing.T, change ...func(*Options)) (*world, *watched) {
	var j *watched
	w := newWorld(t, append(change, func(o *Options) {
		j = watch(o.Journal)
		o.Journal = j
	})...)
	return w, j
}

func (w *world) rowOf(tok seal.Token) ([]byte, []byte) {
	w.Helper()
	key := w.vault.rowKey(tok, w.vault.Ring().Newest())
	raw, err := w.journal.Get("tokens-production", key)
	if err != nil {
		w.Fatal(err)
	}
	return key, raw
}

// TestAnyFlippedByteIsDetected flips bits in each byte of a stored record, and cuts the record.
// Detokenize then returns no credential: the record counts as damaged, and the token is quarantined
// until the record is restored.
func TestAnyFlippedByteIsDetected(t *testing.T) {
	w, j := stash(t, func(o *Options) { o.QuarantineFor = time.Nanosecond })
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	key, raw := w.rowOf(tok)
	u := Use{tok, "business", "c"}
	for i := range raw {
		for _, flip := range []byte{0x01, 0x80} {
			w.settle()
			j.change(func(_ string, k, v []byte) []byte {
				if bytes.Equal(k, key) {
					v = bytes.Clone(v)
					v[i] ^= flip
				}
				return v
			})
			if got, err := w.vault.Detokenize(business, u); !errors.Is(err, ErrDamaged) || got != nil {
				t.Fatalf("flipping byte %d of %d: %v, want ErrDamaged", i, len(raw), err)
			}
		}
	}
	for _, cut := range [][]byte{{}, raw[:1], raw[:20], raw[:21], raw[:len(raw)-1], append(bytes.Clone(raw), 0)} {
		w.settle()
		j.change(func(_ string, k, v []byte) []byte {
			if bytes.Equal(k, key) {
				return cut
			}
			return v
		})
		if _, err := w.vault.Detokenize(business, u); !errors.Is(err, ErrDamaged) {
			t.Fatalf("a record cut to %d bytes: %v, want ErrDamaged", len(cut), err)
		}
	}
	w.settle()
	j.change(nil)
	if got, err := w.vault.Detokenize(business, u); err != nil || string(got) != cardJSON {
		t.Fatalf("with the record restored: %v", err)
	}
	w.eventually(func() bool { return j.count("token_quarantine") >= len(raw) })
}

// TestASwappedRecordIsDetected replaces a token's record with a valid record of another token.
func TestASwappedRecordIsDetected(t *testing.T) {
	w, j := stash(t, func(o *Options) { o.QuarantineFor = time.Nanosecond })
	mine, other := w.issue("c", pb.Policy_POLICY_TTL), w.issue("c", pb.Policy_POLICY_TTL)
	key, _ := w.rowOf(mine)
	_, foreign := w.rowOf(other)
	w.settle()
	j.change(func(_ string, k, v []byte) []byte {
		if bytes.Equal(k, key) {
			return foreign
		}
		return v
	})
	if got, err := w.vault.Detokenize(business, Use{mine, "business", "c"}); !errors.Is(err, ErrDamaged) || got != nil {
		t.Fatalf("a token with the record of another: %v, want ErrDamaged", err)
	}
	if _, err := w.vault.Detokenize(business, Use{other, "business", "c"}); err != nil {
		t.Errorf("detokenize of the undamaged token returned %v", err)
	}
}

// An attacker with the server's keys can create records that verify. Even this attacker cannot move
// a seal to another binding, policy or lifetime.
func TestSealsAreBoundToImmutableFields(t *testing.T) {
	w, _ := stash(t)
	v := w.vault.Ring().Newest()
	for name, change := range map[string]func(*pb.Token){
		"participant": func(t *pb.Token) { t.Participant = "thief" },
		"checkout":    func(t *pb.Token) { h := CheckoutHash("d"); t.Checkout = h[:] },
		"policy":      func(t *pb.Token) { t.Policy = pb.Policy_POLICY_SESSION },
		"expiry":      func(t *pb.Token) { t.ExpiresAt += 60_000 },
	} {
		tok := w.issue("c", pb.Policy_POLICY_TTL)
		key, raw := w.rowOf(tok)
		body, _, err := w.vault.Ring().Verify(key, raw)
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
		opener, err := v.SharedOpener(tok, share)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := opener.Open(seal.ForCredential, bound(key, &r), r.Credential); err != nil {
			t.Fatal(err)
		}
		if _, err := opener.Open(seal.ForDisplay, bound(key, &r), r.Credential); err == nil {
			t.Error("a credential can be opened as display data")
		}
		change(&r)
		if _, err := opener.Open(seal.ForCredential, bound(key, &r), r.Credential); !errors.Is(err, seal.ErrDamaged) {
			t.Errorf("after changing the %s: %v, want ErrDamaged", name, err)
		}
	}
}

// A damaged token is refused until its quarantine ends, even if its record is restored earlier.
// Other tokens are not affected.
func TestADamagedTokenAffectsNoOther(t *testing.T) {
	clock := clockAt(time.Now())
	w, j := stash(t, func(o *Options) { o.Clock = clock })
	clock.jump(time.Hour)
	bad, good := w.issue("c", pb.Policy_POLICY_TTL), w.issue("c", pb.Policy_POLICY_TTL)
	key, _ := w.rowOf(bad)
	w.settle()
	j.change(func(_ string, k, v []byte) []byte {
		if bytes.Equal(k, key) {
			v = bytes.Clone(v)
			v[len(v)-1] ^= 1
		}
		return v
	})
	for range 3 {
		if _, err := w.vault.Detokenize(business, Use{bad, "business", "c"}); !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	}
	w.eventually(func() bool { return j.count("token_quarantine") == 1 })
	if n := w.vault.Stats().Quarantined; n != 1 {
		t.Errorf("%d tokens are in quarantine, want 1", n)
	}
	w.settle()
	j.change(nil)
	if _, err := w.vault.Detokenize(business, Use{bad, "business", "c"}); !errors.Is(err, ErrDamaged) {
		t.Errorf("before the quarantine ends: %v, want ErrDamaged", err)
	}
	if _, err := w.vault.Detokenize(business, Use{good, "business", "c"}); err != nil {
		t.Error(err)
	}
	clock.jump(-time.Hour) // has no effect, because a quarantine is measured by the uptime
	clock.wait(6 * time.Minute)
	if _, err := w.vault.Detokenize(business, Use{bad, "business", "c"}); err != nil {
		t.Errorf("detokenizing after the quarantine: %v", err)
	}
}

func TestTheTimeOfAQuarantineIsMeasuredByUptime(t *testing.T) {
	clock := clockAt(time.Now())
	w := newWorld(t, func(o *Options) { o.Clock = clock })
	s := newShard(w.vault) // a separate shard, because the vault's shards run on other goroutines
	s.quarantine(seal.Name{1})
	clock.jump(24 * time.Hour)
	if s.forgive(); len(s.troubled) != 1 {
		t.Error("a jump of the time of day ended the quarantine")
	}
	clock.jump(-48 * time.Hour)
	clock.wait(w.vault.opts.QuarantineFor + w.vault.opts.BackoffMax + 1)
	if s.forgive(); len(s.troubled) != 0 {
		t.Error("the quarantine is still recorded after its time")
	}
}

// A token whose actor fails is available again after a backoff that doubles. If it keeps failing,
// it is quarantined.
func TestRepeatedPanicsQuarantineAToken(t *testing.T) {
	clock := clockAt(time.Now())
	w, j := stash(t, func(o *Options) {
		o.Clock = clock
		o.MaxFailures = 3
	})
	clock.jump(time.Hour)
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	u := Use{tok, "business", "c"}
	key, _ := w.rowOf(tok)
	w.settle()
	j.change(func(_ string, k, v []byte) []byte {
		if bytes.Equal(k, key) {
			panic("4242424242424242")
		}
		return v
	})
	for i := range 4 {
		want := durable.ErrUnavailable
		if i == 3 {
			want = ErrDamaged
		}
		if _, err := w.vault.Detokenize(business, u); !errors.Is(err, want) {
			t.Fatalf("use %d of a token whose actor panics returned %v, want %v", i+1, err, want)
		}
		clock.jump(-time.Minute)
		clock.wait(time.Second)
	}
	w.settle()
	j.change(nil)
	if _, err := w.vault.Detokenize(business, u); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	clock.jump(-time.Hour)
	clock.wait(6 * time.Minute)
	if _, err := w.vault.Detokenize(business, u); err != nil {
		t.Error(err)
	}
}

func TestNoTokenStaysInMemoryAfterItsUse(t *testing.T) {
	w, _ := stash(t)
	for range 100 {
		tok := w.issue("c", pb.Policy_POLICY_SINGLE_USE)
		if _, err := w.vault.Detokenize(business, Use{tok, "business", "c"}); err != nil {
			t.Fatal(err)
		}
	}
	// The shard updates its counts just after the reply.
	w.eventually(func() bool { return w.vault.Stats() == Stats{} })
}
