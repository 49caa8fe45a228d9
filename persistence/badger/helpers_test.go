package badger

import (
	"fmt"
	"testing"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
)

func one(record string) durable.Records { return durable.Records(nil).Add([]byte(record)) }

func openLog(t testing.TB, s *Store, actor string) durable.Log {
	t.Helper()
	l, err := s.Open(actor)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// commit appends one record and waits.
func commit(l durable.Log, seq uint64, record string, rows ...durable.Row) error {
	done := make(chan error, 1)
	err := l.Append(durable.Batch{First: seq, Records: one(record), Rows: rows, Done: func(err error) { done <- err }})
	if err != nil {
		return err
	}
	return <-done
}

// add appends one record through a new handle.
func add(t testing.TB, s *Store, actor string, seq uint64, record string) {
	t.Helper()
	l := openLog(t, s, actor)
	defer l.Close()
	if err := commit(l, seq, record); err != nil {
		t.Fatal(err)
	}
}

func trySnap(l durable.Log, seq uint64, state string, keep uint64) error {
	done := make(chan error, 1)
	if err := l.Snapshot(seq, []byte(state), keep, func(err error) { done <- err }); err != nil {
		return err
	}
	return <-done
}

// snap stores a snapshot that keeps the records.
func snap(t testing.TB, s *Store, actor string, seq uint64, state string) {
	t.Helper()
	l := openLog(t, s, actor)
	defer l.Close()
	if err := trySnap(l, seq, state, 0); err != nil {
		t.Fatal(err)
	}
}

func putRow(t testing.TB, s *Store, table, key, value string) {
	t.Helper()
	done := make(chan error, 1)
	err := s.Append([]durable.Row{{Table: table, Key: []byte(key), Value: []byte(value)}}, func(err error) { done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
}

// replayed returns the whole log as "seq record.seq record."
func replayed(t testing.TB, l durable.Log) string {
	t.Helper()
	var all []byte
	for _, r := range load(t, l).Records {
		all = fmt.Appendf(all, "%s.", r)
	}
	return string(all)
}

// load reads a whole log.
func load(t testing.TB, l durable.Log) journaltest.Whole {
	t.Helper()
	whole, err := journaltest.ReadWhole(l, journaltest.Everything)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// keys counts the stored keys with a prefix.
func keys(t testing.TB, s *Store, prefix []byte) (n int) {
	t.Helper()
	if err := s.eachKey(prefix, func([]byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func row(table, key string) durable.Row {
	return durable.Row{Table: table, Key: []byte(key), Value: []byte("v")}
}
