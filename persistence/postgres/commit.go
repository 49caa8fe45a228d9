package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

const (
	beginCommit   = "select begin_commit($1, $2, $3, $4, $5, $6, $7, $8)"
	insertRecords = "insert into records (actor, seq, chunk) select * from unnest($1::bytea[], $2::bigint[], $3::bytea[])"
	// lockRows locks rows in the given order and returns their values. The value of a deleted or
	// expired row is null. $3 states for each row whether it will be written. Rows that do not
	// exist cannot be locked, and are missing from the result.
	lockRows = `select n, case when expires is null or expires > clock_timestamp() then value end
		from unnest($1::text[], $2::bytea[], $3::boolean[]) with ordinality as u(t, k, w, n), lateral (
			select * from (select value, expires from rows where w and tbl = t and key = k for no key update) as written
			union all
			select * from (select value, expires from rows where not w and tbl = t and key = k for share) as unchanged
		) as r`
	// insertRows fails if another transaction has created the row in the meantime.
	insertRows = `insert into rows (tbl, key, value, expires)
		select t, k, v, case when v is null then clock_timestamp() when l > 0 then clock_timestamp() + l * interval '1 microsecond' end
		from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bigint[]) as u(t, k, v, l)`
	// upsertRows keeps a deleted row as a tombstone.
	upsertRows = insertRows + `
		on conflict (tbl, key) do update set value = excluded.value, expires = excluded.expires, changed = excluded.changed`
)

// errNotCommitted means that a transaction was interrupted, and that the database has confirmed
// that it was not committed.
var errNotCommitted = errors.New("postgres: the connection was lost before the commit")

// send commits the group in one transaction. Without preconditions, this takes one round trip. If
// the connection breaks, the next connection shows whether the commit was applied.
func (w *writer) send(l *lease, items []item) error {
	if _, err := w.connection(l); err != nil {
		return err
	}
	w.number++
	err := w.transact(l, items)
	if err == nil || ended(err) {
		return err
	}
	w.drop()
	committed, lost := w.connection(l)
	switch {
	case lost != nil:
		return fmt.Errorf("%w, so it is unknown whether the commit was applied: %w", lost, err)
	case committed == w.number:
		return nil
	}
	return fmt.Errorf("%w: %w", errNotCommitted, translate(err))
}

func (w *writer) transact(l *lease, items []item) error {
	g := &w.group
	b := &pgx.Batch{}
	if g.guarded {
		b.Queue("begin")
	}
	b.Queue(beginCommit, w.store.node, l.incarnation, l.session, w.number, g.actors, g.epochs, g.heads, g.tails)
	if g.guarded {
		if err := w.decide(l, b, items); err != nil {
			if ended(err) {
				if _, back := w.conn.Exec(l.ctx, "rollback"); back != nil {
					w.drop()
				}
			}
			return err
		}
		b = &pgx.Batch{}
	}
	if len(g.chunks) > 0 {
		actors, seqs, values := g.chunkArrays()
		b.Queue(insertRecords, actors, seqs, values)
	}
	g.rows.sort()
	for _, s := range []struct {
		sql string
		new bool
	}{{upsertRows, false}, {insertRows, true}} {
		if tables, keys, values, lives := g.rows.arrays(s.new); len(keys) > 0 {
			b.Queue(s.sql, tables, keys, values, lives)
		}
	}
	if g.guarded {
		b.Queue("commit")
	}
	err := w.conn.SendBatch(l.ctx, b).Close()
	if g.guarded && err != nil && ended(err) {
		if _, back := w.conn.Exec(l.ctx, "rollback"); back != nil {
			w.drop()
		}
	}
	return err
}

// wanted is a row with a precondition. The row is locked before anything is written.
type wanted struct {
	key     string // in the form of package layout
	row     *durable.Row
	written bool
}

// decide locks the group's rows and evaluates the preconditions item by item, taking the writes of
// earlier items into account. An item whose preconditions fail writes nothing. The rows of the
// other items are added to the group.
func (w *writer) decide(l *lease, b *pgx.Batch, items []item) error {
	rows := wants(items)
	tables, keys, written := make([]string, len(rows)), make([][]byte, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		tables[i], keys[i], written[i] = r.row.Table, r.row.Key, r.written
		if keys[i] == nil {
			keys[i] = []byte{}
		}
	}
	b.Queue(lockRows, tables, keys, written)
	results := w.conn.SendBatch(l.ctx, b)
	stored, err := readStored(results, rows)
	if err := errors.Join(err, results.Close()); err != nil {
		return err
	}
	missing := make(map[string]bool)
	for _, r := range rows {
		if _, there := stored[r.key]; !there {
			missing[r.key] = true
		}
	}
	for i := range items {
		it := &items[i]
		if it.Err != nil || !it.Commits() {
			continue
		}
		if it.Preconditions {
			if it.Err = checkPreconditions(stored, it.Rows); it.Err != nil {
				it.conflict = true
				w.group.batches--
				continue
			}
		}
		for j := range it.Rows {
			if r := &it.Rows[j]; !r.CheckOnly {
				stored[rowKey(r)] = found{value: r.Value, there: !r.Delete}
			}
		}
		w.group.rows.put(it.Rows)
		w.group.rows.hold(it.Rows, missing)
	}
	return nil
}

// wants returns a group's rows with preconditions, without duplicates, in the order in which every
// transaction locks them.
func wants(items []item) []wanted {
	var all []wanted
	known, written := map[string]bool{}, map[string]bool{}
	for i := range items {
		it := &items[i]
		if it.Err != nil || !it.Commits() {
			continue
		}
		for j := range it.Rows {
			r := &it.Rows[j]
			key := rowKey(r)
			if !r.CheckOnly {
				written[key] = true
			}
			if r.Precondition.Kind() != durable.NoPrecondition && !known[key] {
				known[key] = true
				all = append(all, wanted{key: key, row: r})
			}
		}
	}
	for i := range all {
		all[i].written = written[all[i].key]
	}
	slices.SortFunc(all, func(a, b wanted) int { return cmp.Compare(a.key, b.key) })
	return all
}

// found is the value under a key after the writes of earlier items.
type found struct {
	value []byte
	there bool
	err   error
}

func readStored(results pgx.BatchResults, rows []wanted) (map[string]found, error) {
	for range 2 { // begin, begin_commit
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	values, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer values.Close()
	stored := make(map[string]found, len(rows))
	for values.Next() {
		var n int
		var value []byte
		if err := values.Scan(&n, &value); err != nil {
			return nil, err
		}
		f, key := found{there: value != nil}, rows[n-1].key
		if f.there {
			f.value, f.err = layout.Unseal([]byte(key), value)
		}
		stored[key] = f
	}
	return stored, values.Err()
}

func checkPreconditions(stored map[string]found, rows []durable.Row) error {
	for i := range rows {
		r := &rows[i]
		if r.Precondition.Kind() == durable.NoPrecondition {
			continue
		}
		f := stored[rowKey(r)]
		err := f.err
		if !f.there {
			err = durable.ErrNotFound
		}
		if err := r.Precondition.Holds(f.value, err); err != nil {
			return err
		}
	}
	return nil
}
