package token

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// TestResponsesAreBackedByTheDiskDespiteFailures injects errors into a fifth of all calls to the
// journal. Nevertheless every response agrees with the disk: tokens have records, returned
// credentials have audit records, and no token is used twice.
func TestResponsesAreBackedByTheDiskDespiteFailures(t *testing.T) {
	w, j := stash(t)
	type made struct {
		token    seal.Token
		checkout string
		returned int
		policy   pb.Policy
	}
	var mu sync.Mutex
	var all []*made
	failures, returned := 0, 0
	j.injectAt(0.2)
	var wg sync.WaitGroup
	for client := range 16 {
		wg.Go(func() {
			for i := range 150 {
				m := &made{checkout: fmt.Sprintf("%d-%d", client, i), policy: pb.Policy_POLICY_SINGLE_USE}
				if i%3 == 0 {
					m.policy = pb.Policy_POLICY_TTL
				}
				var err error
				if m.token, err = w.tokenize(m.checkout, m.policy); err != nil {
					mu.Lock()
					failures++
					mu.Unlock()
					if _, refused := errors.AsType[Refusal](err); refused {
						t.Errorf("creating a token was refused: %v", err)
					}
					continue
				}
				for range 3 {
					got, err := w.vault.Detokenize(business, Use{m.token, "business", m.checkout})
					mu.Lock()
					switch {
					case err == nil && string(got) == cardJSON:
						m.returned++
						returned++
					case err == nil:
						t.Error("detokenize returned a wrong credential")
					case got != nil:
						t.Error("detokenize returned a credential with an error")
					case !errors.Is(err, IsUsed):
						failures++
					}
					mu.Unlock()
				}
				mu.Lock()
				all = append(all, m)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	j.injectAt(0)
	w.settle()
	detokenized := j.targets("token_detokenize")
	if failures < 500 || returned < 500 {
		t.Fatalf("%d failures and %d credentials are too few for this test", failures, returned)
	}
	for _, m := range all {
		if m.policy == pb.Policy_POLICY_SINGLE_USE && m.returned > 1 {
			t.Errorf("the credential of a single-use token was returned %d times", m.returned)
		}
		s, err := w.vault.Introspect(business, Use{m.token, "business", m.checkout})
		if err != nil {
			t.Fatalf("an acknowledged token is missing: %v", err)
		}
		if m.returned > 0 && m.policy == pb.Policy_POLICY_SINGLE_USE && s.State != Redeemed {
			t.Errorf("a used token is in state %s", s.State)
		}
		uses := detokenized[reference(w.vault.rowKey(m.token, w.vault.Ring().Newest()))]
		if uses < m.returned {
			t.Errorf("a credential was returned %d times, but the audit trail has %d uses", m.returned, uses)
		}
	}
	t.Logf("%d tokens, %d credentials, %d failures", len(all), returned, failures)
}
