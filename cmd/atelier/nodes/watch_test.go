package nodes

import (
	"context"
	"errors"
	"testing"

	"atelier/actors/durable"
)

// away is a server that has nobody to send away.
type away struct{ Duties }

func (away) SendAway(string) {}
func (away) Drop()           {}

// A node that was away, and holds its lease again, would say of a token that was made
// meanwhile under a new key that there is none.
func TestANodeServesOnceItKnowsWhatChanged(t *testing.T) {
	n := newTrio(t).nodes[0]
	serves := func() bool { return n.Serves() && n.Valid()() == nil }
	tried := 0
	n.OnReturn(func() error {
		if !n.Store.Holds() || serves() {
			t.Error("it serves already, or has no lease")
		}
		if tried++; tried == 1 {
			return errors.New("the database has hiccups")
		}
		return nil
	})
	n.startOver(t.Context(), away{}, "")
	if tried != 2 || !serves() {
		t.Errorf("after %d tries it serves: %v", tried, serves())
	}

	// A node that cannot check its lease serves nobody, and rejoins once it can.
	ctx, stop := context.WithCancel(t.Context())
	broken := true
	n.OnReturn(func() error {
		if broken {
			stop()
			return durable.ErrUnavailable
		}
		return nil
	})
	if n.startOver(ctx, away{}, ""); serves() {
		t.Error("it serves without what changed")
	}
	broken = false
	if n.startOver(t.Context(), away{}, ""); !serves() {
		t.Error("it does not come back")
	}
}
