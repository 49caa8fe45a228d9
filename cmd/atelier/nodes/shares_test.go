package nodes

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"atelier/persistence/shares"
)

// keeper keeps secrets in memory.
type keeper struct {
	mu   sync.Mutex
	all  []shares.Ballot
	fail error // of Take
}

func (k *keeper) Take(b shares.Ballot) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail == nil && !k.has(b.ID) {
		k.all = append(k.all, b)
	}
	return k.fail
}

func (k *keeper) All() ([]shares.Ballot, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.all), nil
}

func (k *keeper) has(id string) bool {
	return slices.ContainsFunc(k.all, func(b shares.Ballot) bool { return b.ID == id })
}

// idle are duties of which Drop is seen.
type idle struct{ drop func() }

func (i idle) Drop()          { i.drop() }
func (idle) EndGrants()       {}
func (idle) SendAway(string)  {}
func (idle) CloseUnheard()    {}
func (idle) People() int      { return 0 }
func (idle) Compare([]string) {}
func (idle) Give(string)      {}

// TestWhoComesBackFetchesWhatWasMadeMeanwhile, and until then does not say that what it
// lacks is lost.
func TestWhoComesBackFetchesWhatWasMadeMeanwhile(t *testing.T) {
	x := newTrio(t)
	var kept []*keeper
	var exchanges []*Exchange[shares.Ballot]
	for _, n := range x.nodes {
		e, err := NewBallotExchange(n, "a secret of all nodes")
		if err != nil {
			t.Fatal(err)
		}
		kept, exchanges = append(kept, &keeper{}), append(exchanges, e)
	}
	var begun sync.WaitGroup // each waits for the others
	for i, e := range exchanges {
		begun.Go(func() {
			if err := e.Begin(kept[i]); err != nil {
				t.Error(err)
			}
		})
	}
	begun.Wait()
	for _, e := range exchanges {
		t.Cleanup(e.End)
	}
	back, away := exchanges[0], x.nodes[0]
	if !back.Complete() {
		t.Error("a node that has begun is not complete")
	}
	dropped := false
	away.startOver(t.Context(), idle{drop: func() {
		dropped = true
		if back.Complete() {
			t.Error("while it is away it says that it has everything")
		}
		_ = kept[1].Take(shares.Ballot{ID: "made meanwhile"})
	}}, "")
	away.catching.Wait()
	if all, _ := kept[0].All(); !dropped || len(all) != 1 || all[0].ID != "made meanwhile" || !back.Complete() {
		t.Errorf("back: it has %v, complete: %v", all, back.Complete())
	}

	// What cannot be kept is not there: it goes on trying, until it ends.
	kept[0].fail = errors.New("the disk")
	ctx, stop := context.WithCancel(t.Context())
	away.startOver(ctx, idle{drop: func() {}}, "")
	if back.Complete() {
		t.Error("without the secrets it says that it has everything")
	}
	stop()
	away.catching.Wait()
	if back.Complete() {
		t.Error("it has failed, and says that it has everything")
	}
}
