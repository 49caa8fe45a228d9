package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
)

// Store is a journal in one folder. All methods are safe for concurrent use.
type Store struct {
	// Immutable after Open.
	opts   Options
	db     *badgerdb.DB
	bridge *bridge
	costs  costModel
	stream string
	hooks  hooks

	gate  *calls.Gate
	locks *calls.KeyLocks
	queue *calls.Queue[item]
	reads *reads
	names *names

	// Goroutines, in the order in which Close stops them.
	writer    *writer
	snapshots *calls.Snapshots[*actorLog]
	space     *spaceGuard
	collector *collector

	brokenBy atomic.Pointer[error] // set once, by breakDown
	closing  atomic.Bool
	hurry    chan struct{} // closed by Close: no more rests
	stats    stats
}

// hooks let tests of this package fail or delay what they cannot reach.
type hooks struct {
	beforeCommit func(entries int) error
	snapshotStep func(step string) error
	syncFolder   func(dir string) error // instead of the real one
}

var _ durable.Journal = (*Store)(nil)

// Open opens the store in o.Dir, or creates it. It gives ErrLocked when
// another process has it, and ErrNewerFormat when a newer program wrote it.
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
	if err := inspect(o); err != nil {
		return nil, fmt.Errorf("open store in %s: %w", o.Dir, err)
	}
	b := &bridge{log: o.Logger}
	db, err := badgerdb.Open(o.badgerOptions(b))
	if err != nil {
		return nil, openError(o, err)
	}
	s := &Store{
		opts:   o,
		db:     db,
		bridge: b,
		hooks:  h,
		gate:   calls.NewGate(),
		locks:  calls.NewKeyLocks(),
		queue:  calls.NewQueue[item](o.QueueBytes),
		hurry:  make(chan struct{}),
		reads:  &reads{db: db},
		names:  &names{dir: o.Dir, sync: h.syncFolder},
		costs: costModel{
			// The margin is for the entry with which Badger ends a transaction.
			limit:     txnCost{bytes: db.MaxBatchSize() - 1<<10, entries: db.MaxBatchCount() - 8},
			threshold: db.Opts().ValueThreshold,
		},
	}
	if s.names.folder, err = os.Open(o.Dir); err == nil {
		err = s.prepare()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store in %s: %w", o.Dir, err), s.names.close(), db.Close())
	}
	s.start()
	return s, nil
}

// prepare checks what must be right before anybody may use the store.
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
	return s.finishPurges()
}

func (s *Store) start() {
	s.writer = newWriter(s)
	s.snapshots = calls.NewSnapshots(s.opts.SnapshotQueueBytes, s.storeCounted, func(*actorLog) {})
	s.collector = newCollector(s)
	go s.writer.run()
	go s.snapshots.Run()
	go s.space.run()
	go s.collector.run()
}

// openError puts Badger's errors, which carry no type, into our words.
func openError(o Options, err error) error {
	switch {
	case strings.Contains(err.Error(), "Cannot acquire directory lock"):
		return fmt.Errorf("%w: %s", ErrLocked, o.Dir)
	case o.ReadOnly && strings.Contains(err.Error(), badgerdb.ErrTruncateNeeded.Error()):
		return fmt.Errorf("open store in %s read-only: it was not closed properly, open it for writing once: %w", o.Dir, err)
	default:
		return fmt.Errorf("open store in %s: %w", o.Dir, err)
	}
}

// writable says why the store takes no writes at the moment, or nil.
func (s *Store) writable() error {
	switch {
	case s.closing.Load():
		return durable.ErrClosed
	case s.opts.ReadOnly:
		return fmt.Errorf("%w: opened so", durable.ErrReadOnly)
	case s.space.low.Load():
		return fmt.Errorf("%w: %d bytes free, %d wanted", durable.ErrReadOnly,
			s.space.free.Load(), s.opts.MinFreeBytes)
	default:
		return s.broken()
	}
}

// Close commits what is queued, finishes pending snapshots, waits for the
// calls that are inside, and closes the folder. A second call does nothing.
func (s *Store) Close() error {
	if !s.closing.CompareAndSwap(false, true) {
		return nil
	}
	close(s.hurry)
	s.gate.Close()
	s.queue.Close()
	// Calls inside may be waiting for the writer, and the writer feeds the
	// snapshots; so this is the order.
	<-s.writer.done
	s.snapshots.Close()
	s.gate.Wait()
	s.space.stop()
	s.collector.stop()
	s.reads.close()
	if err := errors.Join(s.db.Close(), s.names.close()); err != nil {
		return fmt.Errorf("close store in %s: %w", s.opts.Dir, err)
	}
	return nil
}

// StreamID implements durable.Store.
func (s *Store) StreamID() string { return s.stream }
