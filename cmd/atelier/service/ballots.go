package service

import (
	"path/filepath"

	"atelier/cmd/atelier/nodes"
	"atelier/persistence/shares"
)

// ballots are the secrets of anonymous polls.
type ballots struct {
	*shares.Ballots
	exchange *nodes.Exchange[shares.Ballot] // nil when this server stands alone
}

// openBallots opens them before any codelab is: an open poll whose secret is not there
// is closed.
func (c *Core) openBallots() (b ballots, err error) {
	o := shares.BallotOptions{Dir: filepath.Dir(TokenKeyFile(c.cfg)), Logger: c.log}
	if c.node != nil {
		if b.exchange, err = nodes.NewBallotExchange(c.node, string(c.cfg.Cluster.Secret)); err != nil {
			return b, err
		}
		o.Spread = b.exchange.Spread
	}
	if b.Ballots, err = shares.OpenBallots(o); err != nil || b.exchange == nil {
		return b, err
	}
	return b, b.exchange.Begin(b.Ballots)
}

// complete says that a secret that is not on this node is lost.
func (b ballots) complete() bool { return b.exchange == nil || b.exchange.Complete() }

func (b ballots) close() {
	b.exchange.End()
	if b.Ballots != nil {
		b.Close()
	}
}
