package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fate is the client's record of a token.
type fate struct {
	checkout string
	used     int  // number of responses with the credential
	asked    bool // detokenize was sent but got no response
}

// The test kills the real server at random moments under load, restarts it, and compares its state
// with the responses that clients received. No token is redeemed twice, and no acknowledged token
// is missing. A token whose detokenize got no response is either active or redeemed. LONG_TESTS=1
// runs a hundred rounds.
func TestTokensSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	rounds := 4
	if os.Getenv("LONG_TESTS") != "" {
		rounds = 100
	}
	path, data := binary(t), t.TempDir()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	var m *market
	total, uses, unknown := 0, 0, 0
	for round := range rounds {
		cmd, addr := run(t, path, data)
		if m == nil {
			m = newMarket(t, addr, production)
		} else {
			m.move(addr)
		}
		tokens := m.loadUntilKilled(cmd, 30+rng.IntN(300), round)
		cmd, addr = run(t, path, data)
		m.move(addr)
		total += len(tokens)
		for token, f := range tokens {
			uses += f.used
			if f.asked {
				unknown++
			}
			m.judge(token, f, seed, round)
		}
		if t.Failed() {
			return
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Logf("%d rounds, %d tokens acknowledged, %d redeemed, %d redemptions without a response", rounds, total, uses, unknown)
	if total == 0 || uses == 0 {
		t.Error("no token was acknowledged, or none was redeemed")
	}
}

// loadUntilKilled creates and redeems tokens, and kills the server after the given number of
// responses, while other operations are in progress. It returns the clients' records by token.
func (m *market) loadUntilKilled(cmd *exec.Cmd, after int, round int) map[string]*fate {
	var mu sync.Mutex
	tokens := map[string]*fate{}
	var dead atomic.Bool
	var answered atomic.Int64
	kill := sync.OnceFunc(func() { _ = cmd.Process.Kill() })
	post := func(p *member, path string, body any) (status int, answer []byte, ok bool) {
		raw, _ := json.Marshal(body)
		req, _ := http.NewRequest(http.MethodPost, p.base+path, bytes.NewReader(raw))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+p.secret)
		res, err := p.http.Do(req)
		if err != nil {
			return 0, nil, false
		}
		defer res.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(res.Body); err != nil {
			return 0, nil, false
		}
		if answered.Add(1) >= int64(after) {
			kill()
		}
		return res.StatusCode, b.Bytes(), true
	}
	var wg sync.WaitGroup
	for client := range 16 {
		wg.Go(func() {
			defer kill() // if the test fails
			for i := 0; !dead.Load(); i++ {
				f := &fate{checkout: fmt.Sprintf("%d-%d-%d", round, client, i)}
				status, b, ok := post(m.platform, "/tokenize", record{"credential": visa(), "binding": m.binding(f.checkout)})
				if !ok {
					return
				}
				var made record
				if status != 200 || json.Unmarshal(b, &made) != nil {
					m.t.Errorf("tokenize returned %d, want 200", status)
					return
				}
				token := made.text("token")
				mu.Lock()
				tokens[token] = f
				mu.Unlock()
				if i%3 == 0 {
					continue // stays unused
				}
				status, _, ok = post(m.business, "/detokenize", use(token, f.checkout))
				mu.Lock()
				switch {
				case !ok:
					f.asked = true
				case status == 200:
					f.used++
				default:
					m.t.Errorf("detokenize returned %d, want 200", status)
				}
				mu.Unlock()
			}
		})
	}
	_ = cmd.Wait()
	dead.Store(true)
	wg.Wait()
	return tokens
}

// judge compares a token, after a restart, with its client's record.
func (m *market) judge(token string, f *fate, seed uint64, round int) {
	m.t.Helper()
	seen := m.business.post("/introspect", use(token, f.checkout))
	if seen.status != 200 {
		m.t.Errorf("seed %d, round %d: introspect of an acknowledged token returned %d, want 200", seed, round, seen.status)
		return
	}
	state := seen.object().text("state")
	again := m.business.post("/detokenize", use(token, f.checkout))
	switch {
	case f.used > 0 && (state != "redeemed" || again.status != 410):
		m.t.Errorf("seed %d, round %d: a redeemed token is %s, and detokenize returned %d", seed, round, state, again.status)
	case f.used == 0 && !f.asked && (state != "active" || again.status != 200):
		m.t.Errorf("seed %d, round %d: an unused token is %s, and detokenize returned %d", seed, round, state, again.status)
	case state == "active" && again.status != 200, state == "redeemed" && again.status != 410, state != "active" && state != "redeemed":
		m.t.Errorf("seed %d, round %d: a token is %s, and detokenize returned %d", seed, round, state, again.status)
	}
}
