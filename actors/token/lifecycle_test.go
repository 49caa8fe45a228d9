package token

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
	"atelier/persistence/memory"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func record(policy pb.Policy) *pb.Token {
	checkout := CheckoutHash("c")
	return &pb.Token{
		State: pb.State_STATE_ACTIVE, Policy: policy, Participant: "p", Checkout: checkout[:],
		CreatedAt: noon.UnixMilli(), ExpiresAt: noon.Add(time.Minute).UnixMilli(), Credential: []byte("sealed"), Display: []byte("shown"),
		Share: []byte("share-id"),
	}
}

func TestDecide(t *testing.T) {
	rules := Rules{MaxMismatches: 2}
	in := func(s pb.State) func(*pb.Token) { return func(t *pb.Token) { t.State = s } }
	late := func(a *Attempt) { a.Now = noon.Add(time.Minute) }
	for _, c := range []struct {
		name    string
		policy  pb.Policy
		token   func(*pb.Token)
		op      Operation
		attempt func(*Attempt)
		refusal Refusal
		state   State
		next    pb.State // 0 if nothing is stored
		record  string
	}{
		{"a single-use token can be used once", pb.Policy_POLICY_SINGLE_USE, nil, Detokenize, nil, NotRefused, Redeemed, pb.State_STATE_REDEEMED, "token_detokenize"},
		{"a second use is refused, with an alarm", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Detokenize, nil, IsUsed, Redeemed, 0, "token_reuse"},
		{"a ttl token can be used again", pb.Policy_POLICY_TTL, nil, Detokenize, nil, NotRefused, Active, 0, "token_detokenize"},
		{"a session token can be used again", pb.Policy_POLICY_SESSION, nil, Detokenize, nil, NotRefused, Active, 0, "token_detokenize"},
		{"a token expires at its end", pb.Policy_POLICY_TTL, nil, Detokenize, late, IsExpired, Expired, 0, ""},
		{"a used token stays used after its end", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Detokenize, late, IsUsed, Redeemed, 0, "token_reuse"},
		{"revoked", pb.Policy_POLICY_TTL, in(pb.State_STATE_REVOKED), Detokenize, nil, IsRevoked, Revoked, 0, ""},
		{"locked", pb.Policy_POLICY_TTL, in(pb.State_STATE_LOCKED), Detokenize, nil, IsRevoked, Locked, 0, ""},
		{"session ended", pb.Policy_POLICY_SESSION, nil, Detokenize, func(a *Attempt) { a.SessionEnded = true }, IsRevoked, SessionEnded, 0, ""},
		{"the end of a session ends tokens of other policies too", pb.Policy_POLICY_TTL, nil, Detokenize, func(a *Attempt) { a.SessionEnded = true }, IsRevoked, SessionEnded, 0, ""},
		{"the share has ended", pb.Policy_POLICY_TTL, nil, Detokenize, func(a *Attempt) { a.ShareOver = true }, IsExpired, Expired, 0, ""},
		{"a used token stays used after its share has ended", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Detokenize, func(a *Attempt) { a.ShareOver = true }, IsUsed, Redeemed, 0, "token_reuse"},
		{"introspection after the share has ended", pb.Policy_POLICY_TTL, nil, Introspect, func(a *Attempt) { a.ShareOver = true }, NotRefused, Expired, 0, "token_introspect"},
		{"replay after the share has ended", pb.Policy_POLICY_TTL, nil, Replay, func(a *Attempt) { a.ShareOver = true }, IsExpired, Expired, 0, ""},
		{"probe of an active token of any participant", pb.Policy_POLICY_TTL, nil, Probe, func(a *Attempt) { a.Participant, a.Checkout = "q", CheckoutHash("d") }, NotRefused, Active, 0, ""},
		{"probe of an expired token", pb.Policy_POLICY_TTL, nil, Probe, late, IsExpired, Expired, 0, ""},
		{"probe of a record without a participant", pb.Policy_POLICY_TTL, func(t *pb.Token) { t.Participant = "" }, Probe, nil, NotFound, "", 0, ""},
		{"another participant", pb.Policy_POLICY_TTL, nil, Detokenize, func(a *Attempt) { a.Participant = "q" }, NotFound, "", 0, ""},
		{"another participant and checkout", pb.Policy_POLICY_TTL, nil, Detokenize, func(a *Attempt) { a.Participant, a.Checkout = "q", CheckoutHash("d") }, NotFound, "", 0, ""},
		{"a record without a participant", pb.Policy_POLICY_TTL, func(t *pb.Token) { t.Participant = "" }, Detokenize, func(a *Attempt) { a.Participant = "" }, NotFound, "", 0, ""},
		{"another checkout is counted", pb.Policy_POLICY_TTL, nil, Detokenize, func(a *Attempt) { a.Checkout = CheckoutHash("d") }, BindingMismatch, Active, pb.State_STATE_ACTIVE, "token_mismatch"},
		{"the last mismatch locks the token", pb.Policy_POLICY_TTL, func(t *pb.Token) { t.Mismatches = 1 }, Introspect, func(a *Attempt) { a.Checkout = CheckoutHash("d") }, BindingMismatch, Locked, pb.State_STATE_LOCKED, "token_lock"},
		{"a mismatch on a used token is not counted, with an alarm", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Detokenize, func(a *Attempt) { a.Checkout = CheckoutHash("d") }, BindingMismatch, Redeemed, 0, "token_reuse"},
		{"introspection of a used token with another checkout", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Introspect, func(a *Attempt) { a.Checkout = CheckoutHash("d") }, BindingMismatch, Redeemed, 0, ""},
		{"a mismatch on a revoked token", pb.Policy_POLICY_TTL, in(pb.State_STATE_REVOKED), Detokenize, func(a *Attempt) { a.Checkout = CheckoutHash("d") }, BindingMismatch, Revoked, 0, ""},
		{"introspection changes nothing", pb.Policy_POLICY_SINGLE_USE, nil, Introspect, nil, NotRefused, Active, 0, "token_introspect"},
		{"introspection of a used token", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Introspect, nil, NotRefused, Redeemed, 0, "token_introspect"},
		{"revoke", pb.Policy_POLICY_SINGLE_USE, nil, Revoke, nil, NotRefused, Revoked, pb.State_STATE_REVOKED, "token_revoke"},
		{"revoke again", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REVOKED), Revoke, nil, NotRefused, Revoked, 0, "token_revoke"},
		{"revoke an expired token", pb.Policy_POLICY_SINGLE_USE, nil, Revoke, late, NotRefused, Expired, 0, "token_revoke"},
		{"replay of an active token", pb.Policy_POLICY_SINGLE_USE, nil, Replay, nil, NotRefused, Active, 0, "token_replay"},
		{"replay of a used token", pb.Policy_POLICY_SINGLE_USE, in(pb.State_STATE_REDEEMED), Replay, nil, IsUsed, Redeemed, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tok := record(c.policy)
			if c.token != nil {
				c.token(tok)
			}
			before := tok.Clone()
			a := Attempt{Operation: c.op, Participant: "p", Checkout: CheckoutHash("c"), Now: noon}
			if c.attempt != nil {
				c.attempt(&a)
			}
			v := Decide(tok, a, rules)
			if !proto.Equal(tok, before) {
				t.Error("Decide changed the record")
			}
			if v.Refusal != c.refusal || v.State != c.state || v.Record != c.record {
				t.Errorf("Decide returned %v, %q and audit record %q, want %v, %q and %q", v.Refusal, v.State, v.Record, c.refusal, c.state, c.record)
			}
			if alarm := strings.Contains("token_reuse token_mismatch token_lock", c.record) && c.record != ""; v.Security != alarm {
				t.Errorf("Security is %v, want %v", v.Security, alarm)
			}
			if v.Next.GetState() != c.next {
				t.Errorf("the stored state is %v, want %v", v.Next.GetState(), c.next)
			}
			if n := v.Next; n != nil && n.State != pb.State_STATE_ACTIVE && (n.Credential != nil || n.Share != nil || n.EndedAt == 0 || n.Display == nil) {
				t.Error("an ended token has a credential or share, or lacks its end time or display")
			}
		})
	}
}

// promises contains the rules of the policies according to the specification.
var promises = map[pb.Policy]struct {
	// once means that a token can be used only once. withSession means that a token lives as long
	// as its session.
	once, withSession bool
}{
	pb.Policy_POLICY_SINGLE_USE: {once: true},
	pb.Policy_POLICY_TTL:        {},
	pb.Policy_POLICY_SESSION:    {withSession: true},
}

// promised is a minimal model of the lifecycle from the specification, to compare with the vault.
type promised struct {
	policy     pb.Policy
	owner      string
	checkout   string
	expires    time.Time
	used       bool
	revoked    bool
	mismatches int
}

// TestAVaultBehavesLikeTheReference applies the same random operations to a vault and the
// reference, including clock changes and restarts.
func TestAVaultBehavesLikeTheReference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := clockAt(noon)
		journal := memory.New()
		defer journal.Close()
		opts := Options{
			Environment: seal.Production, Journal: journal, Stream: "s", Keys: oneKey(), Clock: clock, Shares: newMemoryShares(clock.Now),
			Audit: audit.New(journal, clock, time.Hour), SessionCap: time.Hour,
			RememberEnded: 24 * time.Hour, RememberExpired: 24 * time.Hour,
		}
		w := &world{TB: t, opts: opts}
		w.opts.System = durable.NewSystem()
		w.start()
		defer func() { w.stop() }()

		var tokens []seal.Token
		var models []*promised
		ended := map[string]bool{}
		opened := map[string]time.Time{} // the time at which each session was opened, by owner and checkout
		owners, checkouts := []string{"shop", "store"}, []string{"c1", "c2"}
		pick := func(what string, of []string) string { return rapid.SampledFrom(of).Draw(rt, what) }

		state := func(m *promised) State {
			switch {
			case m.used:
				return Redeemed
			case m.revoked:
				return Revoked
			case m.mismatches >= 5:
				return Locked
			case ended[m.owner+m.checkout]:
				return SessionEnded
			case !clock.Now().Before(m.expires):
				return Expired
			}
			return Active
		}
		expect := func(got, want error) {
			if !errors.Is(got, want) && got != want {
				rt.Fatalf("the operation returned %v, want %v", got, want)
			}
		}
		refusal := map[State]error{Redeemed: IsUsed, Revoked: IsRevoked, Locked: IsRevoked, SessionEnded: IsRevoked, Expired: IsExpired}

		// use draws a token and a binding. It returns the token's model, and the refusal if the
		// binding is wrong. The model is nil if there are no tokens.
		use := func() (*promised, Use, error) {
			if len(tokens) == 0 {
				return nil, Use{}, nil
			}
			i := rapid.IntRange(0, len(tokens)-1).Draw(rt, "token")
			m, u := models[i], Use{tokens[i], pick("owner", owners), pick("checkout", checkouts)}
			switch {
			case u.Participant != m.owner:
				return m, u, NotFound
			case u.Checkout != m.checkout:
				if state(m) == Active {
					m.mismatches++
				}
				return m, u, BindingMismatch
			}
			return m, u, nil
		}
		rt.Repeat(map[string]func(*rapid.T){
			"tokenize": func(*rapid.T) {
				policy := rapid.SampledFrom(Policies()).Draw(rt, "policy").Kind
				m := &promised{policy: policy, owner: pick("owner", owners), checkout: pick("checkout", checkouts)}
				life := 5 * time.Minute
				if promises[policy].withSession {
					life = time.Hour
				}
				m.expires = clock.Now().Add(life)
				tok, err := w.vault.Tokenize(platform, Issue{Participant: m.owner, Checkout: m.checkout, Credential: card(t), Policy: policy, Life: life})
				capped := false
				if promises[policy].withSession && !ended[m.owner+m.checkout] {
					if opened[m.owner+m.checkout].IsZero() {
						opened[m.owner+m.checkout] = clock.Now()
					}
					m.expires = opened[m.owner+m.checkout].Add(time.Hour)
					capped = !clock.Now().Before(m.expires)
				}
				if ended[m.owner+m.checkout] || capped {
					expect(err, IsSessionEnded)
					return
				}
				expect(err, nil)
				tokens, models = append(tokens, tok), append(models, m)
			},
			"detokenize": func(*rapid.T) {
				m, u, want := use()
				if m == nil {
					return
				}
				s := state(m)
				if want == nil && s != Active {
					want = refusal[s]
				}
				got, err := w.vault.Detokenize(business, u)
				expect(err, want)
				if want == nil {
					if string(got) != cardJSON {
						rt.Fatal("detokenize returned a wrong credential")
					}
					m.used = promises[m.policy].once
				} else if got != nil {
					rt.Fatal("detokenize returned a credential with a refusal")
				}
			},
			"introspect": func(*rapid.T) {
				m, u, want := use()
				if m == nil {
					return
				}
				s, err := w.vault.Introspect(business, u)
				expect(err, want)
				if want == nil && (s.State != state(m) || s.Policy != m.policy || s.Display.LastFour != "4242") {
					rt.Fatalf("introspection returned %+v, want state %s", s, state(m))
				}
			},
			"revoke": func(*rapid.T) {
				m, u, want := use()
				if m == nil {
					return
				}
				s := state(m)
				expect(w.vault.Revoke(business, u), want)
				if want == nil && s == Active {
					m.revoked = true
				}
			},
			"unknown token": func(*rapid.T) {
				_, err := w.vault.Detokenize(business, Use{seal.NewToken(seal.Production), pick("owner", owners), "c1"})
				expect(err, NotFound)
			},
			"end session": func(*rapid.T) {
				o, c := pick("owner", owners), pick("checkout", checkouts)
				if rapid.IntRange(0, 3).Draw(rt, "rarely") > 0 {
					return
				}
				expect(w.vault.EndSession(business, o, c), nil)
				ended[o+c] = true
			},
			"wait": func(*rapid.T) {
				clock.wait(time.Duration(rapid.IntRange(1, 600).Draw(rt, "seconds")) * time.Second)
			},
			"restart": func(*rapid.T) {
				if rapid.IntRange(0, 4).Draw(rt, "rarely") == 0 {
					w.restart()
				}
			},
		})
	})
}

func oneKey() []seal.Key { return []seal.Key{{Version: 1, Material: make([]byte, seal.MaterialBytes)}} }

func TestTheWheelCountsActiveTokens(t *testing.T) {
	w := wheel{}
	for second := range int64(10) {
		w.add(second, 3)
	}
	if !w.add(4, -1) || w.add(99, -1) {
		t.Error("a missing token was removed")
	}
	if n := w.turn(time.Unix(5, 0)); n != 14 {
		t.Errorf("%d tokens ended, want 14", n)
	}
	if n := w.turn(time.Unix(5, 0)); n != 0 || len(w) != 5 {
		t.Errorf("%d tokens ended again, want 0; %d seconds are left, want 5", n, len(w))
	}
}

func ExampleDecide() {
	checkout := CheckoutHash("c")
	t := &pb.Token{State: pb.State_STATE_ACTIVE, Policy: pb.Policy_POLICY_SINGLE_USE, Participant: "p", Checkout: checkout[:], ExpiresAt: 1 << 50}
	v := Decide(t, Attempt{Operation: Detokenize, Participant: "p", Checkout: checkout, Now: noon}, Rules{MaxMismatches: 5})
	fmt.Println(v.State, v.Record)
	v = Decide(v.Next, Attempt{Operation: Detokenize, Participant: "p", Checkout: checkout, Now: noon}, Rules{MaxMismatches: 5})
	fmt.Println(v.Refusal, v.Security)
	// Output:
	// redeemed token_detokenize
	// the token was used true
}
