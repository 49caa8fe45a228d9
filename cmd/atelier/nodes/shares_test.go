package nodes

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"atelier/persistence/shares"
)

// keeper stores secrets in memory.
type keeper struct {
	mu   sync.Mutex
	all  []shares.Ballot
	fail error // error of Take
	took int   // number of calls of Take
	// asked, if set, is called by Find.
	asked func()
}

func (k *keeper) Take(b shares.Ballot) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.took++
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

func (k *keeper) Find(id string) (shares.Ballot, bool) {
	k.mu.Lock()
	asked := k.asked
	k.mu.Unlock()
	if asked != nil {
		asked()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return shares.Ballot{ID: id}, k.has(id)
}

func (k *keeper) has(id string) bool {
	return slices.ContainsFunc(k.all, func(b shares.Ballot) bool { return b.ID == id })
}

// idle has no duties, and reports calls of Drop.
type idle struct {
	Duties // other duties are not used
	drop   func()
}

func (i idle) Drop()         { i.drop() }
func (idle) SendAway(string) {}

// A node that comes back fetches the shares made meanwhile. It retries until it can store them.
func TestReturningNodeFetchesMissedShares(t *testing.T) {
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
	var begun sync.WaitGroup // each node waits for the others
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
	away := x.nodes[0]
	dropped := false
	away.startOver(t.Context(), idle{drop: func() {
		dropped = true
		_ = kept[1].Take(shares.Ballot{ID: "made meanwhile"})
	}}, "")
	away.catching.Wait()
	if all, _ := kept[0].All(); !dropped || len(all) != 1 || all[0].ID != "made meanwhile" {
		t.Fatalf("after its return, the node has %v", all)
	}

	// A share that cannot be stored is fetched again.
	kept[0].mu.Lock()
	kept[0].fail, kept[0].took = errors.New("the disk"), 0
	kept[0].mu.Unlock()
	ctx, stop := context.WithCancel(t.Context())
	away.startOver(ctx, idle{drop: func() {}}, "")
	kept[1].mu.Lock()
	kept[1].all = append(kept[1].all, shares.Ballot{ID: "made later"})
	kept[1].mu.Unlock()
	for tried := false; !tried; time.Sleep(time.Millisecond) {
		kept[0].mu.Lock()
		if tried = kept[0].took > 0; tried {
			kept[0].fail = nil
		}
		kept[0].mu.Unlock()
	}
	away.catching.Wait()
	if all, _ := kept[0].All(); len(all) != 2 {
		t.Errorf("after its disk works again, the node has %v", all)
	}
	stop()
}
