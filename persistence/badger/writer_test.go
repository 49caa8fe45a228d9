package badger

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// blockCommits returns hooks that block the first commit after the commits of openMeta. All items
// queued meanwhile become one group.
func blockCommits() (h hooks, held, release chan struct{}, sizes *[]int) {
	held, release = make(chan struct{}), make(chan struct{})
	sizes = new([]int)
	opened := false
	h.beforeCommit = func(entries int) error {
		if !opened {
			opened = true
			return nil
		}
		*sizes = append(*sizes, entries)
		if len(*sizes) == 1 {
			close(held)
			<-release
		}
		return nil
	}
	return h, held, release, sizes
}

// Waiting batches of one log become one chunk, and the whole group becomes one transaction.
func TestWaitingBatchesShareAChunk(t *testing.T) {
	h, held, release, sizes := blockCommits()
	s := openTest(t, small(t.TempDir()), h)
	a, b := openLog(t, s, "a"), openLog(t, s, "b")
	done := make(chan error, 100)
	push := func(l durable.Log, seq uint64) {
		t.Helper()
		if err := l.Append(durable.Batch{First: seq, Records: one(fmt.Sprint("r", seq)), Done: func(err error) { done <- err }}); err != nil {
			t.Fatal(err)
		}
	}
	push(a, 1)
	<-held
	for seq := uint64(2); seq <= 10; seq++ {
		push(a, seq)
		push(b, seq-1)
	}
	close(release)
	for range 19 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(*sizes); got != "[1 2]" {
		t.Errorf("the transactions have %s entries", got)
	}
	if n := keys(t, s, layout.ActorPrefix(layout.FamilyChunk, "a")); n != 2 {
		t.Errorf("%d chunks, want 2", n)
	}
	if got := replayed(t, a); got != "1 r1.2 r2.3 r3.4 r4.5 r5.6 r6.7 r7.8 r8.9 r9.10 r10." {
		t.Errorf("replayed %q", got)
	}
	if st := s.Stats(); st.Commits != 2 || st.Batches != 19 || st.Records != 19 || st.QueueBytes != 0 || st.QueueBatches != 0 || st.PeakCommit == 0 {
		t.Errorf("stats %+v", st)
	}
}

// A group that is too large for one transaction is split, but never inside a batch: the
// rows of a batch are all stored or none.
func TestLargeGroupsAreSplitBetweenBatches(t *testing.T) {
	h, held, release, sizes := blockCommits()
	failed := errors.New("injected")
	inner := h.beforeCommit
	h.beforeCommit = func(entries int) error {
		if err := inner(entries); err != nil {
			return err
		}
		if len(*sizes) == 3 { // the second transaction of the split group
			return failed
		}
		return nil
	}
	o := small(t.TempDir())
	o.QueueBytes = 64 << 20
	s := openTest(t, o, h)
	l := openLog(t, s, "codelab/1")
	first := make(chan error, 1)
	if err := l.Append(durable.Batch{First: 1, Records: one("r"), Done: func(err error) { first <- err }}); err != nil {
		t.Fatal(err)
	}
	<-held
	const batches, rows = 20, 10
	results := make([]error, batches+1)
	all := make(chan struct{})
	value := bytes.Repeat([]byte("v"), 64<<10)
	for i := 1; i <= batches; i++ {
		b := durable.Batch{First: uint64(i + 1), Records: one("r"), Done: func(err error) {
			results[i] = err
			if i == batches {
				close(all)
			}
		}}
		for r := range rows {
			b.Rows = append(b.Rows, durable.Row{Table: "t", Key: fmt.Appendf(nil, "%d/%d", i, r), Value: value})
		}
		if err := l.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	<-all
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if len(*sizes) != 3 {
		t.Errorf("the transactions have %v entries; none may follow the failed one", *sizes)
	}
	committed := 0
	for i := 1; i <= batches; i++ {
		var found int
		err := s.Scan(durable.Scan{Table: "t", Prefix: fmt.Appendf(nil, "%d/", i)}, func(_, _ []byte) bool { found++; return true })
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case results[i] == nil && found == rows && committed == i-1:
			committed++
		case results[i] != nil && found == 0:
		default:
			t.Errorf("batch %d ended with %v and left %d rows", i, results[i], found)
		}
	}
	if committed == 0 || committed == batches || !errors.Is(results[committed+1], failed) || !errors.Is(results[batches], durable.ErrGap) {
		t.Errorf("%d batches were committed, the next: %v; the last: %v", committed, results[committed+1], results[batches])
	}
	if st := s.Stats(); st.FailedCommits != 1 || st.Failed != nil {
		t.Errorf("stats %+v", st)
	}
}

// A failed commit fails its batches, and their handles accept no more batches.
func TestFailedCommitFailsItsBatches(t *testing.T) {
	fail := make(chan error, 1)
	s := openTest(t, small(t.TempDir()), hooks{beforeCommit: func(int) error {
		select {
		case err := <-fail:
			return err
		default:
			return nil
		}
	}})
	a, b := openLog(t, s, "a"), openLog(t, s, "b")
	injected := errors.New("injected")
	fail <- injected
	if err := commit(a, 1, "lost"); !errors.Is(err, injected) {
		t.Fatalf("the failed commit returned %v", err)
	}
	if err := commit(a, 1, "again"); !errors.Is(err, durable.ErrGap) || !errors.Is(err, injected) {
		t.Fatalf("appending after a failed batch: got %v", err)
	}
	if err := trySnap(a, 0, "state", 0); err == nil {
		t.Fatal("a snapshot of a state that was never committed was stored")
	}
	if err := commit(b, 1, "fine"); err != nil {
		t.Fatal(err)
	}
	if err := commit(openLog(t, s, "a"), 1, "new"); err != nil {
		t.Fatal(err)
	}
}

// Append refuses batches that Badger would refuse, so no transaction exceeds Badger's limit after
// it has begun.
func TestBatchesBeyondBadgersLimitAreRefused(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	for _, size := range []int{0, 1, 100, 10_000, int(s.costs.threshold) - layout.SealBytes - 1, int(s.costs.threshold)} {
		l := openLog(t, s, fmt.Sprint("codelab/", size))
		cost, held := s.costs.batch("codelab/1234567", durable.Batch{Records: one("r")}), 0
		var rows []durable.Row
		for value := make([]byte, size); ; {
			next := []durable.Row{{Table: "t", Key: fmt.Appendf(nil, "%d/%d", size, len(rows)), Value: value}}
			cost = cost.plus(s.costs.rows(next))
			if held += rowBytes(next); !s.costs.fits(cost) || held > MaxBatchBytes-1000 {
				break
			}
			rows = append(rows, next...)
		}
		if err := commit(l, 1, "r", rows...); err != nil {
			t.Errorf("%d rows of %d bytes: %v", len(rows), size, err)
		}
		more := append(rows, rows...)
		if err := commit(l, 2, "r", more...); !errors.Is(err, durable.ErrTooLarge) {
			t.Errorf("twice as many rows: %v, want ErrTooLarge", err)
		}
	}
}

func TestRowsExpire(t *testing.T) {
	now := time.Unix(1000, 1)
	for ttl, want := range map[time.Duration]uint64{
		0: 0, time.Nanosecond: 1001, time.Second - 1: 1001, time.Second: 1002, time.Minute: 1061,
	} {
		if got := expiresAt(now, ttl); got != want {
			t.Errorf("ttl %v: got %d, want %d", ttl, got, want)
		}
	}

	s := openTest(t, small(t.TempDir()), hooks{})
	began := time.Now()
	done := make(chan error, 1)
	err := s.Append([]durable.Row{{Table: "t", Key: []byte("k"), TTL: time.Hour}}, func(err error) { done <- err })
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	err = s.view(func(txn *badgerdb.Txn) error {
		item, err := txn.Get(layout.AppendRowKey(nil, "t", []byte("k")))
		if err != nil {
			return err
		}
		if in := time.Unix(int64(item.ExpiresAt()), 0).Sub(began); in < time.Hour || in > time.Hour+time.Minute {
			t.Errorf("the row expires in %v", in)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnCommitReportsEachCommit(t *testing.T) {
	commits := make(chan Commit, 1)
	o := small(t.TempDir())
	o.OnCommit = func(c Commit) { commits <- c }
	s := openTest(t, o, hooks{})
	add(t, s, "codelab/1", 1, strings.Repeat("r", 1000))
	if c := <-commits; c.Batches != 1 || c.Records != 1 || c.Bytes < 1000 || c.Took <= 0 {
		t.Fatalf("the commit is %+v", c)
	}
}
