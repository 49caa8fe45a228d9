package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/persistence/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemoryConforms(t *testing.T) {
	opened := make(map[string]*memory.Store)
	journaltest.Run(t, func(_ testing.TB, dir string) journaltest.Journal {
		if m := opened[dir]; m != nil {
			opened[dir] = m.Reopen()
		} else {
			opened[dir] = memory.New()
			opened[dir].SetQueueBytes(4 << 20)
		}
		return opened[dir]
	})
}

// A node of a database satisfies the contract of a journal. Several nodes satisfy the contract of a
// store that nodes share.
func TestNodesConform(t *testing.T) {
	databases := map[string]*memory.Database{}
	node := func(t testing.TB, dir, name string) *memory.Node {
		if databases[dir] == nil {
			databases[dir] = memory.NewDatabase()
		}
		n, err := databases[dir].Start(context.Background(), name, memory.NodeOptions{Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Run("one node", func(t *testing.T) {
		journaltest.Run(t, func(t testing.TB, dir string) journaltest.Journal {
			n := node(t, dir, "a")
			n.SetQueueBytes(4 << 20)
			return n
		})
	})
	t.Run("several nodes", func(t *testing.T) {
		journaltest.RunShared(t, func(t testing.TB, dir, name string) journaltest.Shared { return node(t, dir, name) })
	})
}

func append1(t *testing.T, l durable.Log, seq uint64) chan error {
	t.Helper()
	done := make(chan error, 1)
	err := l.Append(durable.Batch{
		First:   seq,
		Records: durable.Records(nil).Add([]byte("r")),
		Done:    func(err error) { done <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func open(t *testing.T, j durable.Journal) durable.Log {
	t.Helper()
	l, err := j.Open("codelab/1")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func count(t *testing.T, l durable.Log) (n int) {
	t.Helper()
	if err := l.Replay(0, func(uint64, []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFailCommitsFailsTheNextCommit(t *testing.T) {
	m := memory.New()
	defer func() { _ = m.Close() }()
	disk := errors.New("disk on fire")
	l := open(t, m)
	m.FailCommits(1, disk)
	if err := <-append1(t, l, 1); !errors.Is(err, disk) {
		t.Fatalf("the failed commit returned %v", err)
	}
	if err := <-append1(t, l, 1); !errors.Is(err, durable.ErrGap) {
		t.Fatalf("a batch after a failed one: got %v, want ErrGap", err)
	}
	l = open(t, m)
	if err := <-append1(t, l, 1); err != nil {
		t.Fatal(err)
	}
}

func TestHoldDelaysCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New()
		defer func() { _ = m.Close() }()
		l := open(t, m)
		release := m.Hold()
		done := append1(t, l, 1)
		synctest.Wait()
		if len(done) != 0 || count(t, l) != 0 || m.Queued() != 1 {
			t.Fatal("committed during a hold")
		}
		release()
		release()
		if err := <-done; err != nil || count(t, l) != 1 {
			t.Fatalf("after the hold: %v, %d records", err, count(t, l))
		}
	})
}

func TestCrashLosesQueuedBatches(t *testing.T) {
	m := memory.New()
	l := open(t, m)
	if err := <-append1(t, l, 1); err != nil {
		t.Fatal(err)
	}
	m.Hold()
	lost := append1(t, l, 2)
	m = m.Crash()
	defer func() { _ = m.Close() }()
	if n := count(t, open(t, m)); n != 1 || len(lost) != 0 {
		t.Fatalf("%d records and %d callbacks after the crash", n, len(lost))
	}
}

func TestAReadOnlyMemoryRefusesWrites(t *testing.T) {
	m := memory.New()
	defer func() { _ = m.Close() }()
	m.SetReadOnly(true)
	if err := m.Append(nil, nil); !errors.Is(err, durable.ErrReadOnly) {
		t.Fatalf("appending while read-only returned %v, want ErrReadOnly", err)
	}
	m.SetReadOnly(false)
	if err := m.Append(nil, nil); err != nil {
		t.Fatal(err)
	}
}

func TestRowsExpireAfterTheirTimeToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New()
		defer func() { _ = m.Close() }()
		done := make(chan error, 1)
		row := durable.Row{Table: "session", Key: []byte("k"), Value: []byte("v"), TTL: time.Minute}
		if err := m.Append([]durable.Row{row}, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, err := m.Get("session", []byte("k")); err != nil {
			t.Fatalf("expired too early: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := m.Get("session", []byte("k")); !errors.Is(err, durable.ErrNotFound) {
			t.Fatalf("not expired: %v, want ErrNotFound", err)
		}
	})
}

func TestStatsCountCommittedBatches(t *testing.T) {
	m := memory.New()
	defer m.Close()
	l := open(t, m)
	m.FailCommits(1, errors.New("no"))
	if err := <-append1(t, l, 1); err == nil {
		t.Fatal("the commit did not fail")
	}
	l = open(t, m)
	if err := <-append1(t, l, 1); err != nil {
		t.Fatal(err)
	}
	if s := m.Stats(); s.Commits != 1 || s.FailedCommits != 1 || s.Records != 1 || s.ReadOnly {
		t.Errorf("the stats are %+v", s)
	}
	other, again := memory.New(), m.Reopen()
	defer other.Close()
	defer again.Close()
	if id := m.StreamID(); len(id) != 32 || id == other.StreamID() || id != again.StreamID() {
		t.Errorf("the stream is %q", id)
	}
}
