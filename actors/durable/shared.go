package durable

import (
	"context"
	"fmt"
	"time"
)

// Shared is a Store that several nodes use at once. Each actor is owned by at most one
// node, the one that has its log open. It owns the actor as long as its lease holds, which
// it renews all the time. Decisions between nodes are made here, by the store's clock and
// in its transactions.
//
// In addition to the promises of Journal:
//
//   - Open takes an actor that nobody owns, or whose owner's lease is over, or
//     that this node owns already. It fails with *Owned when another living node
//     owns it. From then on each append of an earlier owner fails with ErrFenced.
//   - Log.Close releases the actor once the queued batches are committed.
//   - Rows with preconditions are decided between all nodes.
//   - After a lost lease everything of this node fails with ErrFenced, until
//     Rejoin.
type Shared interface {
	Store

	// Node is the name of this node.
	Node() string

	// Owner returns the living node that owns an actor, "" when none does.
	Owner(actor string) (node string, err error)

	// Members returns the nodes whose lease holds or has recently ended, by name.
	Members() ([]Member, error)

	// Known returns the names of all nodes that have ever run and were not forgotten since.
	// Such a node can come back with the data on its disk.
	Known() ([]string, error)

	// Holds reports whether this node's lease holds. It is cheap. Code that answers from
	// memory calls it after reading, since the process may have been paused before.
	Holds() bool

	// Lost is closed when the lease of the present incarnation is lost. Until
	// Rejoin nothing can be read or written.
	Lost() <-chan struct{}

	// Rejoin starts over with a new incarnation, which owns nothing. All logs
	// must have been closed. It returns when the new lease holds, or with ctx's
	// error.
	Rejoin(ctx context.Context) error

	// Watch calls fn for each row of the tables, and then for each row that any node
	// changes, with nil for a deleted row. Changes of one row are in order; the newest can
	// come alone, or twice. Watch returns after the first round. Calls of fn are
	// sequential, and fn must not block.
	Watch(tables []string, fn func(table string, key, value []byte)) (Feed, error)
}

// NodeSecrets is the table of the secrets that nodes have alike, sealed. It is part of
// no backup.
const NodeSecrets = "nodesecrets"

// Feed is a running Watch. Apart from Sync, it polls several times per second.
type Feed interface {
	// Sync returns when every change that was committed before the call has
	// been reported. Concurrent calls share a look.
	Sync(ctx context.Context) error
	// Age is the maximum age of the reported rows: the time since the start of the last
	// successful poll, on a clock that runs while the machine sleeps.
	Age() time.Duration
	// Close ends it.
	Close()
}

// Member is one node.
type Member struct {
	Node        string
	Incarnation uint64
	// Version is the version of the messages that the node understands.
	Version int
	// Program is the version of its program.
	Program string
	// Since is when this incarnation began.
	Since time.Time
	// Left is the remaining time of its lease; at most 0 after it has expired.
	Left time.Duration
	// Stopped means that it ended its lease itself, when it stopped in order.
	Stopped bool
	// Owns counts the actors it owns.
	Owns int
}

// Owned is the error of Open for an actor that another living node owns.
type Owned struct {
	Actor, Node string
}

func (o *Owned) Error() string {
	return fmt.Sprintf("journal: %s is owned by node %s", o.Actor, o.Node)
}
