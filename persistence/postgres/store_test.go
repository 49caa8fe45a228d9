package postgres

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/persistence/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	postgrestest.Stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println("goroutines are left:", err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// small returns test options with a queue that fills up.
func small(url string) Options {
	return Options{URL: url, StoreLimits: durable.StoreLimits{QueueBytes: 4 << 20}}
}

func TestConformance(t *testing.T) {
	journaltest.Run(t, func(t testing.TB, dir string) journaltest.Journal {
		o := small(postgrestest.In(t, dir))
		o.Lease = 30 * time.Second // long, because test machines can be busy
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// openTest opens a store and closes it after the test.
func openTest(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Lease == 0 {
		o.Lease = 30 * time.Second // long, because test machines can be busy
	}
	s, err := Open(o)
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
