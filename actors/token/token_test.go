package token

import (
	"context"
	"crypto/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/token/credential"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
	"atelier/persistence/memory"
)

func TestATokenReturnsItsCredentialOnce(t *testing.T) {
	w := newWorld(t)
	tok := w.issue("checkout-1", pb.Policy_POLICY_SINGLE_USE)
	got, err := w.vault.Detokenize(business, Use{tok, "business", "checkout-1"})
	if err != nil || string(got) != cardJSON {
		t.Fatalf("the first use returned %s, %v", string(got), err)
	}
	if _, err := w.vault.Detokenize(business, Use{tok, "business", "checkout-1"}); err != IsUsed {
		t.Fatalf("the second use returned %v, want IsUsed", err)
	}
}

var (
	business = Caller{Participant: "business"}
	platform = Caller{Participant: "platform"}
)

const cardJSON = `{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":12,"expiry_year":2030,"cvc":"123"}`

// manual is a clock that a test sets: wait advances the time of day and the uptime, jump changes
// only the time of day. Its timers are real. Safe for concurrent use.
type manual struct {
	clock.Clock
	at     atomic.Int64
	offset atomic.Int64 // offset of the time of day
}

func clockAt(t time.Time) *manual {
	c := &manual{Clock: clock.System}
	c.at.Store(t.UnixNano())
	return c
}

func (c *manual) Now() time.Time { return time.Unix(0, c.at.Load()+c.offset.Load()).UTC() }

func (c *manual) Uptime() time.Duration { return time.Duration(c.at.Load()) }

func (c *manual) wait(d time.Duration) { c.at.Add(int64(d)) }

func (c *manual) jump(d time.Duration) { c.offset.Add(int64(d)) }

// world is a vault with its dependencies.
type world struct {
	testing.TB
	journal *memory.Store
	audit   *audit.Trail
	vault   *Vault
	opts    Options
}

// newWorld starts a vault on a journal in memory, unless change sets another journal.
func newWorld(t testing.TB, change ...func(*Options)) *world {
	journal := memory.New()
	w := &world{TB: t, journal: journal}
	w.opts = Options{
		Environment: seal.Production, System: durable.NewSystem(), Journal: journal, Stream: "stream-1",
		Keys: []seal.Key{{Version: 1, Material: make([]byte, seal.MaterialBytes)}},
	}
	for _, c := range change {
		c(&w.opts)
	}
	if w.opts.Clock == nil {
		w.opts.Clock = clock.System
	}
	if w.opts.Shares == nil {
		w.opts.Shares = newMemoryShares(w.opts.Clock.Now)
	}
	w.audit = audit.New(w.opts.Journal, w.opts.Clock, time.Hour)
	w.opts.Audit = w.audit
	w.start()
	t.Cleanup(func() {
		w.stop()
		_ = journal.Close()
	})
	return w
}

// memoryShares are shares without files.
type memoryShares struct {
	now  func() time.Time
	mu   sync.Mutex
	made []*seal.Share
	fail error
	// unknown is the error of Find for an unknown share.
	unknown error

	secrets map[seal.ShareID][seal.ShareBytes]byte
}

func newMemoryShares(now func() time.Time) *memoryShares {
	return &memoryShares{now: now, secrets: map[seal.ShareID][seal.ShareBytes]byte{}}
}

func (m *memoryShares) add(ends time.Time, secret *[seal.ShareBytes]byte) *seal.Share {
	s := seal.NewShare(ends, secret)
	m.made, m.secrets[s.ID()] = append(m.made, s), *secret
	return s
}

func (m *memoryShares) Until(end time.Time) (*seal.Share, error) {
	ends := seal.QuarterEnd(end)
	if !m.now().Before(ends) {
		return nil, seal.ErrOver
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.made {
		if s.Ends().Equal(ends) {
			return s, nil
		}
	}
	if m.fail != nil {
		return nil, m.fail
	}
	var secret [seal.ShareBytes]byte
	_, _ = rand.Read(secret[:])
	return m.add(ends, &secret), nil
}

func (m *memoryShares) Find(id seal.ShareID) (*seal.Share, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.made {
		if s.ID() == id && m.now().Before(s.Ends()) {
			return s, nil
		}
	}
	return nil, m.unknown
}

// lose forgets all shares, as if their files were lost.
func (m *memoryShares) lose() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made = nil
}

func (w *world) start() {
	w.Helper()
	v, err := NewVault(w.opts)
	if err != nil {
		w.Fatal(err)
	}
	w.vault = v
}

func (w *world) stop() {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.vault.Close(ctx); err != nil {
		w.Error(err)
	}
}

// restart starts the vault again on the stored data.
func (w *world) restart(change ...func(*Options)) {
	w.stop()
	for _, c := range change {
		c(&w.opts)
	}
	w.opts.System = durable.NewSystem()
	w.start()
}

// eventually waits for an effect that follows shortly after a reply.
func (w *world) eventually(holds func() bool) {
	w.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			w.Fatalf("the effect never happened; %+v", w.vault.Stats())
		}
		runtime.Gosched()
	}
}

// settle stops idle actors and waits until no actor is in memory, so that the next operation reads
// the store.
func (w *world) settle() {
	w.Helper()
	w.eventually(w.settled)
}

func (w *world) settled() bool {
	for _, shard := range w.vault.shards {
		w.opts.System.Root.Send(shard, turned{w.opts.Clock.Now()})
	}
	return w.vault.Stats().Resident == 0
}

func card(t testing.TB) *credential.Credential {
	t.Helper()
	c, err := credential.Parse([]byte(cardJSON), credential.Rules{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) tokenize(checkout string, policy pb.Policy) (seal.Token, error) {
	w.Helper()
	return w.vault.Tokenize(platform, Issue{
		Participant: "business", Checkout: checkout, Credential: card(w), Policy: policy, Life: DefaultLife,
	})
}

func (w *world) issue(checkout string, policy pb.Policy) seal.Token {
	w.Helper()
	tok, err := w.tokenize(checkout, policy)
	if err != nil {
		w.Fatal(err)
	}
	return tok
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
