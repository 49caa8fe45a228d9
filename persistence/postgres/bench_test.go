package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// BenchmarkAppend is a closed loop. Each log has one caller. Like a client that waits for its
// response, the caller appends its next batch once the last one is on disk. Records have 150 bytes.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct{ logs, batch int }{{1, 1}, {1, 8}, {64, 1}, {64, 8}, {512, 8}} {
		b.Run(fmt.Sprintf("logs=%d/records=%d", c.logs, c.batch), func(b *testing.B) {
			benchmarkAppend(b, c.logs, c.batch)
		})
	}
}

func benchmarkAppend(b *testing.B, logs, size int) {
	s := openTest(b, Options{URL: postgrestest.Database(b)})
	var records durable.Records
	for range size {
		records = records.Add(make([]byte, 150))
	}
	handles := make([]durable.Log, logs)
	for i := range handles {
		var err error
		if handles[i], err = s.Open(fmt.Sprintf("codelab/%06d", i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	began := time.Now()
	var all sync.WaitGroup
	for i, l := range handles {
		n := b.N / logs
		if i < b.N%logs {
			n++
		}
		all.Go(func() {
			done := make(chan error, 1)
			for seq := uint64(1); n > 0; n, seq = n-1, seq+uint64(size) {
				err := l.Append(durable.Batch{First: seq, Records: records, Done: func(err error) { done <- err }})
				if err == nil {
					err = <-done
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began).Seconds()
	b.ReportMetric(float64(b.N*size)/took, "records/s")
	st := s.Stats()
	b.ReportMetric(float64(st.Batches)/float64(max(st.Commits, 1)), "batches/commit")
}

// BenchmarkGuarded measures the store's part of using a token: it changes one row if it is
// unchanged, requires another row to be absent, and adds a third.
func BenchmarkGuarded(b *testing.B) {
	s := openTest(b, Options{URL: postgrestest.Database(b)})
	const callers = 64
	b.ResetTimer()
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			key, before := fmt.Appendf(nil, "token-%d", c), []byte("0")
			if err := durable.Commit(s, []durable.Row{{Table: "tokens", Key: key, Value: before}}); err != nil {
				b.Error(err)
			}
			for i := range b.N / callers {
				after := fmt.Append(nil, i+1)
				err := durable.Commit(s, []durable.Row{
					{Table: "tokens", Key: key, Value: after, Precondition: durable.Unchanged(before)},
					{Table: "sessions", Key: fmt.Append(nil, i%100), Precondition: durable.Absent(), CheckOnly: true},
					{Table: "audit", Key: fmt.Appendf(nil, "%d-%d", c, i), Value: make([]byte, 200)},
				})
				if err != nil {
					b.Error(err)
				}
				before = after
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "uses/s")
}
