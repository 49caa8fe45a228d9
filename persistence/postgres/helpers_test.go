package postgres

import (
	"testing"

	"atelier/actors/durable"
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
func commit(l durable.Log, seq uint64, record string) error {
	done := make(chan error, 1)
	err := l.Append(durable.Batch{First: seq, Records: one(record), Done: func(err error) { done <- err }})
	if err != nil {
		return err
	}
	return <-done
}

func snap(t testing.TB, l durable.Log, seq uint64, state string, keep uint64) {
	t.Helper()
	done := make(chan error, 1)
	err := l.Snapshot(seq, []byte(state), keep, func(err error) { done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
}

func row(key, value string) durable.Row {
	return durable.Row{Table: "t", Key: []byte(key), Value: []byte(value)}
}

func put(t testing.TB, s durable.Journal, rows ...durable.Row) {
	t.Helper()
	if err := durable.Commit(s, rows); err != nil {
		t.Fatal(err)
	}
}
