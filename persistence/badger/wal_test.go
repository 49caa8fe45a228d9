package badger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crashed creates a store with n transactions, and returns a copy of its folder in the state after
// kill -9. It also returns the offsets of each transaction's entries in the write-ahead log.
func crashed(t *testing.T, n int) (dir, wal string, starts [][]int) {
	t.Helper()
	s := openTest(t, small(t.TempDir()), hooks{})
	l := openLog(t, s, "codelab/1")
	for seq := uint64(1); seq <= uint64(n); seq++ {
		if err := commit(l, seq, fmt.Sprint("record ", seq), row("t", fmt.Sprint("row ", seq))); err != nil {
			t.Fatal(err)
		}
	}
	dir = copied(t, s)
	names, err := logFiles(dir, walExt)
	if err != nil || len(names) != 1 {
		t.Fatalf("logs %q, %v", names, err)
	}
	wal = filepath.Join(dir, names[0])
	data, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	begins := true
	for at := walHeader; ; {
		e, ok := walEntryAt(data, at)
		if !ok {
			break
		}
		if begins {
			starts = append(starts, nil)
		}
		starts[len(starts)-1] = append(starts[len(starts)-1], at)
		begins = e.ends
		at += e.size
	}
	return dir, wal, starts
}

// copied copies the folder of an open store.
func copied(t *testing.T, s *Store) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.opts.Dir)
	for _, e := range entries {
		if err == nil {
			err = copyFile(filepath.Join(s.opts.Dir, e.Name()), filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// change replaces the contents of a file with the result of edit.
func change(t *testing.T, path string, edit func(data []byte)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edit(data)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Badger treats any bad entry as the end and truncates the log. In an earlier version, one flipped
// bit made it drop every later acknowledged write and start as if nothing were wrong.
func TestOneDamagedBitIsDetectedAsDamage(t *testing.T) {
	const n = 20
	for _, which := range []string{"first entry", "inner entry", "marker of the end", "head", "all of one transaction"} {
		t.Run(which, func(t *testing.T) {
			dir, wal, starts := crashed(t, n)
			hit := starts[len(starts)-8]
			change(t, wal, func(data []byte) {
				switch which {
				case "first entry":
					data[hit[0]+40] ^= 1
				case "inner entry":
					data[hit[1]+30] ^= 1
				case "marker of the end":
					data[hit[len(hit)-1]+12] ^= 0x80
				case "head":
					data[hit[0]] = 0
				default:
					clear(data[hit[0]:starts[len(starts)-7][0]])
				}
			})
			before, err := os.ReadFile(wal)
			if err != nil {
				t.Fatal(err)
			}
			o := small(dir)
			_, err = Open(o)
			var d *Dropped
			if !errors.As(err, &d) || !errors.Is(err, ErrDamaged) || d.Behind != 7 || int(d.Offset) != hit[0] {
				t.Fatalf("opening returned %v, want ErrDamaged", err)
			}
			if after, err := os.ReadFile(wal); err != nil || !bytes.Equal(before, after) {
				t.Fatalf("the log was changed: %v", err)
			}

			o.RecoverDamaged = true
			s := openTest(t, o, hooks{})
			if got := strings.Count(replayed(t, openLog(t, s, "codelab/1")), "record"); got != n-8 {
				t.Errorf("%d records are left, want %d", got, n-8)
			}
			kept, err := filepath.Glob(dir + "-damaged-*/*" + walExt)
			if err != nil || len(kept) != 1 {
				t.Fatalf("the files that were moved away are %q, %v", kept, err)
			}
			if aside, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(before, aside) {
				t.Errorf("the file that was moved away differs from the damaged log: %v", err)
			}
		})
	}
}

// A recovery starts a new stream, because clients may have seen dropped data, and tokens may have
// been used in it.
func TestARecoveryStartsANewStream(t *testing.T) {
	dir, wal, starts := crashed(t, 20)
	sound := t.TempDir()
	if err := os.CopyFS(sound, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, small(sound), hooks{})
	before := s.StreamID()
	change(t, wal, func(data []byte) { data[starts[10][0]+40] ^= 1 })
	o := small(dir)
	o.RecoverDamaged = true
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	after := s.StreamID()
	if after == before {
		t.Error("the stream is unchanged although data was dropped")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s := openTest(t, o, hooks{}); s.StreamID() != after {
		t.Error("the next start without damage has another stream again")
	}
}

// The last transaction was never acknowledged. It counts as torn by a crash, whichever of its parts
// reached the disk.
func TestATornLastTransactionCountsAsACrash(t *testing.T) {
	const n = 20
	tear := map[string]func(data []byte, last []int, end int){
		"all missing":          func(data []byte, last []int, end int) { clear(data[last[0]:end]) },
		"only the first half":  func(data []byte, last []int, end int) { clear(data[(last[0]+end)/2 : end]) },
		"only the second half": func(data []byte, last []int, end int) { clear(data[last[0] : (last[0]+end)/2]) },
		"all but its head":     func(data []byte, last []int, end int) { clear(data[last[0] : last[0]+2]) },
		"all but its end":      func(data []byte, last []int, end int) { clear(data[last[len(last)-1]:end]) },
		"all but a bit":        func(data []byte, last []int, end int) { data[last[1]+25] ^= 4 },
		"other bytes":          func(data []byte, last []int, end int) { copy(data[last[0]:end], bytes.Repeat([]byte{0xc3, 0x41}, end)) },
	}
	for which, tear := range tear {
		t.Run(which, func(t *testing.T) {
			dir, wal, starts := crashed(t, n)
			change(t, wal, func(data []byte) {
				last := starts[len(starts)-1]
				e, _ := walEntryAt(data, last[len(last)-1])
				tear(data, last, last[len(last)-1]+e.size)
			})
			s := openTest(t, small(dir), hooks{})
			if got := strings.Count(replayed(t, openLog(t, s, "codelab/1")), "record"); got != n-1 {
				t.Errorf("%d records are left, want %d", got, n-1)
			}
		})
	}
}

// Damage in an older log is detected, because newer logs follow it.
func TestDamageInAnOlderLogIsDetected(t *testing.T) {
	dir, wal, starts := crashed(t, 20)
	newer := filepath.Join(dir, "00009"+walExt)
	change(t, wal, func(data []byte) {
		cut := starts[len(starts)-3][0]
		second := append(bytes.Clone(data[:walHeader]), data[cut:]...)
		if err := os.WriteFile(newer, second, 0o600); err != nil {
			t.Fatal(err)
		}
		clear(data[cut:])
	})
	if c, err := checkLogs(dir, nil); err != nil || c.verdict() != nil {
		t.Fatalf("checking two undamaged logs: %v, %v", c, err)
	}
	change(t, wal, func(data []byte) { data[starts[len(starts)-4][0]+40] ^= 1 })
	if _, err := Open(small(dir)); !errors.Is(err, ErrDamaged) {
		t.Fatalf("opening returned %v, want ErrDamaged", err)
	}
}

// FuzzLogEntries verifies that checking a log never panics, whatever its bytes.
func FuzzLogEntries(f *testing.F) {
	f.Add([]byte{walTxn, 0, 20, 1, 0, 'j'})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c walCheck
		data = append(make([]byte, walHeader), data...)
		c.file("f", data)
		_ = c.verdict()
	})
}
