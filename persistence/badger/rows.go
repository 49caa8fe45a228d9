package badger

import (
	"bytes"
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// Append implements durable.Journal.
func (s *Store) Append(rows []durable.Row, done func(error)) error {
	if err := layout.CheckRows(rows); err != nil {
		return err
	}
	return s.push(item{
		entry:  entry{Kind: calls.KindRows, Rows: rows, Preconditions: durable.Guarded(rows), Bytes: rowBytes(rows) + batchOverhead, Done: done},
		urgent: durable.Urgent(rows),
		cost:   s.costs.rows(rows),
	})
}

// Get implements durable.Journal. The result includes every write acknowledged earlier.
func (s *Store) Get(table string, key []byte) ([]byte, error) {
	if err := layout.CheckTable(table); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	var value []byte
	err := s.health.read(func() (err error) {
		v := s.reads.enter()
		defer v.leave()
		value, err = getValue(v.txn, layout.AppendRowKey(make([]byte, 0, 2+len(table)+len(key)), table, key))
		return err
	})
	return value, err
}

// checkPreconditions evaluates the preconditions of rows in txn, which includes its own
// uncommitted writes.
func checkPreconditions(txn *badgerdb.Txn, rows []durable.Row) error {
	var key []byte
	for i := range rows {
		r := &rows[i]
		if r.Precondition.Kind() == durable.NoPrecondition {
			continue
		}
		key = layout.AppendRowKey(key[:0], r.Table, r.Key)
		if err := r.Precondition.Holds(getValue(txn, key)); err != nil {
			return err
		}
	}
	return nil
}

// getValue returns a copy of the value under key, without its seal, or ErrNotFound.
func getValue(txn *badgerdb.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badgerdb.ErrKeyNotFound) {
		return nil, durable.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("badger: get an entry of %s: %w", layout.Describe(key), err)
	}
	var content []byte
	err = viewValue(txn, item, func(value []byte) error {
		payload, err := layout.Unseal(key, value)
		// The result is never nil, because a row with an empty value exists.
		content = append([]byte{}, payload...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Scan implements durable.Journal.
func (s *Store) Scan(q durable.Scan, fn func(key, value []byte) bool) error {
	if err := layout.CheckTable(q.Table); err != nil {
		return err
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.view(func(txn *badgerdb.Txn) error {
		table := layout.AppendRowKey(nil, q.Table, nil)
		prefix := layout.AppendRowKey(nil, q.Table, q.Prefix)
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: table, Reverse: q.Reverse})
		defer it.Close()
		for seekRows(it, q, prefix); it.ValidForPrefix(prefix); it.Next() {
			item := it.Item()
			more := false
			err := viewValue(txn, item, func(value []byte) error {
				payload, err := layout.Unseal(item.Key(), value)
				if err == nil {
					more = fn(item.Key()[len(table):], payload)
				}
				return err
			})
			if err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// seekRows moves to the first row of the scan.
func seekRows(it *badgerdb.Iterator, q durable.Scan, prefix []byte) {
	from := layout.AppendRowKey(nil, q.Table, q.From)
	if !q.Reverse {
		if bytes.Compare(from, prefix) < 0 {
			from = prefix
		}
		it.Seek(from)
		return
	}
	end := layout.PrefixEnd(prefix)
	if q.From != nil && bytes.Compare(from, end) < 0 {
		it.Seek(from)
		return
	}
	it.Seek(end)
	// The seek can stop at the key end itself, which belongs to another prefix.
	if it.Valid() && bytes.Equal(it.Item().Key(), end) {
		it.Next()
	}
}
