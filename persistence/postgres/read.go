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

// reader reads the log of an actor, whoever owns it.
type reader struct {
	store *Store
	actor string
}

// view calls fn with a connection on which everything is one consistent state.
// Once started is set it is not called again.
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
			// What is left open goes with the connection.
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

// view is one consistent state of the database. The first query opens it.
type view struct {
	ctx     context.Context
	conn    *pgx.Conn
	open    bool
	started bool // the caller's own function was called
}

// query sends a query and calls row for each row. The view is opened in the same
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

// head returns an actor's snapshot head, or ErrNotFound.
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

// Load implements durable.Reader.
func (r *reader) Load() (state []byte, seq uint64, err error) {
	if err := r.store.enterCall(); err != nil {
		return nil, 0, err
	}
	defer r.store.gate.Leave()
	err = r.store.view(func(v *view) error {
		h, err := v.head(r.actor)
		if errors.Is(err, durable.ErrNotFound) {
			state, seq = nil, 0
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		state, err = h.State(r.actor, func(n uint32) (piece []byte, err error) {
			var value []byte
			err = v.query("select state from snapshot_parts where actor = $1 and id = $2 and part = $3",
				func(r pgx.Rows) error { return r.Scan(&value) }, []byte(r.actor), int64(h.ID), int32(n))
			if err != nil {
				return nil, err
			}
			return layout.Unseal(layout.PartKey(r.actor, h.ID, n), value)
		})
		seq = h.Seq
		return damaged(err)
	})
	if err != nil {
		return nil, 0, err
	}
	return state, seq, nil
}

// damaged keeps what is damaged from being asked for again; an error of the
// database stays what it is.
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

// pageChunks is how many chunks are asked for at a time.
const pageChunks = 64

// Replay implements durable.Reader.
func (r *reader) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	if err := r.store.enterCall(); err != nil {
		return err
	}
	defer r.store.gate.Leave()
	return r.store.view(func(v *view) error {
		var tail int64
		err := v.query("select head from owners where actor = $1", func(r pgx.Rows) error { return r.Scan(&tail) }, []byte(r.actor))
		if err != nil || after >= uint64(tail) {
			return err
		}
		next := uint64(0) // 0 before the first chunk
		err = r.chunks(v, after, func(c layout.Chunk) error {
			if next == 0 {
				if err := r.checkStart(v, c.First, after); err != nil {
					return err
				}
			} else if c.First != next {
				return fmt.Errorf("%w: %s: a chunk starts at %d instead of %d", durable.ErrCorrupt, r.actor, c.First, next)
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
		if err != nil {
			return damaged(err)
		}
		// The owner's row knows where the log ends, so a lost end is noticed.
		if next == 0 {
			err = r.checkStart(v, uint64(tail)+1, after)
		} else if next != uint64(tail)+1 {
			err = fmt.Errorf("%w: %s: the log ends at %d instead of %d", durable.ErrCorrupt, r.actor, next-1, tail)
		}
		return damaged(err)
	})
}

// checkStart tells a log that was truncated from one that lost its beginning:
// records are truncated only when the snapshot has them.
func (r *reader) checkStart(v *view, first, after uint64) error {
	if first-1 <= after {
		return nil
	}
	h, err := v.head(r.actor)
	if err != nil && !errors.Is(err, durable.ErrNotFound) {
		return err
	}
	if first > h.Seq+1 {
		return fmt.Errorf("%w: %s: the log starts at %d, the snapshot ends at %d", durable.ErrCorrupt, r.actor, first, h.Seq)
	}
	return nil
}

// chunks calls fn for the log's chunks from the one on that may hold the record
// after+1. A chunk is valid only during the call.
func (r *reader) chunks(v *view, after uint64, fn func(layout.Chunk) error) error {
	from := int64(min(after, math.MaxInt64))
	sql := `select seq, chunk from records where actor = $1
		and seq >= coalesce((select max(seq) from records where actor = $1 and seq <= $2), 0) order by seq limit $3`
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
		}, []byte(r.actor), from, pageChunks)
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
		if len(page) < pageChunks {
			return nil
		}
		from = page[len(page)-1].seq + 1
		sql = "select seq, chunk from records where actor = $1 and seq >= $2 order by seq limit $3"
	}
}

// Close implements durable.Reader.
func (r *reader) Close() {}

// Load implements durable.Log.
func (l *actorLog) Load() (state []byte, seq uint64, err error) {
	if l.closed.Load() {
		return nil, 0, durable.ErrClosed
	}
	return (&reader{l.store, l.actor}).Load()
}

// Replay implements durable.Log.
func (l *actorLog) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	return (&reader{l.store, l.actor}).Replay(after, fn)
}
