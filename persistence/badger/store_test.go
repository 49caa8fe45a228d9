package badger

import (
	"testing"

	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
)

func TestMain(m *testing.M) {
	if runAsChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

// small returns options for tests: little memory, and a queue that fills up.
func small(dir string) Options {
	return Options{Dir: dir, MemTableBytes: 16 << 20, BlockCacheBytes: 4 << 20, StoreLimits: durable.StoreLimits{QueueBytes: 4 << 20}}
}

func TestConformance(t *testing.T) {
	journaltest.Run(t, func(t testing.TB, dir string) journaltest.Journal {
		s, err := Open(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// openTest opens a store and closes it after the test.
func openTest(t testing.TB, o Options, h hooks) *Store {
	t.Helper()
	s, err := open(o, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
