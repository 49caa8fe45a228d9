package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// feed reports the changed rows of a set of tables.
//
// Each poll reads the rows of all transactions since the oldest one that was still running at the
// previous poll. All transactions before that one had ended, so the previous poll has seen their
// rows. Late commits are therefore not missed, but some rows are reported twice.
type feed struct {
	store  *Store
	tables []string
	fn     func(table string, key, value []byte)

	// These fields are owned by the polling goroutine.
	since string              // a transaction id (xid8); all transactions with lower ids were seen
	seen  time.Time           // when since was read, by the database's clock
	known map[string]struct{} // reported rows that still exist, by their keys of package layout

	looked atomic.Int64 // uptime at the beginning of the last successful poll

	mu   sync.Mutex
	next *round        // guarded by mu; the round for new callers
	wake chan struct{} // capacity 1; a caller waits for next
	quit context.Context
	stop context.CancelFunc
	done chan struct{} // closed when run returns
}

// round is one poll together with the callers that wait for it.
type round struct {
	done chan struct{} // closed at the end of the poll
	err  error         // result of the poll; set before done is closed
}

// feeds contains the open feeds of a store.
type feeds struct {
	mu  sync.Mutex
	all map[*feed]struct{} // guarded by mu
}

func (f *feeds) add(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[*feed]struct{})
	}
	f.all[one] = struct{}{}
}

func (f *feeds) remove(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, one)
}

func (f *feeds) close() {
	f.mu.Lock()
	var all []*feed
	for one := range f.all {
		all = append(all, one)
	}
	f.mu.Unlock()
	for _, one := range all {
		one.Close()
	}
}

// Watch implements durable.Shared.
func (s *Store) Watch(tables []string, fn func(table string, key, value []byte)) (durable.Feed, error) {
	for _, table := range tables {
		if err := layout.CheckTable(table); err != nil {
			return nil, err
		}
	}
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	f := &feed{
		store: s, tables: tables, fn: fn, known: make(map[string]struct{}),
		next: &round{done: make(chan struct{})}, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	f.quit, f.stop = context.WithCancel(s.ending)
	if err := f.poll(); err != nil {
		f.stop()
		return nil, err
	}
	s.feeds.add(f)
	go f.run()
	return f, nil
}

func (f *feed) run() {
	defer close(f.done)
	ticker := time.NewTicker(f.store.opts.LookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-f.wake:
		case <-ticker.C:
		case <-f.quit.Done():
		}
		f.mu.Lock()
		r := f.next
		f.next = &round{done: make(chan struct{})}
		f.mu.Unlock()
		if f.quit.Err() != nil {
			r.err = durable.ErrClosed
			close(r.done)
			return
		}
		r.err = f.poll()
		close(r.done)
	}
}

// Sync implements durable.Feed.
func (f *feed) Sync(ctx context.Context) error {
	f.mu.Lock()
	r := f.next
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	case <-f.done:
		return durable.ErrClosed
	}
}

// Age implements durable.Feed.
func (f *feed) Age() time.Duration { return uptime() - time.Duration(f.looked.Load()) }

// Close implements durable.Feed.
func (f *feed) Close() {
	f.stop()
	<-f.done
	f.store.feeds.remove(f)
}

// change is one row as returned by a poll.
type change struct {
	table      string
	key, value []byte // value is nil for a deleted row
	gone       bool   // deleted or expired
}

// poll reads the changes and reports them. It updates since and seen only after it has reported all
// changes.
func (f *feed) poll() error {
	s := f.store
	began := uptime()
	if !s.Holds() {
		return durable.ErrFenced
	}
	var since string
	var now time.Time
	var changes []change
	var all bool
	err := s.view(func(v *view) error {
		changes, all = nil, f.since == ""
		// The view begins with the first query, so both values belong to one state.
		err := v.query("select pg_snapshot_xmin(pg_current_snapshot())::text, clock_timestamp()",
			func(r pgx.Rows) error { return r.Scan(&since, &now) })
		if err != nil {
			return err
		}
		// Read all rows if tombstones may have been removed before this feed saw them.
		all = all || now.Sub(f.seen) > s.opts.Remember/2
		sql, args := "select tbl, key, value, value is null or coalesce(expires <= $2, false) from rows where tbl = any($1)", []any{f.tables, now}
		if !all {
			sql += " and changed >= $3::text::xid8 union all select tbl, key, value, true from rows where tbl = any($1) and expires > $4 and expires <= $2"
			args = append(args, f.since, f.seen)
		}
		return v.query(sql, func(r pgx.Rows) error {
			var c change
			err := r.Scan(&c.table, &c.key, &c.value, &c.gone)
			changes = append(changes, c)
			return err
		}, args...)
	})
	if err != nil {
		return err
	}
	found := make(map[string]struct{}, len(changes))
	for _, c := range changes {
		key := string(layout.AppendRowKey(nil, c.table, c.key))
		if c.gone {
			delete(f.known, key)
			f.fn(c.table, c.key, nil)
			continue
		}
		value, err := layout.Unseal([]byte(key), c.value)
		if err != nil {
			return err
		}
		f.known[key] = struct{}{}
		if all {
			found[key] = struct{}{}
		}
		f.fn(c.table, c.key, value)
	}
	if all {
		for key := range f.known {
			if _, ok := found[key]; !ok {
				delete(f.known, key)
				table, rest := layout.SplitRowKey([]byte(key))
				f.fn(table, rest, nil)
			}
		}
	}
	f.since, f.seen = since, now
	f.looked.Store(int64(began))
	return nil
}

// rest waits for d. It returns false if the store is closing.
func (s *Store) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ending.Done():
		return false
	}
}
