package durable

import (
	"context"
	"fmt"
	"time"
)

// Shared is a Store that several nodes use concurrently. Each actor is owned by at most one node,
// which has the actor's log open. A node owns actors while its lease is valid, and renews the lease
// continuously. The store decides between nodes, with its own clock and in its transactions.
//
// In addition to the promises of Journal:
//
//   - Open takes an actor that nobody owns, whose owner's lease has expired, or that this node
//     already owns. It fails with *Owned if another living node owns it. After Open, each append of
//     an earlier owner fails with ErrFenced.
//   - Log.Close releases the actor once the queued batches are committed.
//   - Preconditions of rows are evaluated across all nodes.
//   - After this node has lost its lease, each of its operations fails with ErrFenced until Rejoin.
type Shared interface {
	Store

	// Node returns the name of this node.
	Node() string

	// Owner returns the living node that owns an actor, or "".
	Owner(actor string) (node string, err error)

	// Members returns the nodes whose lease is valid or has recently ended, by name.
	Members() ([]Member, error)

	// Known returns the names of all nodes that have ever run and were not forgotten since. Any of
	// them can start again with the data on its disk.
	Known() ([]string, error)

	// Holds reports whether this node's lease is valid. It is cheap. Code that answers from memory
	// calls Holds after it has read, because the process may have been paused before the read.
	Holds() bool

	// Lost returns a channel that is closed when the lease of the present incarnation is lost.
	// Until Rejoin nothing can be read or written.
	Lost() <-chan struct{}

	// Rejoin starts a new incarnation, which owns nothing. All logs must have been closed. It
	// returns when the new lease is valid, or with ctx's error.
	Rejoin(ctx context.Context) error

	// Watch calls fn for each row of the tables, and then for each row that any node changes, with
	// nil for a deleted row. Changes of one row are in order. Watch can skip intermediate changes,
	// and can repeat the newest one. It returns after it has called fn for each existing row. Calls
	// of fn are sequential, and fn must not block.
	Watch(tables []string, fn func(table string, key, value []byte)) (Feed, error)
}

// NodeSecrets is the table with the encrypted secrets common to all nodes. The table is not part of
// backups.
const NodeSecrets = "nodesecrets"

// Feed is a running Watch. Apart from Sync, it polls several times per second.
type Feed interface {
	// Sync returns once fn has received every change that was committed before the call. Concurrent
	// calls share a poll.
	Sync(ctx context.Context) error
	// Age returns the maximum age of the reported rows: the time since the start of the last
	// successful poll, on a clock that runs while the machine sleeps.
	Age() time.Duration
	// Close ends the Feed.
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
	// Since is the start of this incarnation.
	Since time.Time
	// Left is the remaining time of its lease. After the lease has expired, it is 0 or negative.
	Left time.Duration
	// Stopped means that the node released its lease in an orderly shutdown.
	Stopped bool
	// Owns counts the actors that the node owns.
	Owns int
}

// Owned is the error of Open for an actor that another living node owns.
type Owned struct {
	Actor, Node string
}

func (o *Owned) Error() string {
	return fmt.Sprintf("journal: %s is owned by node %s", o.Actor, o.Node)
}
