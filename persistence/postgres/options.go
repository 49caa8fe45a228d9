package postgres

import (
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Errors of this package in addition to those of the journal contract.
var (
	// ErrNameTaken means that another process runs on the database under the
	// same node name.
	ErrNameTaken = errors.New("postgres: another process uses the database under this name")
	// ErrWeakCommit means that the database would acknowledge what is not on disk.
	ErrWeakCommit = errors.New("postgres: synchronous_commit is too weak")
	// ErrNewerFormat means that a newer program wrote the database or the backup.
	ErrNewerFormat = layout.ErrNewerFormat
	// ErrInUse means that living nodes work with the tables as they are, which
	// this program would have to change.
	ErrInUse = errors.New("postgres: the database is in use by an earlier program")
	// ErrRefused means that this node must not run together with the running ones; see
	// Options.Admit.
	ErrRefused = errors.New("postgres: this node is refused")
	// ErrBadBackup means that a backup is cut off, damaged, or no backup.
	ErrBadBackup = layout.ErrBadBackup
)

// Alone is the node name of a server that has no name.
const Alone = "single"

// Bounds of one append, in bytes and rows; more gives durable.ErrTooLarge. They
// are about memory, here and in the database, and about how long one append holds
// up the others.
const (
	MaxRecordBytes = 56 << 20
	MaxRowBytes    = 8 << 20
	MaxRows        = 50_000
)

// Options are the address and the limits of a store. The zero value of a field, URL
// excepted, takes the default.
type Options struct {
	// URL is the address, like postgres://user@host:5432/db, with options for pgx at its
	// end. It can contain a password, and is never printed.
	URL string
	// Node is the name of this node, unique on the database. Without one the
	// node is Alone, and starts over by itself when it lost its lease.
	Node string
	// Version is the version of the messages between nodes; Program is the version of the program.
	Version int
	Program string

	// Admit, if set, is called with the living other nodes, by name, version and program,
	// and can refuse to run together with them. It is called before a lease is taken, and again
	// afterwards, because two nodes can start at once. It is called again when this node
	// rejoins.
	Admit func(others []durable.Member) error

	// Lease is how long the lease of a node lasts for the others, by the
	// database's clock. It is renewed three times in it, and counts for two
	// thirds of it for the node itself. Default 3 s.
	Lease time.Duration

	durable.StoreLimits

	// Now is this node's clock, which is compared with the database's. Default time.Now.
	Now func() time.Time

	// LookEvery is how often a Feed looks by itself. Default 500 ms.
	LookEvery time.Duration
	// Remember is for how long the database knows of a row that it is gone.
	// Default 5 min.
	Remember time.Duration
	// SweepEvery is the interval at which expired rows are removed. Default 30 s.
	SweepEvery time.Duration

	// OnCommit, if set, is called by the writer after each commit that
	// succeeded, with how long it took; it must not block.
	OnCommit func(took time.Duration)
	// Logger receives what an operator acts on. Default: nothing is logged.
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
