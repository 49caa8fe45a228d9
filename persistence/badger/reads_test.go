package badger

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// A look-up after an acknowledged commit returns the new value, however many look-ups share a view.
func TestALookupSeesEarlierCommits(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			key := []byte(fmt.Sprint(worker))
			for n := range uint64(300) {
				value := binary.BigEndian.AppendUint64(nil, n)
				if err := durable.Commit(s, []durable.Row{{Table: "t", Key: key, Value: value}}); err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if got, err := s.Get("t", key); err != nil || string(got) != string(value) {
						t.Errorf("read %x after %x was committed: %v", got, value, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// An unused view ends with the next commit. While a view is open, Badger keeps all data that was
// replaced since the view began.
func TestAnUnusedViewEndsWithTheNextCommit(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put := func() {
		t.Helper()
		if err := durable.Commit(s, []durable.Row{{Table: "t", Key: []byte("k"), Value: []byte("v")}}); err != nil {
			t.Fatal(err)
		}
	}
	put()
	if _, err := s.Get("t", []byte("k")); err != nil {
		t.Fatal(err)
	}
	view := s.reads.current.Load()
	if view == nil || view.users.Load() != 1 {
		t.Fatal("there is no shared view")
	}
	held := s.reads.enter()
	put()
	if s.reads.current.Load() != nil || view.users.Load() != 1 {
		t.Error("the old view is still offered")
	}
	if _, err := getValue(held.txn, layout.AppendRowKey(nil, "t", []byte("k"))); err != nil {
		t.Errorf("a reader of the old view: %v", err)
	}
	held.leave()
	if view.users.Load() != 0 || view.enter() {
		t.Error("an ended view could be entered")
	}
}

func BenchmarkGet(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := durable.Commit(s, []durable.Row{{Table: "t", Key: []byte("k"), Value: make([]byte, 300)}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := s.Get("t", []byte("k")); err != nil {
				b.Error(err)
			}
		}
	})
}
