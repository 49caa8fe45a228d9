package token

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// Each policy that records can have is found by its name and has a description.
func TestEveryPolicyHasARow(t *testing.T) {
	for number, name := range pb.Policy_name {
		if kind := pb.Policy(number); kind != pb.Policy_POLICY_UNSPECIFIED && PolicyOf(kind).Kind != kind {
			t.Errorf("%s has no row", name)
		}
	}
	for _, p := range Policies() {
		if found, ok := ParsePolicy(p.Name); !ok || found != p || PolicyName(p.Kind) != p.Name || p.About == "" {
			t.Errorf("%+v is not found by its name, or has no description", p)
		}
	}
	if p := PolicyOf(pb.Policy_POLICY_UNSPECIFIED); !p.Once {
		t.Errorf("an unspecified policy counts as %s, which allows repeated use", p.Name)
	}
}

// A row of policies contains the name and meaning of a policy, but lifecycle.go and vault.go
// implement its behaviour. If two policies always behave alike, the rule of one is not implemented.
func TestEveryPolicyHasARule(t *testing.T) {
	does := map[string]string{}
	for _, p := range Policies() {
		if _, ok := promises[p.Kind]; !ok {
			t.Errorf("%s has a row, but the reference in lifecycle_test.go has no rule for it", p.Name)
		}
		life := behaviour(t, p)
		if other, ok := does[life]; ok {
			t.Errorf("%s and %s behave alike: one of them has no rule in lifecycle.go (or the function behaviour does not test the difference)",
				p.Name, other)
		}
		does[life] = p.Name
	}
}

// behaviour describes the life of two tokens of a policy, as text. One token is used repeatedly,
// for longer than any token lives, and the other is not used.
func behaviour(t *testing.T, p Policy) string {
	const every, longest = 5 * time.Minute, time.Hour
	clock := clockAt(noon)
	w := newWorld(t, func(o *Options) { o.Clock, o.SessionCap = clock, longest })
	used := w.issue("used", p.Kind)
	waiting := w.issue("waits", p.Kind)
	var life strings.Builder
	for at := time.Duration(0); at <= longest; at += every {
		for range 3 {
			_, err := w.vault.Detokenize(business, Use{used, "business", "used"})
			fmt.Fprintf(&life, "%v used: %v; ", at, err)
		}
		s, err := w.vault.Introspect(business, Use{waiting, "business", "waits"})
		fmt.Fprintf(&life, "%v waits: %v, %v; ", at, s.State, err)
		clock.wait(every)
	}
	return life.String()
}

// The cap counts from the first token of the session. A later token does not extend it.
func TestATokenEndsAtTheCapOfItsSession(t *testing.T) {
	clock := clockAt(noon)
	w := newWorld(t, func(o *Options) { o.Clock, o.SessionCap = clock, time.Hour })
	first := w.issue("checkout", pb.Policy_POLICY_SESSION)
	clock.wait(50 * time.Minute)
	second := w.issue("checkout", pb.Policy_POLICY_SESSION)
	for _, after := range []struct {
		wait time.Duration
		want error
	}{{9 * time.Minute, nil}, {time.Minute, IsExpired}} {
		clock.wait(after.wait)
		for i, token := range []seal.Token{first, second} {
			if _, err := w.vault.Detokenize(business, Use{token, "business", "checkout"}); !errors.Is(err, after.want) {
				t.Errorf("token %d, %v after noon: %v, want %v", i+1, clock.Now().Sub(noon), err, after.want)
			}
		}
	}
	if _, err := w.tokenize("checkout", pb.Policy_POLICY_SESSION); !errors.Is(err, IsSessionEnded) {
		t.Errorf("a new token after the session reached its cap: %v, want IsSessionEnded", err)
	}
}
