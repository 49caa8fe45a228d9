package badger

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"atelier/actors/durable"
)

// childDir makes the test binary append to this folder until it is killed.
const childDir = "ATELIER_TEST_APPEND_TO"

// TestKill kills a process at random moments while it appends, and then verifies every record that
// was acknowledged. Unlike a power failure, a kill does not lose the kernel's memory, so it cannot
// show that writes are synced. TestBadgerSyncsWrites verifies the options that make Badger sync.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acked := make(map[string]uint64)
	for round := range 4 {
		acks := 50 + rand.IntN(3000)
		killChild(t, dir, acks, acked)
		s, err := Open(small(dir))
		if err != nil {
			t.Fatalf("round %d, after %d acks: %v", round, acks, err)
		}
		checkAcked(t, s, acked)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killChild starts a child and kills it after the given number of acks. It records in acked all
// acks that the child has written.
func killChild(t *testing.T, dir string, acks int, acked map[string]uint64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		var actor string
		var seq uint64
		// The kill can truncate the last line.
		if c, _ := fmt.Sscanf(lines.Text(), "%s %d.", &actor, &seq); c == 2 && lines.Bytes()[len(lines.Bytes())-1] == '.' {
			acked[actor] = seq
		}
		if n == acks {
			_ = child.Process.Kill()
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = child.Wait()
}

func checkAcked(t *testing.T, s *Store, acked map[string]uint64) {
	t.Helper()
	for actor, want := range acked {
		l, err := s.Open(actor)
		if err != nil {
			t.Fatal(err)
		}
		last := uint64(0)
		err = l.Load(0, func(s durable.Snapshot) error { last = s.Seq; return nil }, func(seq uint64, record []byte) error {
			if seq != last+1 || string(record) != content(actor, seq) {
				return fmt.Errorf("record %d after %d is %q", seq, last, record)
			}
			last = seq
			row, err := s.Get("last", []byte(actor))
			if err != nil || len(row) == 0 {
				return fmt.Errorf("row of %s: %q, %w", actor, row, err)
			}
			return nil
		})
		if err != nil || last < want {
			t.Fatalf("%s: %d was acknowledged, but only %d exists: %v", actor, want, last, err)
		}
	}
}

func content(actor string, seq uint64) string { return fmt.Sprintf("%s record %d", actor, seq) }

// runAsChild runs the child's part. It returns false in the parent.
func runAsChild() bool {
	dir := os.Getenv(childDir)
	if dir == "" {
		return false
	}
	s, err := Open(small(dir))
	if err != nil {
		panic(err)
	}
	for i := range 16 {
		go appendForever(s, fmt.Sprint("codelab/", i))
	}
	select {}
}

func appendForever(s *Store, actor string) {
	l, err := s.Open(actor)
	if err != nil {
		panic(err)
	}
	done := make(chan error, 1)
	for seq := l.(*actorLog).Next; ; seq++ {
		err := l.Append(durable.Batch{
			First:   seq,
			Records: durable.Records(nil).Add([]byte(content(actor, seq))),
			Rows:    []durable.Row{{Table: "last", Key: []byte(actor), Value: fmt.Append(nil, seq)}},
			Done:    func(err error) { done <- err },
		})
		if err == nil {
			err = <-done
		}
		if err != nil {
			panic(err)
		}
		if _, err := fmt.Fprintf(os.Stdout, "%s %d.\n", actor, seq); err != nil {
			return
		}
		if seq%100 == 0 {
			_ = l.Snapshot(seq, []byte("state"), seq-10, nil)
		}
	}
}
