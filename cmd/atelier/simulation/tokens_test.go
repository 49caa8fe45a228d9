package simulation

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"atelier/actors/audit"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// tokens contains the payments of a run: the issued tokens and their history.
type tokens struct {
	w      *world
	shares *shares
	// jumped means that a node's time of day was wrong.
	jumped atomic.Bool

	mu  sync.Mutex
	all []*issued // guarded by mu
}

// issued is one token as its users see it.
type issued struct {
	token    seal.Token
	policy   pb.Policy
	checkout string
	content  string // of the credential
	// earliest and latest are the times between which the token expires.
	earliest, latest time.Time
	wrong            int // uses with another checkout

	operations []porcupine.Operation // guarded by tokens.mu
}

// shares contains the shares of sealing keys, for all nodes.
type shares struct {
	mu   sync.Mutex
	made []*seal.Share
}

// Until implements token.Shares.
func (s *shares) Until(end time.Time) (*seal.Share, error) {
	ends := seal.QuarterEnd(end)
	if !time.Now().Before(ends) {
		return nil, seal.ErrOver
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.made {
		if one.Ends().Equal(ends) {
			return one, nil
		}
	}
	secret := [seal.ShareBytes]byte(append(make([]byte, seal.ShareBytes-1), byte(len(s.made))))
	s.made = append(s.made, seal.NewShare(ends, &secret))
	return s.made[len(s.made)-1], nil
}

// Find implements token.Shares.
func (s *shares) Find(id seal.ShareID) (*seal.Share, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.made {
		if one.ID() == id && time.Now().Before(one.Ends()) {
			return one, nil
		}
	}
	return nil, nil
}

func newTokens(w *world) *tokens { return &tokens{w: w, shares: &shares{}} }

func (w *world) newVault(s *server) (*token.Vault, error) {
	key := sha256.Sum256([]byte("simulated"))
	return token.NewVault(token.Options{
		Environment: seal.Production, System: s.system, Clock: s.clock, Journal: s.shared, Stream: s.store.StreamID(),
		Audit: audit.New(s.shared, s.clock, time.Hour), Shares: w.tokens.shares,
		SessionCap: sessionCap, Keys: []seal.Key{{Version: 1, Material: key[:seal.MaterialBytes]}},
	})
}

// sessionCap is the lifetime of a session token.
const sessionCap = 6 * time.Hour

var shop = token.Caller{Participant: "shop"}

// act makes payers use tokens until a given time.
func (t *tokens) act(until time.Time, all *sync.WaitGroup) {
	for i := range t.w.plan.Payers {
		p := &payer{t: t, number: i, name: fmt.Sprintf("p%d", i+1), rand: t.w.plan.random(ofPayers + uint64(i))}
		all.Go(func() {
			for time.Now().Before(until) && t.w.pause(time.Duration(p.rand.ExpFloat64()*float64(100*time.Millisecond))) {
				p.act()
			}
		})
	}
}

// payer is a client that tokenizes and detokenizes.
type payer struct {
	t      *tokens
	number int
	name   string
	rand   *rand.Rand
	made   int
}

func (p *payer) server() *server {
	nodes := p.t.w.nodes
	return nodes[p.rand.IntN(len(nodes))].server.Load()
}

func (p *payer) act() {
	p.t.mu.Lock()
	var x *issued
	if n := len(p.t.all); n > 0 {
		x = p.t.all[max(0, n-1-int(p.rand.ExpFloat64()*3))]
	}
	p.t.mu.Unlock()
	s := p.server()
	if s == nil {
		return
	}
	switch draw := p.rand.IntN(20); {
	case x == nil || draw < 6:
		p.issue(s)
	case draw < 13:
		p.use(s, x, detokenize)
	case draw < 16:
		p.use(s, x, introspect)
	case draw < 18:
		p.use(s, x, revoke)
	case draw < 19:
		p.use(s, x, endSession)
	default:
		p.misuse(s, x)
	}
}

// issue creates a token, with an idempotency key in half the cases. With the same key, every node
// must return the same token.
func (p *payer) issue(s *server) {
	p.made++
	mark := fmt.Sprintf("credential-%d-of-%s", p.made, p.name)
	raw := fmt.Sprintf(`{"type":"simulated","token":%q}`, mark)
	c, err := credential.Parse([]byte(raw), credential.Rules{Opaque: []string{"simulated"}}, time.Now())
	if err != nil {
		p.t.w.model.fail("tokens", "%v", err)
		return
	}
	policies := token.Policies()
	x := &issued{policy: policies[p.rand.IntN(len(policies))].Kind, checkout: "checkout of " + mark, content: raw}
	in := token.Issue{
		Participant: shop.Participant, Checkout: x.checkout, Credential: c, Policy: x.policy,
		Life: 2*time.Second + time.Duration(p.rand.IntN(60))*time.Second, Request: []byte(raw),
	}
	keyed := p.rand.IntN(2) == 0
	if keyed {
		in.IdempotencyKey = mark
	}
	x.earliest = time.Now().Add(in.Life)
	x.token, err = s.vault.Tokenize(shop, in)
	err = s.leaves(err)
	p.note(s, "tokenizes "+mark, err)
	p.t.w.judge(p.name, "Tokenize", s, err)
	for again := 0; keyed && (err != nil || again == 0) && again < 5; again++ {
		if s = p.server(); s == nil {
			continue
		}
		repeated, failed := s.vault.Tokenize(shop, in)
		if failed = s.leaves(failed); failed != nil {
			p.note(s, "tokenizes "+mark+" again", failed)
			p.t.w.judge(p.name, "Tokenize again", s, failed)
			continue
		}
		if err == nil && repeated != x.token && !p.t.jumped.Load() && time.Now().Before(x.earliest) {
			p.t.w.model.fail("tokens", "%s got two tokens at %s for one idempotency key", p.name, s.n.name)
		}
		x.token, err = repeated, nil
	}
	if err != nil {
		return
	}
	p.t.w.history.count("command", "Tokenize")
	if x.latest = time.Now().Add(in.Life); x.policy == pb.Policy_POLICY_SESSION {
		x.earliest = x.earliest.Add(sessionCap - in.Life)
		x.latest = x.latest.Add(sessionCap - in.Life)
	}
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	p.t.all = append(p.t.all, x)
}

// These types describe operations on tokens, and their outcomes.
type (
	tokenOp      string
	tokenOutcome string
)

const (
	detokenize tokenOp = "Detokenize"
	introspect tokenOp = "Introspect"
	revoke     tokenOp = "Revoke"
	endSession tokenOp = "EndSession"

	done    tokenOutcome = "done"
	used    tokenOutcome = "used"
	over    tokenOutcome = "over"
	active  tokenOutcome = "active"
	unknown tokenOutcome = "unknown"
	expired tokenOutcome = "expired"
)

// use runs one operation on a token, on one node.
func (p *payer) use(s *server, x *issued, op tokenOp) {
	began := time.Now()
	u := token.Use{Token: x.token, Participant: shop.Participant, Checkout: x.checkout}
	var out tokenOutcome
	var err error
	switch op {
	case detokenize:
		var secret seal.Secret
		if secret, err = s.vault.Detokenize(shop, u); err == nil && string(secret) != x.content {
			p.t.w.model.fail("tokens", "%s returned another credential than was tokenized", s.n.name)
		}
	case introspect:
		var st token.Status
		if st, err = s.vault.Introspect(shop, u); err == nil {
			out = map[token.State]tokenOutcome{token.Active: active, token.Redeemed: used, token.Expired: expired}[st.State]
			if out == "" {
				out = over
			}
		}
	case revoke:
		err = s.vault.Revoke(shop, u)
	case endSession:
		err = s.vault.EndSession(shop, shop.Participant, x.checkout)
	}
	err = s.leaves(err)
	switch {
	case err == nil && out == "":
		out = done
	case err == nil:
	case errors.Is(err, token.IsUsed):
		out = used
	case errors.Is(err, token.IsRevoked):
		out = over
	case errors.Is(err, token.IsExpired):
		out = expired
	case isOne(err, expected) || errors.Is(err, errDown):
		out = unknown
	default:
		p.t.w.model.fail("tokens", "%s failed to %s an acknowledged token: %v", s.n.name, op, err)
		return
	}
	p.note(s, fmt.Sprintf("%s %s: %s", op, x.content, out), nil)
	p.t.w.history.count("command", string(op))
	now := time.Now()
	slack := time.Duration(0)
	if p.t.jumped.Load() {
		slack = 2 * maxOffset
	}
	switch {
	case out == expired:
		if now.Add(slack).Before(x.earliest) {
			p.t.w.model.fail("tokens", "%s reports %s as expired %v too early", s.n.name, x.content, x.earliest.Sub(now))
		}
		return
	case (out == done && op == detokenize || out == active) && began.After(x.latest.Add(slack)):
		p.t.w.model.fail("tokens", "%s still accepts %s %v after it expired", s.n.name, x.content, began.Sub(x.latest))
	}
	if op == revoke && out == done && now.Add(slack).After(x.earliest) {
		// A node whose time of day is ahead treats the token as expired. There is then nothing to
		// revoke, and nothing is written.
		out = unknown
	}
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	o := porcupine.Operation{ClientId: p.number, Input: tokenStep{op, x.policy}, Output: out, Call: began.UnixNano(), Return: now.UnixNano()}
	if out == unknown { // the operation can still take effect later
		o.Return = now.Add(24 * time.Hour).UnixNano()
		o.ClientId = 1000 + len(x.operations)
	}
	x.operations = append(x.operations, o)
}

// misuse tries to use a token with another checkout, at most three times per token. More attempts
// would lock the token.
func (p *payer) misuse(s *server, x *issued) {
	p.t.mu.Lock()
	x.wrong++
	wrong := x.wrong
	p.t.mu.Unlock()
	if wrong > 3 {
		return
	}
	_, err := s.vault.Detokenize(shop, token.Use{Token: x.token, Participant: shop.Participant, Checkout: "another"})
	if s.leaves(err) == nil {
		p.t.w.model.fail("tokens", "%s returned %s to another checkout", s.n.name, x.content)
	}
}

func (p *payer) note(s *server, what string, err error) {
	if err != nil {
		what += ": " + err.Error()
	}
	p.t.w.history.add(p.name, s.n.name, "%s", what)
}

// tokenStep is the input of the check, and tokenState is the check's model of the token.
type (
	tokenStep struct {
		op     tokenOp
		policy pb.Policy
	}
	tokenState struct{ used, over bool }
)

// tokenRules models one token by its responses alone. A failed operation may have been executed.
var tokenRules = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{tokenState{}} },
	Step: func(state, input, output any) []any {
		at, in, out := state.(tokenState), input.(tokenStep), output.(tokenOutcome)
		live := !at.used && !at.over
		next := at // the state after execution
		switch {
		case in.op == detokenize:
			next.used = live && in.policy == pb.Policy_POLICY_SINGLE_USE
		case in.op == revoke || in.op == endSession:
			next.over = true
		}
		next.used = next.used || at.used
		switch out {
		case unknown:
			return []any{at, next}
		case used:
			if at.used {
				return []any{at}
			}
		case over:
			if at.over && !at.used {
				return []any{at}
			}
		case active:
			if live {
				return []any{at}
			}
		case done:
			if live || in.op != detokenize {
				return []any{next}
			}
		}
		return nil
	},
}).ToModel()

// check makes the check "tokens". The responses about each token have an order in which the token's
// rules hold.
func (t *tokens) check() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if porcupine.CheckOperationsTimeout(tokenRules, x.operations, 10*time.Second) == porcupine.Illegal {
			t.w.model.fail("tokens", "the responses about %s (%s) have no order in which the rules hold", x.content, token.PolicyName(x.policy))
		}
	}
}

// settle checks every token on every node. Each node must find each token.
func (t *tokens) settle() {
	p := &payer{t: t, number: 900, name: "p0", rand: t.w.plan.random(ofPayers - 1)}
	t.mu.Lock()
	all := t.all
	t.mu.Unlock()
	for _, x := range all {
		for _, n := range t.w.nodes {
			if s := n.server.Load(); s != nil && t.w.model.failed() == "" {
				p.use(s, x, introspect)
			}
		}
	}
	t.check()
}
