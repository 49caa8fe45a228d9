package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// reader reads the log of an actor, even if another node owns it.
type reader struct {
	store *Store
	actor string
}

// view calls fn with a view of one consistent state. It retries after temporary errors, but not
// once fn has set started.
func (s *Store) view(fn func(v *view) error) error {
	return s.ask(func(ctx context.Context) error {
		conn, err := s.long.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		v := &view{ctx: ctx, conn: conn.Conn()}
		err = fn(v)
		if v.open {
			// If the commit fails, closing the connection ends the transaction.
			if _, back := v.conn.Exec(ctx, "commit"); back != nil {
				_ = v.conn.Close(ctx)
			}
		}
		if err != nil && v.started {
			return &final{translate(err)}
		}
		return err
	})
}

// view is a view of one consistent state of the database. Its first query opens it.
type view struct {
	ctx     context.Context
	conn    *pgx.Conn
	open    bool
	started bool // the caller's function was called
}

// query sends a query and calls row for each row. The first query also opens the view, in the same
// round trip.
func (v *view) query(sql string, row func(pgx.Rows) error, args ...any) error {
	b := &pgx.Batch{}
	if !v.open {
		b.Queue("begin isolation level repeatable read read only")
	}
	b.Queue(sql, args...)
	results := v.conn.SendBatch(v.ctx, b)
	err := func() error {
		if !v.open {
			if _, err := results.Exec(); err != nil {
				return err
			}
			v.open = true
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}()
	return errors.Join(err, results.Close())
}

// head returns the head of an actor's snapshot, or ErrNotFound.
func (v *view) head(actor string) (layout.Head, error) {
	var value []byte
	err := v.query("select head from snapshots where actor = $1", func(r pgx.Rows) error { return r.Scan(&value) }, []byte(actor))
	if err != nil {
		return layout.Head{}, err
	}
	if value == nil {
		return layout.Head{}, durable.ErrNotFound
	}
	payload, err := layout.Unseal(layout.HeadKey(actor), value)
	if err != nil {
		return layout.Head{}, err
	}
	return layout.DecodeHead(payload)
}

// Load implements durable.LogReader.
func (r *reader) Load(history uint64, snapshot func(durable.Snapshot) error, record func(uint64, []byte) error) error {
	return r.view(func(v *view, h layout.Head, tail uint64) error {
		var state []byte
		if h.Seq > 0 {
			var err error
			if state, err = r.state(v, h); err != nil {
				return damaged(err)
			}
		}
		v.started = true
		if err := snapshot(h.Snapshot(state, tail)); err != nil {
			return err
		}
		return r.records(v, h, min(h.Seq, tail-min(tail, history)), tail, record)
	})
}

// Replay implements durable.LogReader.
func (r *reader) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	return r.view(func(v *view, h layout.Head, tail uint64) error {
		if err := h.Snapshot(nil, tail).CheckReplay(r.actor, after); err != nil {
			return &final{err}
		}
		return r.records(v, h, after, tail, fn)
	})
}

// view calls fn with one consistent state of the database. h is the head of the log's snapshot in
// that state, or empty without a snapshot. tail is the seq of the log's last record.
func (r *reader) view(fn func(v *view, h layout.Head, tail uint64) error) error {
	if err := r.store.enterCall(); err != nil {
		return err
	}
	defer r.store.gate.Leave()
	return r.store.view(func(v *view) error {
		var tail int64
		err := v.query("select head from owners where actor = $1", func(r pgx.Rows) error { return r.Scan(&tail) }, []byte(r.actor))
		if err != nil {
			return err
		}
		h, err := v.head(r.actor)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return damaged(err)
		}
		return fn(v, h, max(uint64(tail), h.Seq))
	})
}

// state reads the state of a snapshot.
func (r *reader) state(v *view, h layout.Head) ([]byte, error) {
	return h.State(r.actor, func(n uint32) ([]byte, error) {
		var value []byte
		err := v.query("select state from snapshot_parts where actor = $1 and id = $2 and part = $3",
			func(r pgx.Rows) error { return r.Scan(&value) }, []byte(r.actor), int64(h.ID), int32(n))
		if err != nil {
			return nil, err
		}
		return layout.Unseal(layout.PartKey(r.actor, h.ID, n), value)
	})
}

// records calls fn for the stored records whose seq is greater than after. All records above the
// base must exist. The actor's row in owners contains the end of the log, so a missing end is
// detected.
func (r *reader) records(v *view, h layout.Head, after, tail uint64, fn func(uint64, []byte) error) error {
	next := uint64(0) // 0 before the first chunk
	expect := max(after, h.Base) + 1
	err := r.chunks(v, after, func(c layout.Chunk) error {
		if next == 0 && c.First > expect || next != 0 && c.First != next {
			return fmt.Errorf("%w: %s: a chunk starts at %d instead of %d", durable.ErrCorrupt, r.actor, c.First, max(next, expect))
		}
		next = c.Last() + 1
		return c.Each(func(seq uint64, record []byte) error {
			if seq <= after {
				return nil
			}
			v.started = true
			return fn(seq, record)
		})
	})
	if err == nil && next <= tail && expect <= tail {
		err = fmt.Errorf("%w: %s: the log ends at %d instead of %d", durable.ErrCorrupt, r.actor, max(next, expect)-1, tail)
	}
	return damaged(err)
}

// damaged marks ErrCorrupt as final, so that the request is not retried. It returns other errors,
// and errors of the database, unchanged.
func damaged(err error) error {
	if errors.Is(err, durable.ErrCorrupt) && codeOf(err) == "" {
		return &final{err}
	}
	return err
}

// Tail implements durable.Reader.
func (r *reader) Tail() (tail uint64, err error) {
	if err := r.store.enterCall(); err != nil {
		return 0, err
	}
	defer r.store.gate.Leave()
	err = r.store.ask(func(ctx context.Context) error {
		var head int64
		err := r.store.pool.QueryRow(ctx, "select head from owners where actor = $1", []byte(r.actor)).Scan(&head)
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		tail = uint64(head)
		return err
	})
	return tail, err
}

const (
	// pageChunks is the maximum number of chunks per request.
	pageChunks = 64
	// pageBytes is the size of a request's values, in bytes, after which no further chunk follows.
	// The last chunk can exceed it.
	pageBytes = 8 << 20
)

// firstChunks selects a page that begins with the chunk that can contain record $2. The page of
// nextChunks begins with the first chunk from $2 on.
var (
	firstChunks = chunkPage("coalesce((select max(seq) from records where actor = $1 and seq <= $2), 0)")
	nextChunks  = chunkPage("$2")
)

func chunkPage(from string) string {
	return `select seq, chunk from (
		select seq, chunk, sum(length(chunk)) over (order by seq) - length(chunk) as before from (
			select seq, chunk from records where actor = $1 and seq >= ` + from + ` order by seq limit $3) as next) as sized
		where before < $4 order by seq`
}

// chunks calls fn for the log's chunks, beginning with the chunk that can contain record after+1. A
// chunk is valid only during the call.
func (r *reader) chunks(v *view, after uint64, fn func(layout.Chunk) error) error {
	from := int64(min(after, math.MaxInt64))
	sql := firstChunks
	for {
		type stored struct {
			seq   int64
			value []byte
		}
		var page []stored
		bytes := 0
		err := v.query(sql, func(rows pgx.Rows) error {
			var c stored
			err := rows.Scan(&c.seq, &c.value)
			page = append(page, c)
			bytes += len(c.value)
			return err
		}, []byte(r.actor), from, pageChunks, pageBytes)
		if err != nil {
			return err
		}
		for _, c := range page {
			key := layout.ChunkKey(r.actor, uint64(c.seq))
			chunk, err := layout.DecodeChunk(key, c.value, len(key)-layout.SeqBytes)
			if err != nil {
				return err
			}
			if err := fn(chunk); err != nil {
				return err
			}
		}
		if len(page) < pageChunks && bytes < pageBytes {
			return nil
		}
		from = page[len(page)-1].seq + 1
		sql = nextChunks
	}
}

// Close implements durable.Reader.
func (r *reader) Close() {}

// Load implements durable.LogReader.
func (l *actorLog) Load(history uint64, snapshot func(durable.Snapshot) error, record func(uint64, []byte) error) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	return (&reader{l.store, l.Actor}).Load(history, snapshot, record)
}

// Replay implements durable.LogReader.
func (l *actorLog) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	return (&reader{l.store, l.Actor}).Replay(after, fn)
}
