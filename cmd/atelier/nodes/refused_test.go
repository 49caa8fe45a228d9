package nodes

import (
	"errors"
	"sync"
	"testing"

	"atelier/persistence/shares"
)

// full is a keeper that reports a full disk for the first request.
type full struct {
	keeper
	once sync.Once
}

func (k *full) Take(b shares.Ballot) (err error) {
	k.once.Do(func() { err = errors.New("the disk is full") })
	if err != nil {
		return err
	}
	return k.keeper.Take(b)
}

// A node that could not store the secret is asked again. It counts as a keeper only once it has
// stored the secret.
func TestANodeThatRefusedASecretIsAskedAgain(t *testing.T) {
	x := newTrio(t)
	refuses, keeps := &full{}, &keeper{}
	var exchanges []*Exchange[shares.Ballot]
	for i, kept := range []Kept[shares.Ballot]{&keeper{}, refuses, keeps} {
		e, err := NewBallotExchange(x.nodes[i], "a secret of all nodes")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Serve(kept); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.End)
		exchanges = append(exchanges, e)
	}
	keepers, err := exchanges[0].Spread(shares.Ballot{ID: "made"})
	if err != nil || len(keepers) != 3 {
		t.Fatalf("the keepers are %v, %v", keepers, err)
	}
	for i, k := range []*keeper{&refuses.keeper, keeps} {
		if all, _ := k.All(); len(all) != 1 {
			t.Errorf("the secret counts as spread, but node %d has %v", i+1, all)
		}
	}
}
