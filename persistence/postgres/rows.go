package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// Append implements durable.Journal.
func (s *Store) Append(rows []durable.Row, done func(error)) error {
	if err := layout.CheckRows(rows); err != nil {
		return err
	}
	return s.push(item{entry: entry{Kind: calls.KindRows, Rows: rows, Preconditions: durable.Guarded(rows), Done: done}})
}

// visible is the condition that a row exists. Rows expire by the database's clock.
const visible = "value is not null and (expires is null or expires > clock_timestamp())"

// Get implements durable.Journal. The result includes every write acknowledged earlier.
func (s *Store) Get(table string, key []byte) (content []byte, err error) {
	if err := layout.CheckTable(table); err != nil {
		return nil, err
	}
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	if key == nil {
		key = []byte{}
	}
	value, err := s.lookups.get(table, key)
	switch {
	case err != nil:
		return nil, fmt.Errorf("get a row of %s: %w", table, err)
	case value == nil:
		return nil, durable.ErrNotFound
	}
	return layout.Unseal(layout.AppendRowKey(nil, table, key), value)
}

const (
	firstPageRows = 64
	maxPageRows   = 512
)

// Scan implements durable.Journal.
func (s *Store) Scan(q durable.Scan, fn func(key, value []byte) bool) error {
	if err := layout.CheckTable(q.Table); err != nil {
		return err
	}
	if err := s.enterCall(); err != nil {
		return err
	}
	defer s.gate.Leave()
	c := newRange(q)
	return s.view(func(v *view) error {
		c := c
		for limit := firstPageRows; ; {
			type stored struct{ key, value []byte }
			var page []stored
			bytes := 0
			err := v.query(c.sql(), func(rows pgx.Rows) error {
				var r stored
				err := rows.Scan(&r.key, &r.value)
				page = append(page, r)
				bytes += len(r.value)
				return err
			}, q.Table, c.low, c.high, limit)
			if err != nil {
				return err
			}
			for _, r := range page {
				payload, err := layout.Unseal(layout.AppendRowKey(nil, q.Table, r.key), r.value)
				if err != nil {
					return damaged(err)
				}
				v.started = true
				if !fn(r.key, payload) {
					return nil
				}
			}
			if len(page) < limit {
				return nil
			}
			c = c.behind(page[len(page)-1].key)
			// The next page has about pageBytes, if its rows are as large as these.
			limit = min(4*limit, maxPageRows, max(1, pageBytes*len(page)/max(1, bytes)))
		}
	})
}

// keyRange is a range of keys from low to high. A nil high means that the range has no end.
type keyRange struct {
	low, high []byte
	above     bool // excludes low
	below     bool // excludes high
	reverse   bool
}

func newRange(q durable.Scan) keyRange {
	c := keyRange{low: append([]byte{}, q.Prefix...), below: true, reverse: q.Reverse}
	c.high = prefixEnd(q.Prefix)
	switch {
	case q.From == nil:
	case !q.Reverse && string(q.From) > string(c.low):
		c.low = q.From
	case q.Reverse && (c.high == nil || string(q.From) < string(c.high)):
		c.high, c.below = q.From, false
	}
	return c
}

// prefixEnd returns the first key after all keys with the prefix, or nil if no such key exists.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return nil
	}
	end[len(end)-1]++
	return end
}

// behind returns the part of the range that follows a key.
func (c keyRange) behind(key []byte) keyRange {
	if c.reverse {
		c.high, c.below = key, true
	} else {
		c.low, c.above = key, true
	}
	return c
}

func (c keyRange) sql() string {
	low, high, order := ">=", "<=", ""
	if c.above {
		low = ">"
	}
	if c.below {
		high = "<"
	}
	if c.reverse {
		order = " desc"
	}
	end := "($3::bytea is null or true)" // always true; it gives the parameter a type
	if c.high != nil {
		end = "key " + high + " $3"
	}
	// The view is one consistent state. Rows that expire while it is read can be missing.
	return "select key, value from rows where tbl = $1 and key " + low + " $2 and " + end + " and " + visible +
		" order by key" + order + " limit $4"
}

// Actors implements durable.Journal.
func (s *Store) Actors(prefix string, fn func(actor string) bool) error {
	if err := s.enterCall(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.view(func(v *view) error {
		low, high, from := []byte(prefix), prefixEnd([]byte(prefix)), ">="
		for {
			var page []string
			err := v.query("select actor from owners where actor "+from+" $1 and ($2::bytea is null or actor < $2)"+
				" and (head > 0 or exists (select from snapshots s where s.actor = owners.actor)) order by actor limit $3",
				func(rows pgx.Rows) error {
					var actor []byte
					err := rows.Scan(&actor)
					page = append(page, string(actor))
					return err
				}, low, high, maxPageRows)
			if err != nil {
				return err
			}
			for _, actor := range page {
				v.started = true
				if !fn(actor) {
					return nil
				}
			}
			if len(page) < maxPageRows {
				return nil
			}
			low, from = []byte(page[len(page)-1]), ">"
		}
	})
}

// sweep removes rows and tombstones that expired longer than Options.Remember ago, in small
// batches.
func (s *Store) sweep() {
	for s.rest(s.opts.SweepEvery) {
		for s.Holds() {
			tag, err := s.pool.Exec(s.ending, `delete from rows where ctid in (select ctid from rows
				where expires < clock_timestamp() - $1::interval order by expires limit $2 for update skip locked)`, s.opts.Remember, sweepRows)
			if err != nil && s.ending.Err() == nil {
				s.opts.Logger.Warn("removing expired rows failed", "error", translate(err))
			}
			if err != nil || tag.RowsAffected() < sweepRows {
				break
			}
		}
	}
}

const sweepRows = 500
