package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/ondisk"
)

// Store is a journal in one folder. All methods are safe for concurrent use.
type Store struct {
	// Immutable after Open.
	opts Options
	db   *badgerdb.DB
	*health
	bridge *bridge
	mark   *mark
	costs  costModel
	stream string
	hooks  hooks

	gate  *calls.Gate
	locks *calls.KeyLocks
	queue *calls.Queue[item]
	reads *reads
	names *names

	// Each of these has a goroutine. Close stops them in this order.
	writer    *writer
	snapshots *calls.Snapshots[*actorLog]
	space     *spaceGuard
	collector *collector

	moving  sync.RWMutex // held for reading while a large value has parts but no reference yet
	ticking sync.Mutex   // held by noteLogs
	closing atomic.Bool
	// commits is the newest version when the store was opened, plus one for each successful
	// transaction since.
	commits atomic.Uint64
	hurry   chan struct{} // closed by Close: no more pauses
	stats   calls.Stats
}

// hooks let tests of this package cause failures and delays.
type hooks struct {
	beforeCommit func(entries int) error
	snapshotStep func(step string) error
	syncFolder   func(dir string) error // replaces the real sync
	reserve      func(path string, bytes int64) error
	// uncompacted disables compaction of flushed tables.
	uncompacted bool
}

var _ durable.Journal = (*Store)(nil)

// Open opens or creates the store in o.Dir. It returns ErrLocked if another process has it open,
// ErrNewerFormat if a newer program wrote it, and ErrDamaged if its files are damaged, missing or
// replaced by older copies. See Options.RecoverDamaged.
func Open(o Options) (*Store, error) { return open(o, hooks{}) }

func open(o Options, h hooks) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("badger: no folder given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	o.Dir = dir
	o = o.withDefaults()
	m, err := inspect(o)
	if err != nil {
		return nil, fmt.Errorf("open store in %s: %w", o.Dir, err)
	}
	s, err := openDB(o, h, m)
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	s.start()
	return s, nil
}

// openDB opens Badger in an inspected folder.
func openDB(o Options, h hooks, m *mark) (*Store, error) {
	b := newBridge(o)
	bo := o.badgerOptions(b)
	if h.uncompacted {
		bo = bo.WithNumCompactors(0)
	}
	db, err := badgerdb.Open(bo)
	if err != nil {
		return nil, openError(o, err)
	}
	s := &Store{
		opts:   o,
		db:     db,
		health: b.health,
		bridge: b,
		mark:   m,
		hooks:  h,
		gate:   calls.NewGate(),
		locks:  calls.NewKeyLocks(),
		queue:  calls.NewQueue[item](o.StoreLimits),
		hurry:  make(chan struct{}),
		reads:  &reads{db: db},
		names:  &names{dir: o.Dir, sync: h.syncFolder},
		costs: costModel{
			// The margin is for the entry that Badger adds at the end of a transaction.
			limit:     txnCost{bytes: db.MaxBatchSize() - 1<<10, entries: db.MaxBatchCount() - 8},
			threshold: db.Opts().ValueThreshold,
		},
	}
	txn := db.NewTransaction(false)
	s.commits.Store(txn.ReadTs())
	txn.Discard()
	if s.names.folder, err = os.Open(o.Dir); err == nil && !o.ReadOnly {
		err = ondisk.MakeFolder(o.Dir, 0o755) // Badger created it without syncing the parent
	}
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store in %s: %w", o.Dir, err), s.names.close(), s.closeDB())
	}
	return s, nil
}

// prepare takes the steps that must precede any use of the store.
func (s *Store) prepare() error {
	meta, err := s.openMeta()
	if err != nil {
		return err
	}
	if meta, err = s.renewStream(meta); err != nil {
		return err
	}
	s.stream = meta.stream
	if s.space, err = newSpaceGuard(s.opts); err != nil {
		return err
	}
	if err := s.finishPurges(); err != nil {
		return err
	}
	return s.noteLogs()
}

func (s *Store) start() {
	s.snapshots = calls.NewSnapshots(s.opts.SnapshotQueueBytes, s.storeCounted, func(*actorLog) {})
	s.writer = newWriter(s)
	s.collector = newCollector(s)
	s.space.each = s.syncMark
	go s.writer.Run(s.writer.process)
	go s.snapshots.Run()
	go s.space.run()
	go s.collector.run()
}

// syncMark syncs the mark, so that after a power failure the mark lags by one interval at most.
func (s *Store) syncMark() {
	if s.opts.ReadOnly || s.broken() != nil {
		return
	}
	if err := s.mark.sync(); err != nil {
		s.breakDown(faultSync, err)
	}
}

// openError converts Badger's untyped errors to ours.
func openError(o Options, err error) error {
	switch {
	case strings.Contains(err.Error(), "Cannot acquire directory lock"):
		return fmt.Errorf("%w: %s", ErrLocked, o.Dir)
	case o.ReadOnly && strings.Contains(err.Error(), badgerdb.ErrTruncateNeeded.Error()):
		return fmt.Errorf("open store in %s read-only: it was not closed properly, so open it for writing once (%w)", o.Dir, err)
	default:
		return fmt.Errorf("open store in %s: %w", o.Dir, err)
	}
}

// writable returns an error with the reason why the store accepts no writes now, or nil.
func (s *Store) writable() error {
	switch {
	case s.closing.Load():
		return durable.ErrClosed
	case s.opts.ReadOnly:
		return fmt.Errorf("%w: it was opened read-only", durable.ErrReadOnly)
	case s.space.low.Load():
		return fmt.Errorf("%w: %d bytes free, %d required", durable.ErrReadOnly,
			s.space.free.Load(), s.opts.MinFreeBytes)
	default:
		return s.broken()
	}
}

// takes is like writable, for an append. An urgent append can use half of Options.MinFreeBytes.
func (s *Store) takes(urgent bool) error {
	if urgent && s.space.low.Load() && s.space.free.Load() >= s.opts.MinFreeBytes/2 && !s.closing.Load() && !s.opts.ReadOnly {
		return s.broken()
	}
	return s.writable()
}

// Close commits queued batches, finishes pending snapshots, waits for calls in progress, and closes
// the folder. Further calls do nothing.
func (s *Store) Close() error {
	if !s.closing.CompareAndSwap(false, true) {
		return nil
	}
	close(s.hurry)
	s.gate.Close()
	s.queue.Close()
	// The order matters, because calls in progress can wait for the writer, and the writer passes
	// on the snapshots.
	s.writer.Wait()
	s.snapshots.Close()
	s.gate.Wait()
	s.space.stop()
	s.collector.stop()
	s.reads.close()
	if err := errors.Join(s.closeMarked(), s.names.close(), s.mark.close()); err != nil {
		return fmt.Errorf("close store in %s: %w", s.opts.Dir, err)
	}
	return nil
}

// closeMarked closes Badger and records the store's position in the mark.
func (s *Store) closeMarked() error {
	if s.opts.ReadOnly {
		return s.db.Close()
	}
	var ticked error
	if s.broken() == nil {
		_, ticked = s.tick()
	}
	if err := errors.Join(ticked, s.closeDB()); err != nil {
		return err
	}
	if s.broken() != nil {
		return nil
	}
	return errors.Join(s.mark.setLogs(nil, 0, 0), s.mark.sync())
}

// maxClosing is how long Close waits for Badger if its memtables are no longer being flushed.
const maxClosing = 10 * time.Second

// closeDB closes Badger. If the goroutine that flushes memtables has ended, Badger can wait for it
// forever. closeDB waits for at most maxClosing, and then leaves the folder as after a crash.
func (s *Store) closeDB() error {
	s.bridge.closing.Store(true)
	done := make(chan error, 1)
	go func() { done <- s.db.Close() }()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for waited := time.Duration(0); waited < maxClosing; {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			if s.bridge.stopped.Load() {
				waited += time.Second
			}
		}
	}
	return errors.New("the disk failed and Badger cannot be closed: the next start recovers its memtables from the logs")
}

// StreamID implements durable.Store.
func (s *Store) StreamID() string { return s.stream }
