package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// snapshotJob is one request to store a state.
type snapshotJob = calls.Snapshot[*actorLog]

// Snapshot implements durable.Log. done is called on the goroutine that stores snapshots or, if the
// log is no longer valid, on the writer's goroutine.
func (l *actorLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.writable(); err != nil {
		return err
	}
	return s.snapshots.Ask(&snapshotJob{Log: l, Seq: seq, State: state, Keep: keep, Done: done}, func(e entry) error {
		l.users.Add(1) // only after the reservation, because a refused snapshot must not count as a user
		err := s.queue.Push(item{entry: e}, 0)
		if err != nil {
			l.users.Add(-1)
		}
		return err
	})
}

// storeCounted stores a snapshot and counts it.
func (s *Store) storeCounted(job *snapshotJob) error {
	err := s.storeSnapshot(job)
	s.stats.Snapshot(err)
	return err
}

// storeSnapshot writes the parts, then the head, and then removes data that the new snapshot
// replaces. After any interruption, the old or the new snapshot is complete, and all records
// after it exist. All changes are in transactions that check the ownership. If a node is paused
// between two transactions and loses the actor, it therefore cannot change anything afterwards.
func (s *Store) storeSnapshot(job *snapshotJob) error {
	l := job.Log
	defer s.locks.Lock(l.Actor)()
	// While the lock is held, no newer handle of this node can be opened. An old incarnation's
	// snapshot is therefore never stored after a new incarnation has read the state.
	if err := l.usable(); err != nil {
		return err
	}
	var old layout.Head
	err := s.view(func(v *view) (err error) {
		if old, err = v.head(l.Actor); errors.Is(err, durable.ErrNotFound) {
			return nil
		}
		return damaged(err)
	})
	if err != nil {
		return fmt.Errorf("snapshot of %s: %w", l.Actor, err)
	}
	if job.Seq < old.Seq {
		return fmt.Errorf("postgres: snapshot of %s at %d is older than the stored one at %d", l.Actor, job.Seq, old.Seq)
	}
	// The id must be unique, because an interrupted snapshot, even by an earlier owner, can have
	// left parts.
	var id int64
	if err := s.ask(func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "select nextval('epochs')").Scan(&id)
	}); err != nil {
		return fmt.Errorf("snapshot of %s: %w", l.Actor, err)
	}
	// The new base is stored before anything is truncated.
	limit := min(job.Seq, job.Keep)
	h := layout.NewHead(job.Seq, max(old.Base, limit), uint64(id), job.State)
	for n := range h.Parts {
		key := layout.PartKey(l.Actor, h.ID, uint32(n))
		if _, err := l.change("insert into snapshot_parts values ($1, $2, $3, $4) on conflict do nothing",
			[]byte(l.Actor), id, int32(n), layout.Sealed(key, h.Piece(job.State, n))); err != nil {
			return fmt.Errorf("snapshot of %s: %w", l.Actor, err)
		}
	}
	if _, err := l.change("insert into snapshots values ($1, $2) on conflict (actor) do update set head = excluded.head", []byte(l.Actor), l.sealed(h)); err != nil {
		return fmt.Errorf("snapshot of %s: %w", l.Actor, err)
	}
	if err := l.truncate(limit); err != nil {
		return fmt.Errorf("truncate %s: %w", l.Actor, err)
	}
	if _, err := l.change("delete from snapshot_parts where actor = $1 and id <> $2", []byte(l.Actor), id); err != nil {
		return fmt.Errorf("remove old snapshot parts of %s: %w", l.Actor, err)
	}
	return nil
}

// sealed returns a head in its stored form.
func (l *actorLog) sealed(h layout.Head) []byte {
	return layout.Sealed(layout.HeadKey(l.Actor), h.Encode())
}

// change runs a statement in a transaction that verifies the ownership. It returns the number of
// changed rows. The statement must tolerate being executed twice.
func (l *actorLog) change(sql string, args ...any) (rows int64, err error) {
	return l.changeAll(statement{sql, args})
}

// statement is a statement with its arguments.
type statement struct {
	sql  string
	args []any
}

// changeAll is like change, for several statements. rows is the number of rows that the last
// statement changed.
func (l *actorLog) changeAll(changes ...statement) (rows int64, err error) {
	s := l.store
	err = l.lease.ask(func(ctx context.Context) error {
		conn, err := s.long.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		b := &pgx.Batch{} // all statements are in one transaction
		b.Queue("select hold_log($1, $2, $3, $4)", s.node, l.lease.incarnation, []byte(l.Actor), l.epoch)
		for _, c := range changes {
			b.Queue(c.sql, c.args...)
		}
		results := conn.SendBatch(ctx, b)
		_, err = results.Exec()
		for range changes {
			if err != nil {
				break
			}
			tag, failed := results.Exec()
			rows, err = tag.RowsAffected(), failed
		}
		return errors.Join(err, results.Close())
	})
	return rows, err
}

// truncateChunks is the number of chunks removed per transaction. It is small, because all appends
// of this node wait for the transaction, not only those of this log.
const truncateChunks = 200

// truncate removes all chunks that end at or before limit.
func (l *actorLog) truncate(limit uint64) error {
	if limit == 0 {
		return nil
	}
	for {
		// A chunk ends where the next chunk begins, and the last chunk ends at the head.
		began := time.Now()
		n, err := l.change(`delete from records where actor = $1 and seq in (
			select seq from records where actor = $1 and seq <= $2
				and coalesce((select min(n.seq) from records n where n.actor = $1 and n.seq > records.seq),
					(select head + 1 from owners where actor = $1)) <= $2 + 1
			order by seq limit $3)`, []byte(l.Actor), int64(limit), truncateChunks)
		if err != nil || n < truncateChunks {
			return err
		}
		if !l.store.closing.Load() {
			time.Sleep(time.Since(began))
		}
	}
}

// Rewrite implements durable.Log. PostgreSQL keeps the replaced bytes on disk (DESIGN.md,
// "Erased data").
//
// Appends only add chunks, and Rewrite only replaces existing chunks, so the two do not conflict.
// Truncation waits for the actor's lock.
func (l *actorLog) Rewrite(upTo uint64, fn func(seq uint64, record []byte) ([]byte, bool, error)) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := s.writable(); err != nil {
		return err
	}
	defer s.locks.Lock(l.Actor)()
	// Otherwise concurrent calls could take all connections, and then wait for each other.
	s.rewriting <- struct{}{}
	defer func() { <-s.rewriting }()
	if err := l.usable(); err != nil {
		return err
	}
	var rest []rewritten
	var h layout.Head
	raise := func() (head []byte) {
		if h.Base < upTo {
			h.Base = upTo
			head = l.sealed(h)
		}
		return head
	}
	err := s.view(func(v *view) (err error) {
		rest = rest[:0]
		h, err = v.head(l.Actor)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return damaged(err)
		}
		if upTo > h.Seq {
			return &final{fmt.Errorf("%w: up to %d, the snapshot ends at %d", durable.ErrGap, upTo, h.Seq)}
		}
		bytes := 0
		err = (&reader{s, l.Actor}).chunks(v, 0, func(c layout.Chunk) error {
			if c.First > upTo {
				return errRewritten
			}
			v.started = true
			value, changed, err := c.Rewrite(upTo, fn)
			if err != nil || !changed {
				return err
			}
			layout.Seal(layout.ChunkKey(l.Actor, c.First), value)
			rest = append(rest, rewritten{int64(c.First), value})
			if bytes += len(value); bytes < rewriteBytes {
				return nil
			}
			bytes = 0
			return l.replace(&rest, raise())
		})
		if errors.Is(err, errRewritten) {
			return nil
		}
		return damaged(err)
	})
	if err == nil && len(rest) > 0 {
		err = l.replace(&rest, raise())
	}
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", l.Actor, err)
	}
	return nil
}

// A callback returns errRewritten to end the iteration after the last record that must be
// rewritten.
var errRewritten = errors.New("rewritten")

// rewriteBytes is the number of bytes after which Rewrite ends a transaction.
const rewriteBytes = 256 << 10

// rewritten is a chunk with its new value.
type rewritten struct {
	seq   int64
	value []byte
}

// replace stores the chunks, and the head unless it is nil. Rewrite passes a head only with the
// first chunks, if the base must be raised.
func (l *actorLog) replace(chunks *[]rewritten, head []byte) error {
	var seqs []int64
	var values [][]byte
	for _, c := range *chunks {
		seqs, values = append(seqs, c.seq), append(values, c.value)
	}
	*chunks = (*chunks)[:0]
	changes := []statement{{"update records r set chunk = n.value from unnest($2::bigint[], $3::bytea[]) as n(seq, value) where r.actor = $1 and r.seq = n.seq",
		[]any{[]byte(l.Actor), seqs, values}}}
	if head != nil {
		changes = append(changes, statement{"update snapshots set head = $2 where actor = $1", []any{[]byte(l.Actor), head}})
	}
	_, err := l.changeAll(changes...)
	return err
}

// Purge implements durable.Journal in one transaction. It fails with *durable.Owned if another
// living node owns the actor.
func (s *Store) Purge(actor string) error {
	if err := layout.CheckActor(actor); err != nil {
		return err
	}
	if err := s.enterCall(); err != nil {
		return err
	}
	defer s.gate.Leave()
	defer s.locks.Lock(actor)()
	l := s.lease.Load()
	if err := s.wait(entry{Kind: calls.KindPurge, Actor: actor}); err != nil {
		return fmt.Errorf("purge %s: %w", actor, err)
	}
	var owned *durable.Owned
	err := l.ask(func(ctx context.Context) error {
		b := &pgx.Batch{} // all statements are in one transaction
		b.Queue("select from take_log($1, $2, $3)", s.node, l.incarnation, []byte(actor))
		for _, table := range []string{"records", "snapshots", "snapshot_parts", "owners"} {
			b.Queue("delete from "+table+" where actor = $1", []byte(actor))
		}
		err := s.long.SendBatch(ctx, b).Close()
		if codeOf(err) == codeOwned {
			owned = &durable.Owned{Actor: actor, Node: detailOf(err)}
			return nil
		}
		return err
	})
	if err == nil && owned != nil {
		err = owned
	}
	if err != nil {
		return fmt.Errorf("purge %s: %w", actor, err)
	}
	return nil
}
