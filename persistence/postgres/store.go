package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
)

// Store is a journal in one database, which other nodes can share. All methods are safe for
// concurrent use.
type Store struct {
	// Immutable after Open.
	opts   Options
	node   string
	config *pgxpool.Config
	stream string
	pool   *pgxpool.Pool // for statements of one round trip and few rows
	long   *pgxpool.Pool // for calls that use a connection for longer
	// rewriting bounds the calls of Rewrite, each of which uses two connections of long.
	rewriting chan struct{}

	gate  *calls.Gate
	locks *calls.KeyLocks
	queue *calls.Queue[item]

	lease     atomic.Pointer[lease]
	offset    atomic.Pointer[time.Duration] // see ClockOffset
	rejoining sync.Mutex                    // held while the lease changes
	keeping   chan struct{}                 // guarded by rejoining; closed when keep has returned

	lookups   *lookups
	writer    *writer
	snapshots *calls.Snapshots[*actorLog]
	feeds     feeds
	// background counts the goroutines that end with ending.
	background sync.WaitGroup
	ending     context.Context
	end        context.CancelFunc

	// readOnly means that writes are refused until the lease is next renewed. refused is the time
	// at which the database last refused a write, by uptime, or 0 if it has accepted a write since.
	readOnly atomic.Bool
	refused  atomic.Int64
	closing  atomic.Bool
	stats    calls.Stats
	circles  atomic.Uint64 // transactions that were repeated after a deadlock
}

var _ durable.Shared = (*Store)(nil)

// Open opens the store in the database, and creates missing tables. It waits for an existing lease
// under this node's name to end, and fails with ErrNameTaken if another process keeps renewing it.
// It can also fail with ErrWeakCommit, ErrNewerFormat, ErrInUse and ErrRefused.
func Open(o Options) (*Store, error) {
	o = o.withDefaults()
	config, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if o.dial != nil {
		config.ConnConfig.DialFunc = o.dial
	}
	s := &Store{
		opts: o, node: o.node(), config: config,
		gate: calls.NewGate(), locks: calls.NewKeyLocks(), queue: calls.NewQueue[item](o.StoreLimits),
	}
	s.lookups = &lookups{store: s}
	s.ending, s.end = context.WithCancel(context.Background())
	if err := s.prepare(); err != nil {
		s.end()
		s.closePools()
		return nil, fmt.Errorf("open the database: %w", deniedTo(config.ConnConfig.User, err))
	}
	s.snapshots = calls.NewSnapshots(s.opts.SnapshotQueueBytes, s.storeCounted, (*actorLog).leave)
	s.writer = newWriter(s)
	go s.writer.run()
	go s.snapshots.Run()
	s.background.Go(s.sweep)
	if o.Node == "" {
		s.background.Go(s.stayAlone)
	}
	return s, nil
}

func (s *Store) prepare() error {
	ctx, cancel := context.WithTimeout(s.ending, openWithin)
	defer cancel()
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// ErrInUse is retried, because the lease of a crashed process expires soon.
	for until := time.Now().Add(s.opts.Lease * 4 / 3); ; {
		if s.stream, err = migrate(ctx, conn); !errors.Is(err, ErrInUse) || time.Now().After(until) {
			break
		}
		select {
		case <-time.After(s.opts.Lease / 10):
		case <-ctx.Done():
		}
	}
	if err != nil {
		return err
	}
	if s.pool, err = newPool(ctx, s.config, 8, true); err != nil {
		return err
	}
	if s.long, err = newPool(ctx, s.config, 16, false); err != nil {
		return err
	}
	s.rewriting = make(chan struct{}, s.long.Config().MaxConns/4)
	l, err := s.enter(ctx, 0)
	if err != nil {
		return translate(err)
	}
	s.hold(l)
	return nil
}

// openWithin bounds the start, including the wait for an earlier lease to end.
const openWithin = 30 * time.Second

// writable returns the reason why the store currently accepts no writes, or nil.
func (s *Store) writable() error {
	switch {
	case s.closing.Load():
		return durable.ErrClosed
	case !s.Holds():
		return durable.ErrFenced
	case s.readOnly.Load():
		return durable.ErrReadOnly
	}
	return nil
}

// enterCall admits a call that does not append, or returns an error. The caller calls s.gate.Leave
// at its end.
func (s *Store) enterCall() error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	if !s.Holds() {
		s.gate.Leave()
		return durable.ErrFenced
	}
	return nil
}

// Close commits the queue, finishes pending snapshots, waits for the calls in progress, and
// releases the lease. A second call does nothing.
func (s *Store) Close() error {
	if !s.closing.CompareAndSwap(false, true) {
		return nil
	}
	s.gate.Close()
	s.queue.Close()
	// The order matters, because calls in progress can wait for the writer, and the writer passes
	// on the snapshots.
	s.writer.Wait()
	s.snapshots.Close()
	s.end()
	s.gate.Wait()
	s.feeds.close()
	s.background.Wait()
	err := s.leave()
	s.rejoining.Lock()
	s.lease.Load().lose()
	<-s.keeping
	s.rejoining.Unlock()
	s.closePools()
	if err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

// hasStopped makes the version of a properly stopped node negative (-1 - version). A node that died
// keeps its version.
const hasStopped = "update nodes set version = -1 - version where node = $1 and incarnation = $2 and version >= 0"

// leave releases all actors, so that other nodes do not have to wait for the lease to end.
func (s *Store) leave() error {
	l := s.lease.Load()
	if !l.holds() {
		// Other nodes wait for the end of the lease in any case. If the database responds, the node
		// records that it has stopped and not died.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = s.pool.Exec(ctx, hasStopped, s.node, l.incarnation)
		return nil
	}
	both := &pgx.Batch{} // one transaction
	both.Queue("select leave($1, $2)", s.node, l.incarnation)
	both.Queue(hasStopped, s.node, l.incarnation)
	err := s.pool.SendBatch(l.ctx, both).Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return translate(err)
}

func (s *Store) closePools() {
	for _, p := range []*pgxpool.Pool{s.pool, s.long} {
		if p != nil {
			p.Close()
		}
	}
}

// StreamID implements durable.Store.
func (s *Store) StreamID() string { return s.stream }

// ReadOnly implements durable.Store.
func (s *Store) ReadOnly() bool { return s.readOnly.Load() }

// refuses handles an error of the database. If the database accepts no writes, refuses makes the
// store read-only.
func (s *Store) refuses(err error) {
	if errors.Is(err, durable.ErrReadOnly) {
		s.refused.Store(int64(uptime()))
		s.readOnly.Store(true)
	}
}

// Limits implements durable.Journal.
func (s *Store) Limits() durable.Limits {
	return durable.Limits{RecordBytes: MaxRecordBytes, Rows: MaxRows, RowBytes: MaxRowBytes}
}
