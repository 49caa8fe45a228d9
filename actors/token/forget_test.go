package token

import (
	"slices"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// An operator without the keys can count the lost tokens. Forget removes these tokens, and not the
// tokens of another stream in the same database.
func TestTheTokensOfAStreamAreCountedAndForgotten(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t, func(o *Options) { o.Journal, o.Stream = w.journal, "stream-2" })
	sandbox := newWorld(t, func(o *Options) { o.Journal, o.Environment = w.journal, seal.Sandbox })
	for i, v := range []*world{w, w, w, other, sandbox} {
		v.issue([]string{"a", "b", "c", "d", "e"}[i], pb.Policy_POLICY_SINGLE_USE)
	}
	expect := func(what string, mine, others int) {
		t.Helper()
		for stream, want := range map[string]int{"stream-1": mine, "stream-2": others, "stream-3": 0} {
			if n, err := Count(w.journal, stream); err != nil || n != want {
				t.Errorf("%s: %s has %d tokens, want %d; %v", what, stream, n, want, err)
			}
		}
	}
	expect("at first", 4, 1) // of both environments
	if err := Forget(w.journal, "stream-1"); err != nil {
		t.Fatal(err)
	}
	expect("afterwards", 0, 1)
}

// A record is kept while a second use must be distinguished from an unknown token. This time is
// longer for a used or revoked token than for an expired one. It counts from the token's end or its
// expiry, whichever is later.
func TestRecordsExpireAfterTheConfiguredTime(t *testing.T) {
	at := clockAt(time.UnixMilli(1_800_000_000_000))
	kept := &recorder{}
	w := newWorld(t, func(o *Options) {
		o.Clock, o.RememberExpired, o.RememberEnded = at, time.Hour, 24*time.Hour
		kept.Journal = o.Journal
		o.Journal = kept
	})
	now := w.opts.Clock.Now()
	ms := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	for _, tc := range []struct {
		expires, ended time.Duration // from now; 0: not ended
		want           time.Duration
	}{
		{15 * time.Minute, 0, time.Hour + 15*time.Minute},
		{15 * time.Minute, -time.Minute, 24*time.Hour + 15*time.Minute},
		{-2 * time.Minute, -time.Minute, 24*time.Hour - time.Minute},
		{-2 * time.Hour, 0, time.Second}, // the record is due for removal
	} {
		record := &pb.Token{Participant: "business", ExpiresAt: ms(tc.expires)}
		if tc.ended != 0 {
			record.EndedAt = ms(tc.ended)
		}
		row, err := w.vault.row([]byte("key"), w.vault.ring.Load().Newest(), record, now, durable.Precondition{})
		if err != nil || row.TTL != tc.want {
			t.Errorf("expiring in %v, ended %v: remembered for %v, want %v; %v", tc.expires, tc.ended, row.TTL, tc.want, err)
		}
	}
}

func TestPolicyNames(t *testing.T) {
	var all, lives, ends []string
	for _, p := range Policies() {
		all = append(all, p.Name)
		if p.Life {
			lives = append(lives, p.Name)
		} else {
			ends = append(ends, p.Name)
		}
	}
	for _, tc := range []struct {
		such func(Policy) bool
		want []string
	}{{nil, all}, {Lives, lives}, {Ends, ends}} {
		if got := PolicyNames(tc.such); len(got) == 0 || !slices.Equal(got, tc.want) {
			t.Errorf("PolicyNames = %q, want %q", got, tc.want)
		}
	}
}
