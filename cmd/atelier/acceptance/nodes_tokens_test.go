package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"atelier/persistence/postgres/postgrestest"
)

// Many clients use one token at the same time, each on another node, and exactly one gets the
// credential. The result is the same while a node loses the database.
func TestTokensAreUsedOnceOnAnyNode(t *testing.T) {
	t.Parallel()
	rounds := 6
	if os.Getenv("LONG_TESTS") != "" {
		rounds = 100
	}
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 3, dsn, testConfig(t))
	for i := range cfgs {
		cfgs[i].Handler.RatePerSecond = 0
	}
	links := throughLinks(t, dsn, cfgs)
	nodes := startShort(t, cfgs)
	m := newMarket(t, nodes[0].Addr(), production)
	post := func(node int, p *member, path string, body any) (status int, code, answer string) {
		return p.at(nodes[node].Addr()+m.path, path, body)
	}
	used, unknown := 0, 0
	for round := range rounds {
		var wg sync.WaitGroup
		var done atomic.Int64
		cut := links[round%3]
		if round%2 == 0 {
			cut = nil
		}
		for n := range 8 {
			checkout := fmt.Sprintf("round-%d-%d", round, n)
			var token string
			// A busy machine can prevent a node from renewing its lease, or from responding in time.
			eventual(t, "a token", func() bool {
				var status int
				status, _, token = post((round+1)%3, m.platform, "/tokenize", record{"credential": visa(), "binding": m.binding(checkout)})
				if status != 0 && status != http.StatusOK && status != http.StatusServiceUnavailable {
					t.Fatalf("tokenize on node %d returned %d", (round+1)%3, status)
				}
				return status == http.StatusOK
			})
			var won, lost, open atomic.Int64
			var each sync.WaitGroup
			for attempt := range 9 {
				each.Go(func() {
					if cut != nil && done.Add(1) == 20 {
						cut.set(true)
					}
					status, code, number := post(attempt%3, m.psp, "/detokenize", record{"token": token, "binding": m.binding(checkout)})
					switch {
					case status == http.StatusOK && number == cardNumber:
						won.Add(1)
					case status == http.StatusGone && code == "token_used":
						lost.Add(1)
					case status == 0 || status == http.StatusServiceUnavailable:
						open.Add(1)
					default:
						t.Errorf("node %d returned %d %s", attempt%3, status, code)
					}
				})
			}
			wg.Go(func() {
				each.Wait()
				if won.Load() > 1 || won.Load() == 0 && open.Load() == 0 {
					t.Errorf("round %d: %d clients redeemed the token, %d received token_used, %d received no outcome", round, won.Load(), lost.Load(), open.Load())
				}
				if won.Load() == 0 { // then a client without a result may have used the token
					if status, code, _ := post((round+1)%3, m.psp, "/detokenize", record{"token": token, "binding": m.binding(checkout)}); status == http.StatusOK && lost.Load() > 0 {
						t.Errorf("round %d: a used token was accepted again: %d %s", round, status, code)
					}
				}
			})
			wg.Wait()
			used, unknown = used+int(won.Load()), unknown+int(open.Load())
		}
		if cut != nil {
			cut.set(false)
			eventual(t, "a node that is back", func() bool { return ready(nodes[round%3]) })
		}
	}
	t.Logf("%d used, %d without an outcome", used, unknown)
	if used == 0 {
		t.Error("no token was used")
	}
}

// An admin's change on one node takes effect on the other nodes without a request to them.
func TestDisablingTakesEffectOnEveryNode(t *testing.T) {
	t.Parallel()
	nodes := startLasting(t, nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t)))
	m := newMarket(t, nodes[1].Addr(), production)
	for i, node := range nodes {
		if status, code, _ := m.business.answered(node.Addr()+m.path, "/introspect", use("x", "c")); status != http.StatusNotFound || code != "token_not_found" {
			t.Errorf("node %d does not find the participant: %d %s", i, status, code)
		}
	}
	m.admin.post("/admin/participants/"+m.business.id+"/disable", nil).want(200)
	m.business.post("/introspect", use("x", "c")).wantError(401, "unauthorized")
	for i, node := range nodes {
		eventual(t, fmt.Sprintf("node %d refuses the disabled participant", i), func() bool {
			status, code, _ := m.business.at(node.Addr()+m.path, "/introspect", use("x", "c"))
			return status == http.StatusUnauthorized && code == "unauthorized"
		})
	}
}

// answered posts like at, and repeats a request that a busy node cannot process yet.
func (p *member) answered(base, path string, body any) (status int, code, answer string) {
	p.t.Helper()
	eventual(p.t, "a response to "+path, func() bool {
		status, code, answer = p.at(base, path, body)
		return status != 0 && status != http.StatusServiceUnavailable
	})
	return status, code, answer
}

// at posts to a handler at another address. It returns the status, the error code, and the token
// or card number. The status is 0 without a response.
func (p *member) at(base, path string, body any) (status int, code, answer string) {
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Error(err)
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+base+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Error(err)
		return 0, "", ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+p.secret)
	res, err := p.http.Do(req)
	if err != nil {
		return 0, "", ""
	}
	defer res.Body.Close()
	var got struct{ Token, Code, Number string }
	_ = json.NewDecoder(res.Body).Decode(&got)
	returnedSecrets.add(got.Token)
	return res.StatusCode, got.Code, got.Token + got.Number
}
