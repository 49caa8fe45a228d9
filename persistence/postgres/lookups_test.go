package postgres

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// Lookups that arrive during a statement share the next statement. Each gets its own row or error.
func TestLookupsShareAStatement(t *testing.T) {
	url := postgrestest.Database(t)
	// The test counts statements, so nothing else sends any.
	s := openTest(t, Options{URL: url, Node: "a", SweepEvery: time.Hour})
	const callers = 300
	for i := range callers {
		if i%3 > 0 {
			put(t, s, row(fmt.Sprint(i), fmt.Sprint("value of ", i)))
		}
	}
	postgrestest.Exec(t, url, "update atelier.rows set value = value || 'x' where key = '4'")
	l := s.lookups
	l.mu.Lock()
	l.asking += maxAsking // simulates that this many statements are in progress
	l.mu.Unlock()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			value, err := s.Get("t", []byte(fmt.Sprint(i)))
			switch {
			case i == 4:
				if !errors.Is(err, durable.ErrCorrupt) {
					t.Errorf("the damaged row: %q %v, want ErrCorrupt", value, err)
				}
			case i%3 == 0:
				if !errors.Is(err, durable.ErrNotFound) {
					t.Errorf("the missing row %d: %q %v, want ErrNotFound", i, value, err)
				}
			case err != nil || string(value) != fmt.Sprint("value of ", i):
				t.Errorf("row %d: %q %v", i, value, err)
			}
		})
	}
	for waiting := 0; waiting < callers; runtime.Gosched() {
		l.mu.Lock()
		waiting = len(l.waiting)
		l.mu.Unlock()
	}
	before := s.pool.Stat().AcquireCount()
	for range maxAsking {
		l.run()
	}
	all.Wait()
	if asked := s.pool.Stat().AcquireCount() - before; asked != 3 {
		t.Errorf("%d statements for %d rows, want 3 statements", asked, callers)
	}
	if l.asking != 0 {
		t.Errorf("%d lookups are still running", l.asking)
	}
}

// A failed lookup must not report a missing row. Otherwise, for instance, an ended session would
// count as open.
func TestAFailedLookupIsNotAMissingRow(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	put(t, s, row("k", "v"))
	postgrestest.Exec(t, url, "alter table atelier.rows rename to away")
	if value, err := s.Get("t", []byte("k")); err == nil || errors.Is(err, durable.ErrNotFound) {
		t.Errorf("a failed lookup returned %q, %v", value, err)
	}
	postgrestest.Exec(t, url, "alter table atelier.away rename to rows")
	if value, err := s.Get("t", []byte("k")); err != nil || string(value) != "v" {
		t.Errorf("the next lookup returned %q, %v", value, err)
	}
}

// BenchmarkGet measures the store's part of token and session lookups.
func BenchmarkGet(b *testing.B) {
	s := openTest(b, Options{URL: postgrestest.Database(b)})
	for i := range 1000 {
		put(b, s, row(fmt.Sprint(i), "value"))
	}
	b.ResetTimer()
	var all sync.WaitGroup
	const callers = 64
	for c := range callers {
		all.Go(func() {
			for i := range b.N / callers {
				if _, err := s.Get("t", fmt.Append(nil, (c*31+i)%1000)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
