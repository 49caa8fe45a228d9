package service

import (
	"context"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"atelier/actors/codelab"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/shares"
)

// ballots manages the secrets of anonymous polls.
type ballots struct {
	*shares.Ballots
	node     *nodes.Node                    // nil on a single server
	exchange *nodes.Exchange[shares.Ballot] // likewise
	search   *nodes.Search                  // likewise
	labs     atomic.Pointer[codelab.Codelabs]
}

// openBallots opens the secrets before any codelab, because an open poll without its secret is
// closed.
func (c *Core) openBallots() (*ballots, error) {
	b := &ballots{node: c.node}
	o := shares.BallotOptions{Dir: filepath.Dir(TokenKeyFile(c.cfg)), Logger: c.log, Failed: c.folder.Failed}
	var err error
	if c.node != nil {
		if b.exchange, err = nodes.NewBallotExchange(c.node, string(c.cfg.Cluster.Secret)); err != nil {
			return b, err
		}
		o.Spread = b.exchange.Spread
	}
	if b.Ballots, err = shares.OpenBallots(o); err != nil || b.exchange == nil {
		return b, err
	}
	if err := b.exchange.Begin(b); err != nil {
		return b, err
	}
	c.folder.OnMend(func(context.Context) error {
		b.destroyNeedless()
		return nil
	})
	b.search = nodes.NewSearch(b.exchange, b.settled)
	return b, nil
}

// Needless handles a request from another node. It returns the ids of secrets whose polls have been
// counted or no longer exist.
func (b *ballots) Needless(ids []string) (needless []string) {
	labs := b.labs.Load()
	for _, id := range ids {
		if labs == nil {
			break
		}
		if used, err := labs.UsesSecret(id); err == nil && !used {
			needless = append(needless, id)
		}
	}
	return needless
}

// follow destroys secrets that other nodes report as needless, at intervals until ctx ends. It asks
// them only while this node serves nobody, because this node then reads no codelab.
func (b *ballots) follow(ctx context.Context, every time.Duration) {
	nodes.Every(ctx, every, func() {
		if b.node.Aside.Load() {
			b.destroyNeedless()
		}
	})
}

func (b *ballots) destroyNeedless() {
	old := b.Old()
	if len(old) == 0 {
		return
	}
	for _, id := range b.exchange.Needless(old) {
		if slices.Contains(old, id) {
			b.Destroy(id)
		}
	}
}

// lost reports whether a secret that is missing on this node is also missing on all other nodes. On
// a single server it returns true.
func (b *ballots) lost(id string, keepers []string) bool {
	return b.search == nil || b.search.Lost(id, keepers)
}

// settled closes and counts due polls of the secret's codelab, once the secret has arrived or is
// lost.
func (b *ballots) settled(id string) {
	if lab, ok := codelab.CodelabOfSecret(id); ok {
		if labs := b.labs.Load(); labs != nil {
			labs.CloseDuePolls(lab)
		}
	}
}

// Destroy implements codelab.BallotKeys.
func (b *ballots) Destroy(id string) {
	if b.search != nil {
		b.search.Forget(id)
	}
	b.Ballots.Destroy(id)
}

// All implements nodes.Kept. It returns only secrets of uncounted polls, and new secrets, because a
// new secret can belong to a poll that is just being opened.
func (b *ballots) All() ([]shares.Ballot, error) {
	all, err := b.Ballots.All()
	needless := b.Needless(b.Old())
	return slices.DeleteFunc(all, func(x shares.Ballot) bool { return slices.Contains(needless, x.ID) }), err
}

func (b *ballots) close() {
	if b == nil {
		return
	}
	b.search.End()
	b.exchange.End()
	if b.Ballots != nil {
		b.Close()
	}
}
