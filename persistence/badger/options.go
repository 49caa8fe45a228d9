package badger

import (
	"errors"
	"log/slog"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"atelier/actors/durable"
	"atelier/persistence/layout"
	"atelier/persistence/ondisk"
)

// Errors of this package in addition to those of durable.Journal.
var (
	// ErrLocked means that another process has the folder open.
	ErrLocked = errors.New("badger: folder is in use by another process")
	// ErrNewerFormat means that a newer program wrote the store or the backup.
	ErrNewerFormat = layout.ErrNewerFormat
)

// MaxBatchBytes bounds the total size of a batch's records and rows. A larger batch fails with
// durable.ErrTooLarge. Values of a megabyte and more are committed in parts before their batch
// (large.go), so the limit bounds memory and the delay of other batches. Smaller values are in the
// batch's transaction, whose size is limited to 15% of a memtable (2.4 MB by default). A batch with
// very many rows can exceed this limit, and then also fails with ErrTooLarge.
const MaxBatchBytes = 64 << 20

// Options are the folder and the limits of a store. Zero fields except Dir select the defaults.
type Options struct {
	// Dir is the store's folder, which is created if missing.
	Dir string

	// MemTableBytes is the size of Badger's tables in memory. Up to three exist while the disk is
	// slower than the writers. Each flush and compaction builds tables in buffers that grow to
	// about twice this size, and Badger keeps up to eight buffers. After 600,000 messages in 25 s,
	// the resident memory was 830 MiB. With 32 MiB it was 1,050 MiB. With 8 MiB it is smaller, but
	// a batch could have only 13,000 rows. Default 16 MiB.
	MemTableBytes int64
	// BlockCacheBytes bounds the cache of table blocks. Default 32 MiB.
	BlockCacheBytes int64

	durable.StoreLimits

	// MinFreeBytes is the free space below which the store refuses writes, until 1.25 times this
	// space is free again. Urgent appends are accepted down to half of it. Badger maps its files
	// into memory. If there is no space for a page, SIGBUS kills the process, so this check cannot
	// be disabled. Default 1 GiB.
	MinFreeBytes uint64
	// SpaceInterval is the interval of checks of the free space. Default 1 s.
	SpaceInterval time.Duration
	// FreeBytes measures the free space. Default: statfs of Dir.
	FreeBytes func() (uint64, error)

	// GCInterval is the interval at which parts of replaced large values are collected. Default 5
	// min.
	GCInterval time.Duration

	// OnCommit, if set, is called by the writer after each successful commit. It must not block.
	OnCommit func(Commit)

	// Logger receives messages for operators, and Badger's own warnings. Default: nothing is
	// logged.
	Logger *slog.Logger

	// RecoverDamaged opens a store whose files are damaged, missing, or replaced by older copies.
	// The store then contains only its valid part, and gets a new stream id. Without
	// RecoverDamaged, Open returns ErrDamaged. Changed or omitted files are kept in a folder next
	// to the store's.
	RecoverDamaged bool

	// ReadOnly opens a properly closed store without writing to it.
	ReadOnly bool
}

// Commit describes one commit of the group-commit writer.
type Commit struct {
	Batches int
	Records int
	Bytes   int
	// Took is the time from building the transaction to its end on disk.
	Took time.Duration
}

func (o Options) withDefaults() Options {
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 16 << 20
	}
	if o.BlockCacheBytes == 0 {
		o.BlockCacheBytes = 32 << 20
	}
	o.SetDefaults()
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = 1 << 30
	}
	if o.SpaceInterval == 0 {
		o.SpaceInterval = time.Second
	}
	if o.FreeBytes == nil {
		o.FreeBytes = func() (uint64, error) { return ondisk.FreeBytes(o.Dir) }
	}
	if o.GCInterval == 0 {
		o.GCInterval = 5 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

const (
	// valueLogThreshold is Badger's upper limit for the option ValueThreshold.
	valueLogThreshold = 1 << 20
	// valueLogFileBytes is Badger's lower limit for the size of a value log file. The store writes
	// nothing to this file, but each commit syncs it.
	valueLogFileBytes = 1 << 20
)

// badgerOptions returns Badger's options. Comments give the reasons for fixed values.
func (o Options) badgerOptions(logger *bridge) badgerdb.Options {
	// Badger refuses a threshold above 15% of the memtable.
	threshold := min(valueLogThreshold, o.MemTableBytes/10)
	return badgerdb.DefaultOptions(o.Dir).
		// An acknowledged batch must be on disk. This is the purpose of the store, so it is not
		// configurable.
		WithSyncWrites(true).
		// Conflicts are impossible, because one goroutine commits all batches and rows. Detecting
		// them would cost memory for the set of read keys.
		WithDetectConflicts(false).
		WithNumVersionsToKeep(1).
		// A damaged compressed block would end an iteration without an error. In uncompressed
		// blocks, our own checksums find the damage and identify the affected actor.
		WithCompression(options.None).
		WithMemTableSize(o.MemTableBytes).
		WithNumMemtables(3).
		WithNumCompactors(2).
		WithBlockCacheSize(o.BlockCacheBytes).
		WithValueThreshold(threshold).
		WithValueLogFileSize(valueLogFileBytes).
		WithVerifyValueChecksum(false).
		WithMetricsEnabled(false).
		WithReadOnly(o.ReadOnly).
		WithLogger(logger)
}
