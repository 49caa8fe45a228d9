package badger

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
)

// BenchmarkAppend is a closed loop. Each log has one caller, which appends its next batch
// once the last one is on disk, like a client that waits for its response.
//
// With records of 150 B, on a machine with 3,500 to 5,000 syncs/s and 2 cores, which the callers
// share:
//
//	logs   records   batches     records/s   relative to
//	       /batch    /commit                 the first row
//	   1         1          1         4,000     1
//	   1         8          1        33,000     8
//	  64         1         32        80,000    20
//	  64         8         31       300,000    75
//	 512         1        275       200,000    50
//	 512         8        260       400,000   100 and more
//
// Up to 64 logs the sync is the limit, at 512 logs the processor. This package takes 13 % of the
// processor time. Badger's skip list, its log, and writing tables take the rest.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct{ logs, batch int }{{1, 1}, {1, 8}, {64, 1}, {64, 8}, {512, 1}, {512, 8}} {
		b.Run(fmt.Sprintf("logs=%d/records=%d", c.logs, c.batch), func(b *testing.B) {
			benchmarkAppend(b, c.logs, c.batch)
		})
	}
}

func benchmarkAppend(b *testing.B, logs, size int) {
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	var records durable.Records
	for range size {
		records = records.Add(make([]byte, 150))
	}
	handles := make([]durable.Log, logs)
	for i := range handles {
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

// BenchmarkRecover measures a restart for each actor: open its log, load the snapshot, and replay
// the later records. Result: 26,000 actors/s with 100 records each, sequentially.
func BenchmarkRecover(b *testing.B) {
	const actors, records = 1000, 100
	dir := b.TempDir()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	var run durable.Records
	for range records {
		run = run.Add(make([]byte, 150))
	}
	var all sync.WaitGroup
	for i := range actors {
		l := openLog(b, s, fmt.Sprint("codelab/", i))
		all.Add(1)
		if err := l.Append(durable.Batch{First: 1, Records: run, Done: func(error) { all.Done() }}); err != nil {
			b.Fatal(err)
		}
	}
	all.Wait()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	s = openTest(b, Options{Dir: dir}, hooks{})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 1) % actors
		l := openLog(b, s, fmt.Sprint("codelab/", i))
		n := 0
		if err := l.Load(0, func(durable.Snapshot) error { return nil }, func(uint64, []byte) error { n++; return nil }); err != nil || n != records {
			b.Fatal(n, err)
		}
		l.Close()
	}
}

// BenchmarkLargeRecord appends records that are stored in parts, sequentially.
func BenchmarkLargeRecord(b *testing.B) {
	for _, size := range []int{2 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("MiB=%d", size>>20), func(b *testing.B) {
			s := openTest(b, Options{Dir: b.TempDir() + "/store"}, hooks{})
			l := openLog(b, s, "codelab/1")
			record := string(make([]byte, size))
			b.SetBytes(int64(size))
			b.ResetTimer()
			for seq := uint64(1); seq <= uint64(b.N); seq++ {
				if err := commit(l, seq, record); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
		})
	}
}

// BenchmarkOpen opens a store whose tables are in the page cache.
func BenchmarkOpen(b *testing.B) {
	const rows, size = 100_000, 4 << 10
	dir := b.TempDir() + "/store"
	s, err := Open(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range rows {
		all.Add(1)
		row := durable.Row{Table: "t", Key: fmt.Appendf(nil, "%08d", i), Value: make([]byte, size)}
		for {
			err := s.Append([]durable.Row{row}, func(error) { all.Done() })
			if err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	all.Wait()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(rows * size)
	for b.Loop() {
		s, err := Open(Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
