package postgres

import (
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// These are the errors of this package in addition to those of durable.Journal.
var (
	// ErrNameTaken means that another process uses the database under the same node name.
	ErrNameTaken = errors.New("postgres: another process uses the database under this name")
	// ErrWeakCommit means that the database would acknowledge commits before they are on disk.
	ErrWeakCommit = errors.New("postgres: synchronous_commit is too weak")
	// ErrNewerFormat means that a newer program wrote the database or the backup.
	ErrNewerFormat = layout.ErrNewerFormat
	// ErrInUse means that this program would have to change the tables, but living nodes use them.
	ErrInUse = errors.New("postgres: the database is in use by an earlier program")
	// ErrRefused means that Options.Admit has refused to run together with the other living nodes.
	ErrRefused = errors.New("postgres: this node is refused")
	// ErrBadBackup means that a backup is truncated, damaged, or not a backup.
	ErrBadBackup = layout.ErrBadBackup
)

// Alone is the node name of a server without a configured name.
const Alone = "single"

// These are the maximum sizes in bytes and the maximum number of rows of one append. Larger appends
// fail with durable.ErrTooLarge. The bounds limit memory, in this process and in the database, and
// the delay that one append causes to others.
const (
	MaxRecordBytes = 56 << 20
	MaxRowBytes    = 8 << 20
	MaxRows        = 50_000
)

// Options configures a store. A zero field selects its default; URL is required.
type Options struct {
	// URL is the address of the database, such as postgres://user@host:5432/db, possibly with
	// options for pgx. It can contain a password, and is never logged.
	URL string
	// Node is the name of this node, unique on the database. If it is empty, the name is Alone, and
	// the node rejoins automatically after it loses its lease.
	Node string
	// Version is the version of the messages between nodes; Program is the version of the program.
	Version int
	Program string

	// Admit, if set, is called with the name, version and program of the other living nodes. It can
	// refuse to run together with them. It is called before a lease is taken and when this node
	// rejoins. It is also called after a lease is taken, because two nodes can start concurrently.
	Admit func(others []durable.Member) error

	// Lease is the duration of a node's lease for other nodes, by the database's clock. The node
	// itself renews the lease three times per duration, and relies on it only for two thirds of the
	// duration. Default 3 s.
	Lease time.Duration

	durable.StoreLimits

	// Now is this node's clock. The store compares it with the database's clock. Default time.Now.
	Now func() time.Time

	// LookEvery is the polling interval of a durable.Feed. Default 500 ms.
	LookEvery time.Duration
	// Remember is how long the database keeps expired rows, and tombstones of deleted rows. Default
	// 5 min.
	Remember time.Duration
	// SweepEvery is the interval at which expired rows are removed. Default 30 s.
	SweepEvery time.Duration

	// OnCommit, if set, is called by the writer after each successful commit, with the commit's
	// duration. It must not block.
	OnCommit func(took time.Duration)
	// Logger receives messages for operators. Default: nothing is logged.
	Logger *slog.Logger

	dial pgconn.DialFunc // for tests that break connections
}

func (o Options) withDefaults() Options {
	if o.Lease == 0 {
		o.Lease = 3 * time.Second
	}
	o.SetDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LookEvery == 0 {
		o.LookEvery = 500 * time.Millisecond
	}
	if o.Remember == 0 {
		o.Remember = 5 * time.Minute
	}
	if o.SweepEvery == 0 {
		o.SweepEvery = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) node() string {
	if o.Node == "" {
		return Alone
	}
	return o.Node
}
