package badger

import (
	"errors"
	"fmt"
	"testing"

	"atelier/actors/durable"
)

// Truncation is flushed in parts. If a long log were truncated before its snapshot is stored, a
// crash would lose records.
func TestALargeLogIsNotTruncatedBeforeItsSnapshot(t *testing.T) {
	crash, armed := errors.New("crash"), false
	s := openTest(t, small(t.TempDir()), hooks{snapshotStep: func(step string) error {
		if armed && step == stepHead {
			return crash
		}
		return nil
	}})
	l := openLog(t, s, "codelab/1")
	const n = maxBulkEntries + 50
	for seq := uint64(1); seq <= n; seq++ {
		if err := commit(l, seq, "r"); err != nil {
			t.Fatal(err)
		}
	}
	armed = true
	if err := trySnap(l, n, "state", n); !errors.Is(err, crash) {
		t.Fatalf("the interrupted snapshot returned %v", err)
	}
	left := 0
	if err := l.Replay(0, func(uint64, []byte) error { left++; return nil }); err != nil || left != n {
		t.Fatalf("%d records remain without a snapshot, %v", left, err)
	}
}

// A newer incarnation has already read the log, so a waiting snapshot of the older incarnation must
// not shorten the log.
func TestAWaitingSnapshotOfAFencedHandleIsNotStored(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	first := true
	s := openTest(t, small(t.TempDir()), hooks{snapshotStep: func(string) error {
		if first {
			first = false
			close(began)
			<-goOn
		}
		return nil
	}})
	other, old := openLog(t, s, "codelab/other"), openLog(t, s, "codelab/1")
	if err := errors.Join(commit(other, 1, "r"), commit(old, 1, "a"), commit(old, 2, "b")); err != nil {
		t.Fatal(err)
	}
	others, olds := make(chan error, 1), make(chan error, 1)
	if err := other.Snapshot(1, []byte("state"), 0, func(err error) { others <- err }); err != nil {
		t.Fatal(err)
	}
	<-began // now the only goroutine that stores snapshots is busy
	if err := old.Snapshot(2, []byte("late"), 2, func(err error) { olds <- err }); err != nil {
		t.Fatal(err)
	}
	// After a later commit is done, the writer has passed on the snapshot.
	if err := commit(other, 2, "r"); err != nil {
		t.Fatal(err)
	}
	fresh := openLog(t, s, "codelab/1")
	close(goOn)
	if err := <-others; err != nil {
		t.Fatal(err)
	}
	if err := <-olds; !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the snapshot of the fenced handle ended with %v, want ErrFenced", err)
	}
	if whole := load(t, fresh); whole.State != nil || whole.Seq != 0 {
		t.Errorf("loaded %q at %d", whole.State, whole.Seq)
	}
	if got := fmt.Sprint(replayed(t, fresh)); got != "1 a.2 b." {
		t.Errorf("replayed %q", got)
	}
}
