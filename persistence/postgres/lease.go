package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// lease is one incarnation of this node in the database.
type lease struct {
	incarnation int64
	role        string        // the database role
	session     int64         // of the writer, which owns this field
	limit       time.Duration // validity after a renewal

	// renewed is the time at which the last successful renewal was sent, by uptime.
	renewed atomic.Int64
	over    atomic.Bool
	// ctx is done when the lease is lost. All requests under this lease end with ctx.
	ctx    context.Context
	cancel context.CancelFunc
}

// holds reports whether the lease is valid. It reads the clock itself, so the result is correct
// even right after a pause of the process, before any other goroutine has run. A lost lease is
// never valid again.
func (l *lease) holds() bool {
	if l.over.Load() {
		return false
	}
	if uptime()-time.Duration(l.renewed.Load()) < l.limit {
		return true
	}
	l.lose()
	return false
}

func (l *lease) lose() {
	l.over.Store(true)
	l.cancel()
}

// enter starts a new incarnation. If a node with this name is alive, enter waits until that node's
// lease expires, and returns ErrNameTaken if the lease is renewed meanwhile. own is this process's
// previous incarnation, or 0.
func (s *Store) enter(ctx context.Context, own int64) (*lease, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := s.admitted(ctx, conn); err != nil {
		return nil, err
	}
	var first time.Time
	for {
		sent := uptime()
		var incarnation, session, wait *int64
		var until *time.Time // nil stands for -infinity
		err := conn.QueryRow(ctx, "select incarnation, session, nullif(until, '-infinity'), wait from enter($1, $2, $3, $4, $5)",
			s.node, s.opts.Lease, s.opts.Version, s.opts.Program, own).Scan(&incarnation, &session, &until, &wait)
		if err != nil {
			return nil, err
		}
		if incarnation != nil {
			l := &lease{incarnation: *incarnation, role: s.config.ConnConfig.User, session: *session, limit: s.opts.Lease * 2 / 3}
			l.renewed.Store(int64(sent))
			l.ctx, l.cancel = context.WithCancel(context.Background())
			if err := s.admitted(ctx, conn); err != nil {
				l.lose()
				_, left := conn.Exec(context.WithoutCancel(ctx), "select leave($1, $2)", s.node, l.incarnation)
				return nil, errors.Join(err, left)
			}
			return l, nil
		}
		if !first.IsZero() && until.After(first) {
			return nil, fmt.Errorf("%w: %s", ErrNameTaken, s.node)
		}
		first = *until
		select {
		// Half a lease is enough to wait, because a living node renews its lease before that.
		case <-time.After(min(time.Duration(*wait)*time.Microsecond, s.opts.Lease/2) + time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// keep renews a lease on a separate connection, until the lease is lost.
func (s *Store) keep(l *lease) {
	defer close(s.keeping)
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = conn.Close(ctx)
		}
	}()
	rest := pause{}
	for l.holds() {
		left := time.Duration(l.renewed.Load()) + l.limit - uptime()
		ctx, cancel := context.WithTimeout(l.ctx, left)
		sent := uptime()
		err := s.renew(ctx, &conn, l)
		cancel()
		wait := s.opts.Lease/3 - (uptime() - sent)
		switch {
		case err == nil:
			l.renewed.Store(int64(sent))
			s.readOnly.Store(false)
			rest = pause{}
		case codeOf(err) == codeLeaseLost:
			l.lose()
		default:
			s.refuses(translate(err))
			if conn != nil && conn.IsClosed() {
				conn = nil
			}
			rest.take(l.ctx)
			continue
		}
		select {
		case <-time.After(wait):
		case <-l.ctx.Done():
		}
	}
}

func (s *Store) renew(ctx context.Context, conn **pgx.Conn, l *lease) (err error) {
	if *conn == nil {
		if *conn, err = s.connect(ctx); err != nil {
			return err
		}
	}
	var at time.Time
	sent, here := uptime(), s.opts.Now()
	err = (*conn).QueryRow(ctx, "select clock_timestamp(), renew($1, $2, $3)::text", s.node, l.incarnation, s.opts.Lease).Scan(&at, nil)
	if err == nil {
		s.compare(at, here, uptime()-sent)
	}
	return err
}

// maxRoundTrip is the maximum duration of a renewal that is used to compare the clocks. A longer
// one does not show precisely enough when the database read its clock.
const maxRoundTrip = 5 * time.Second

// compare records the offset of the database's clock. The database read the time at from its clock
// while this node's clock was between here and here+took.
func (s *Store) compare(at, here time.Time, took time.Duration) {
	if took > maxRoundTrip {
		s.offset.Store(nil)
		return
	}
	offset := at.Sub(here.Add(took / 2).Round(0)) // by wall clocks
	s.offset.Store(&offset)
}

// ClockOffset returns the database's time minus this node's time, at the last renewal of the lease.
// known is false before the first renewal, and after a renewal that took longer than five seconds.
func (s *Store) ClockOffset() (offset time.Duration, known bool) {
	if o := s.offset.Load(); o != nil {
		return *o, true
	}
	return 0, false
}

// Node implements durable.Shared.
func (s *Store) Node() string { return s.node }

// Holds implements durable.Shared.
func (s *Store) Holds() bool { return s.lease.Load().holds() }

// Lost implements durable.Shared.
func (s *Store) Lost() <-chan struct{} { return s.lease.Load().ctx.Done() }

// Rejoin implements durable.Shared.
func (s *Store) Rejoin(ctx context.Context) error {
	s.rejoining.Lock()
	defer s.rejoining.Unlock()
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	old := s.lease.Load()
	old.lose()
	<-s.keeping
	rest, level := pause{}, slog.LevelWarn // only the first failure is a warning
	for {
		l, err := s.enter(ctx, old.incarnation)
		if err == nil {
			s.hold(l)
			s.opts.Logger.Info("this node has a lease on the database again", "node", s.node, "incarnation", l.incarnation)
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("rejoin the database: %w", ctx.Err())
		}
		if errors.Is(err, ErrRefused) || errors.Is(err, ErrNewerFormat) {
			return fmt.Errorf("rejoin the database: %w", err)
		}
		s.refuses(translate(err))
		s.opts.Logger.Log(ctx, level, "this node cannot rejoin the database yet; it keeps trying", "node", s.node, "error", err)
		level = slog.LevelDebug
		rest.take(ctx)
	}
}

// hold makes a lease the current one, and starts renewing it.
func (s *Store) hold(l *lease) {
	s.keeping = make(chan struct{})
	s.refused.Store(0)
	s.readOnly.Store(false)
	s.lease.Store(l)
	go s.keep(l)
}

// stayAlone rejoins after each lost lease. A single server can do so without being restarted,
// because no other node can have taken over its actors.
func (s *Store) stayAlone() {
	for {
		select {
		case <-s.Lost():
		case <-s.ending.Done():
			return
		}
		if s.ending.Err() != nil {
			return
		}
		s.opts.Logger.Error("this node lost its lease on the database; it neither reads nor writes until it has a new one", "node", s.node)
		if err := s.Rejoin(s.ending); err != nil && s.ending.Err() == nil {
			s.opts.Logger.Error("the database refuses this server; restart it with the newer program", "error", err)
			<-s.ending.Done()
		}
	}
}
