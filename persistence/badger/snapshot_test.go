package badger

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/persistence/layout"
)

// If a snapshot stops at any of its steps, one complete snapshot and the later records remain. The
// next snapshot removes all garbage.
func TestAnInterruptedSnapshotLeavesACompleteOne(t *testing.T) {
	oldState, newState := strings.Repeat("o", 2*layout.PartBytes), strings.Repeat("n", 3*layout.PartBytes+1)
	for _, step := range []string{stepPart, stepHead, stepTruncate, stepSweep} {
		for _, skip := range []int{0, 1, 3} {
			if skip > 0 && step != stepPart {
				continue
			}
			t.Run(fmt.Sprint(step, skip), func(t *testing.T) {
				dir := t.TempDir()
				crash := errors.New("crash")
				armed := make(chan int, 1)
				s := openTest(t, small(dir), hooks{snapshotStep: func(name string) error {
					select {
					case n := <-armed:
						if name != step || n > 0 {
							if name == step {
								n--
							}
							armed <- n
							return nil
						}
						return crash
					default:
						return nil
					}
				}})
				l := openLog(t, s, "codelab/1")
				for seq := uint64(1); seq <= 4; seq++ {
					if err := commit(l, seq, fmt.Sprint("r", seq)); err != nil {
						t.Fatal(err)
					}
				}
				if err := trySnap(l, 2, oldState, 2); err != nil {
					t.Fatal(err)
				}
				armed <- skip
				if err := trySnap(l, 4, newState, 4); !errors.Is(err, crash) {
					t.Fatalf("the interrupted snapshot returned %v", err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}

				s = openTest(t, small(dir), hooks{})
				l = openLog(t, s, "codelab/1")
				whole, err := journaltest.ReadWhole(l, 0)
				if err != nil || (string(whole.State) != oldState || whole.Seq != 2) && (string(whole.State) != newState || whole.Seq != 4) {
					t.Fatalf("loaded %d bytes at %d: %v", len(whole.State), whole.Seq, err)
				}
				if uint64(len(whole.Records)) != 4-whole.Seq {
					t.Fatalf("the records %v after position %d", whole.Records, whole.Seq)
				}
				if err := trySnap(l, 4, newState, 4); err != nil {
					t.Fatal(err)
				}
				if whole := load(t, l); whole.Seq != 4 || string(whole.State) != newState {
					t.Fatalf("after another snapshot: %d bytes at %d", len(whole.State), whole.Seq)
				}
				if n := keys(t, s, layout.ActorPrefix(layout.FamilyPart, "codelab/1")); n != 4 {
					t.Errorf("%d parts are left", n)
				}
				if n := keys(t, s, layout.ActorPrefix(layout.FamilyChunk, "codelab/1")); n != 0 {
					t.Errorf("%d chunks are left", n)
				}
			})
		}
	}
}

// Of several waiting snapshots, only the newest is stored.
func TestOnlyTheNewestWaitingSnapshotIsStored(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := openTest(t, small(t.TempDir()), hooks{snapshotStep: func(string) error {
		once.Do(func() {
			close(started)
			<-release
		})
		return nil
	}})
	l := openLog(t, s, "codelab/1")
	if err := commit(l, 1, "r"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 100)
	snapshot := func(state string) {
		t.Helper()
		if err := l.Snapshot(1, []byte(state), 0, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
	}
	snapshot("first")
	<-started
	for i := range 50 {
		snapshot(fmt.Sprint("state ", i))
	}
	// This later commit proves that the writer has passed on all of them, and that commits do not
	// wait for snapshots.
	if err := commit(l, 2, "r"); err != nil {
		t.Fatal(err)
	}
	close(release)
	for range 51 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if st := s.Stats(); st.Snapshots != 2 || st.SnapshotBytes != 0 {
		t.Errorf("stats %+v", st)
	}
	if whole := load(t, l); string(whole.State) != "state 49" {
		t.Errorf("loaded %q", whole.State)
	}
}

// If an incarnation is replaced while its snapshot waits, the snapshot must not shorten the log
// between Load and Replay of the new incarnation.
func TestASnapshotOfAFencedHandleIsNotStored(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := openTest(t, small(t.TempDir()), hooks{snapshotStep: func(string) error {
		once.Do(func() {
			close(started)
			<-release
		})
		return nil
	}})
	other, old := openLog(t, s, "other"), openLog(t, s, "codelab/1")
	for _, l := range []durable.Log{other, old} {
		if err := commit(l, 1, "r"); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Snapshot(1, []byte("state"), 1, nil); err != nil {
		t.Fatal(err)
	}
	<-started
	done := make(chan error, 1)
	if err := old.Snapshot(1, []byte("state"), 1, func(err error) { done <- err }); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, s, "codelab/1")
	close(release)
	if err := <-done; !errors.Is(err, durable.ErrFenced) {
		t.Fatalf("the snapshot of the fenced handle returned %v, want ErrFenced", err)
	}
	if got := replayed(t, l); got != "1 r." {
		t.Fatalf("replayed %q", got)
	}
}

func TestSnapshotQueueIsBounded(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	o := small(t.TempDir())
	o.SnapshotQueueBytes = 1000
	s := openTest(t, o, hooks{snapshotStep: func(string) error {
		once.Do(func() {
			close(started)
			<-release
		})
		return nil
	}})
	a, b := openLog(t, s, "a"), openLog(t, s, "b")
	for _, l := range []durable.Log{a, b} {
		if err := commit(l, 1, "r"); err != nil {
			t.Fatal(err)
		}
	}
	// A snapshot larger than the bound is accepted if no other snapshot waits.
	if err := a.Snapshot(1, make([]byte, 2000), 0, nil); err != nil {
		t.Fatal(err)
	}
	<-started
	if err := b.Snapshot(1, make([]byte, 10), 0, nil); !errors.Is(err, durable.ErrBusy) {
		t.Fatalf("a snapshot beyond the limit returned %v, want ErrBusy", err)
	}
	close(release)
}
