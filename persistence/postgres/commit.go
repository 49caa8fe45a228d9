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
	lockRows      = "select * from lock_rows($1, $2, $3)"
	// A row that is deleted stays as a tombstone.
	upsertRows = `insert into rows (tbl, key, value, expires)
		select t, k, v, case when v is null then clock_timestamp() when l > 0 then clock_timestamp() + l * interval '1 microsecond' end
		from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bigint[]) as u(t, k, v, l)
		on conflict (tbl, key) do update set value = excluded.value, expires = excluded.expires, changed = excluded.changed`
)

// errNotCommitted says that a transaction broke off, and that the database was
// asked: it did not commit it.
var errNotCommitted = errors.New("postgres: the connection broke off before the commit")

// send commits the group. Without guards it is one round trip, all of whose
// statements are one transaction. When the connection breaks off, the next one
// says whether the commit came through.
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
		return fmt.Errorf("%w, and whether it came through is not known: %w", lost, err)
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
			if ended(err) || errors.Is(err, errDamagedRow) {
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
	if len(g.rows.all) > 0 {
		tables, keys, values, lives := g.rows.arrays()
		b.Queue(upsertRows, tables, keys, values, lives)
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

// wanted is a row that a transaction with guards locks before anything else.
type wanted struct {
	key  string // of package layout
	row  *durable.Row
	mode int16 // see lock_rows
}

const (
	onlyChecked = int16(iota)
	checkedAndWritten
	onlyWritten
)

// decide locks the rows of the group and looks at the guards, item by item: an
// item sees what those before it write. Those whose guards do not hold are told
// so and leave nothing; the rows of the others are the group's.
func (w *writer) decide(l *lease, b *pgx.Batch, items []item) error {
	rows := wants(items)
	tables, keys, modes := make([]string, len(rows)), make([][]byte, len(rows)), make([]int16, len(rows))
	for i, r := range rows {
		tables[i], keys[i], modes[i] = r.row.Table, r.row.Key, r.mode
		if keys[i] == nil {
			keys[i] = []byte{}
		}
	}
	b.Queue(lockRows, tables, keys, modes)
	results := w.conn.SendBatch(l.ctx, b)
	stored, err := readStored(results, rows)
	if err := errors.Join(err, results.Close()); err != nil {
		return err
	}
	for i := range items {
		it := &items[i]
		if it.err != nil || !it.commits() {
			continue
		}
		if it.guards {
			if it.err = checkGuards(stored, it.rows); it.err != nil {
				it.conflict = true
				w.group.batches--
				continue
			}
		}
		for j := range it.rows {
			if r := &it.rows[j]; !r.CheckOnly {
				k := rowKey(r)
				if _, checked := stored[k]; checked {
					stored[k] = found{value: r.Value, there: !r.Delete}
				}
			}
		}
		w.group.rows.put(it.rows)
	}
	return nil
}

// wants lists the rows of a group in the order in which every transaction takes
// them, each once.
func wants(items []item) []wanted {
	var all []wanted
	at := map[string]int{}
	for i := range items {
		it := &items[i]
		if it.err != nil || !it.commits() {
			continue
		}
		for j := range it.rows {
			r := &it.rows[j]
			mode := onlyWritten
			switch {
			case r.Guard.Kind() == durable.NoGuard && r.CheckOnly:
				continue
			case r.CheckOnly:
				mode = onlyChecked
			case r.Guard.Kind() != durable.NoGuard:
				mode = checkedAndWritten
			}
			key := rowKey(r)
			n, known := at[key]
			switch {
			case !known:
				at[key] = len(all)
				all = append(all, wanted{key, r, mode})
			case all[n].mode != mode:
				all[n].mode = checkedAndWritten
			}
		}
	}
	slices.SortFunc(all, func(a, b wanted) int { return cmp.Compare(a.key, b.key) })
	return all
}

// found is what is stored under a key, as the present item sees it.
type found struct {
	value []byte
	there bool
	err   error
}

// errDamagedRow ends a transaction whose guards cannot be looked at.
var errDamagedRow = fmt.Errorf("%w: a row with a guard", durable.ErrCorrupt)

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
	for _, r := range rows {
		if r.mode == onlyWritten {
			continue
		}
		var value []byte
		if !values.Next() {
			return nil, cmp.Or(values.Err(), errDamagedRow)
		}
		if err := values.Scan(&value); err != nil {
			return nil, err
		}
		f := found{there: value != nil}
		if f.there {
			f.value, f.err = layout.Unseal([]byte(r.key), value)
		}
		stored[r.key] = f
	}
	values.Close()
	return stored, values.Err()
}

func checkGuards(stored map[string]found, rows []durable.Row) error {
	for i := range rows {
		r := &rows[i]
		if r.Guard.Kind() == durable.NoGuard {
			continue
		}
		f := stored[rowKey(r)]
		err := f.err
		if !f.there {
			err = durable.ErrNotFound
		}
		if err := r.Guard.Holds(f.value, err); err != nil {
			return err
		}
	}
	return nil
}
