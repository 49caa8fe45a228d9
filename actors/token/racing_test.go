package token

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// outcome is the result of one detokenize for its caller.
type outcome uint8

const (
	gotCredential outcome = iota
	gotUsed
	gotUnavailable // it is unknown whether the token was used
)

// singleUse is the promise of a single-use token: one caller gets the credential, and every later
// caller gets "used". If the response to a call was lost, it is unknown whether the call used the
// token.
var singleUse = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[any][]porcupine.Operation{}
		for _, op := range history {
			by[op.Input] = append(by[op.Input], op)
		}
		var out [][]porcupine.Operation
		for _, ops := range by {
			out = append(out, ops)
		}
		return out
	},
	Init: func() []any { return []any{false} },
	Step: func(state, _, output any) []any {
		used := state.(bool)
		switch output.(outcome) {
		case gotCredential:
			if used {
				return nil
			}
			return []any{true}
		case gotUsed:
			if !used {
				return nil
			}
			return []any{true}
		}
		return []any{used, true}
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// TestEachRaceHasOneWinner races detokenize calls for single-use tokens from many goroutines. With
// LONG_TESTS=1 it uses a million tokens. Incarnations are killed while they work, so that a new one
// starts while writes of the old one are in flight. Every token returns its credential at most once
// and is used exactly once on disk, and the history is linearizable.
func TestEachRaceHasOneWinner(t *testing.T) {
	calls := 150_000
	switch {
	case os.Getenv("LONG_TESTS") != "":
		calls = 1_000_000
	case testing.Short() || raceDetector:
		calls = 30_000
	}
	const perToken, atOnce, batch = 20, 64, 50
	var j *watched
	w := newWorld(t, func(o *Options) {
		j = watch(o.Journal)
		o.Journal = j
	})
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		kills   atomic.Int64
		begin   = time.Now()
	)
	stamp := func() int64 { return int64(time.Since(begin)) }
	rounds := calls / (perToken * batch)
	winners := map[seal.Name]int{}
	for round := range rounds {
		tokens := make([]seal.Token, batch)
		var minting sync.WaitGroup
		for i := range tokens {
			minting.Go(func() { tokens[i] = w.issue("c", pb.Policy_POLICY_SINGLE_USE) })
		}
		minting.Wait()
		work := make(chan int, batch*perToken)
		for i := range batch * perToken {
			work <- i % batch
		}
		close(work)
		var racing sync.WaitGroup
		for client := range atOnce {
			racing.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(client)))
				for i := range work {
					tok := tokens[i]
					if rng.IntN(8) == 0 {
						w.opts.System.Root.Send(w.vault.shards[tok.Name()[0]], kill{tok.Name()})
						kills.Add(1)
					}
					op := porcupine.Operation{ClientId: client, Input: round*batch + i, Call: stamp()}
					credential, err := w.vault.Detokenize(business, Use{tok, "business", "c"})
					op.Return = stamp()
					switch {
					case err == nil && string(credential) == cardJSON:
						op.Output = gotCredential
					case err == IsUsed:
						op.Output = gotUsed
					default:
						op.Output = gotUnavailable
						if err == nil {
							t.Error("detokenize returned a wrong credential")
						}
					}
					mu.Lock()
					history = append(history, op)
					if op.Output == gotCredential {
						winners[tok.Name()]++
					}
					mu.Unlock()
				}
			})
		}
		racing.Wait()
	}
	lost := 0
	for _, op := range history {
		if op.Output == gotUnavailable {
			lost++
		}
	}
	t.Logf("%d calls on %d tokens, %d kills, %d replies lost, %v", len(history), rounds*batch, kills.Load(), lost, time.Since(begin).Round(time.Millisecond))
	for _, n := range winners {
		if n != 1 {
			t.Fatalf("a token returned its credential %d times", n)
		}
	}
	w.settle()
	uses := j.targets("token_detokenize")
	for target, n := range uses {
		if n != 1 {
			t.Errorf("%s was used %d times on disk", target, n)
		}
	}
	if used := len(uses); used != rounds*batch {
		t.Errorf("%d of %d tokens were used", used, rounds*batch)
	}
	if lost > len(history)/10 {
		t.Errorf("%d of %d replies were lost", lost, len(history))
	}
	if !porcupine.CheckOperations(singleUse, history) {
		t.Fatal("the history is not linearizable")
	}
}

// The check with singleUse must detect a credential that was returned twice. Otherwise
// TestEachRaceHasOneWinner would prove nothing.
func TestTheCheckFindsTwoWinners(t *testing.T) {
	history := []porcupine.Operation{
		{ClientId: 1, Input: 1, Call: 1, Return: 4, Output: gotCredential},
		{ClientId: 2, Input: 1, Call: 2, Return: 3, Output: gotCredential},
	}
	if porcupine.CheckOperations(singleUse, history) {
		t.Error("a history with two winners is accepted")
	}
	if porcupine.CheckOperations(singleUse, []porcupine.Operation{{Input: 1, Call: 1, Return: 2, Output: gotUsed}}) {
		t.Error("a history with a refusal before any use is accepted")
	}
}

// TestTwoIncarnationsUseATokenOnce drives two vaults on one journal, which no server does. Each
// vault acts as a stale incarnation of the other.
func TestTwoIncarnationsUseATokenOnce(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t, func(o *Options) { o.Journal, o.Shares = w.journal, w.opts.Shares })
	for i := range 200 {
		checkout := fmt.Sprint(i)
		tok := w.issue(checkout, pb.Policy_POLICY_SINGLE_USE)
		var won atomic.Int64
		var wg sync.WaitGroup
		for k := range 8 {
			v := w.vault
			if k%2 == 1 {
				v = other.vault
			}
			wg.Go(func() {
				switch _, err := v.Detokenize(business, Use{tok, "business", checkout}); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, IsUsed):
					t.Errorf("the losing use returned %v, want IsUsed", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d uses succeeded, want 1", won.Load())
		}
	}
}

// Two incarnations read the same token before either commits. The second then reads and decides
// again, so that it returns IsUsed instead of a failed commit.
func TestTheLoserOfARaceDecidesAgain(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t, func(o *Options) { o.Journal, o.Shares = w.journal, w.opts.Shares })
	tok := w.issue("c", pb.Policy_POLICY_SINGLE_USE)
	release := w.journal.Hold()
	defer release()
	queued := w.journal.Queued()
	var answered []chan error
	for i, v := range []*Vault{w.vault, other.vault} {
		answer := make(chan error, 1)
		answered = append(answered, answer)
		go func() {
			_, err := v.Detokenize(business, Use{tok, "business", "c"})
			answer <- err
		}()
		w.eventually(func() bool { return w.journal.Queued() == queued+1+i })
	}
	release()
	if err := <-answered[0]; err != nil {
		t.Errorf("the first use returned %v", err)
	}
	if err := <-answered[1]; err != IsUsed {
		t.Errorf("the second use returned %v, want IsUsed", err)
	}
}
