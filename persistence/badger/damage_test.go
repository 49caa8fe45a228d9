package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/actors/durable"
)

// Tests write in rounds. The data of each round is in a separate table.
const (
	damageRounds = 3
	damageRows   = 40
	damageLarge  = 2 << 20
)

// writeRound writes rows, records and a large value, and removes a row of the previous round: a
// lost removal also counts as data loss.
func writeRound(t *testing.T, s *Store, round int) {
	t.Helper()
	l := openLog(t, s, "codelab/1")
	defer l.Close()
	for i := range damageRows {
		r := row("t", fmt.Sprintf("%d/%02d", round, i))
		if err := commit(l, l.(*actorLog).Next, fmt.Sprint("record ", round, i), r); err != nil {
			t.Fatal(err)
		}
	}
	putRow(t, s, "large", fmt.Sprint(round), strings.Repeat("v", damageLarge))
	if round > 0 {
		gone := durable.Row{Table: "t", Key: fmt.Appendf(nil, "%d/00", round-1), Delete: true}
		if err := durable.Commit(s, []durable.Row{gone}); err != nil {
			t.Fatal(err)
		}
	}
}

// rowsLeft counts the remaining rows of all rounds. ErrCorrupt is the only error that a scan is
// allowed to return.
func rowsLeft(t *testing.T, s *Store) (n int) {
	t.Helper()
	for _, table := range []string{"t", "large"} {
		err := s.Scan(durable.Scan{Table: table}, func(_, value []byte) bool {
			if table == "t" || len(value) == damageLarge {
				n++
			}
			return true
		})
		if err != nil && !errors.Is(err, durable.ErrCorrupt) {
			t.Fatal(err)
		}
	}
	return n
}

func allRows(rounds int) int { return rounds*(damageRows+1) - (rounds - 1) }

// copyStore copies a folder and its mark.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if err == nil {
			err = copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	if err == nil {
		err = copyFile(markName(from), markName(to))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnyDamageToAnyFileIsDetected applies each kind of damage to every file of a closed store and
// of a killed store. The store either starts with all acknowledged data, or refuses to start and
// names the file. After a refusal it starts with RecoverDamaged, and has the undamaged data. The
// store never silently starts with less data.
func TestAnyDamageToAnyFileIsDetected(t *testing.T) {
	// A closed store has no logs left, so the test copies each log while the store writes it.
	base, older := filepath.Join(t.TempDir(), "store"), map[string][]byte{}
	keepOlder := func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			older[e.Name()] = data
		}
	}
	for round := range damageRounds {
		s, err := Open(small(base))
		if err != nil {
			t.Fatal(err)
		}
		writeRound(t, s, round)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			keepOlder(base)
		}
	}
	closed := filepath.Join(t.TempDir(), "store")
	copyStore(t, base, closed)
	s := openTest(t, small(base), hooks{})
	putRow(t, s, "other", "k", "v")
	keepOlder(copied(t, s))
	writeRound(t, s, damageRounds)
	killed := filepath.Join(t.TempDir(), "store")
	copyStore(t, base, killed)

	type state struct {
		name, dir string
		rounds    int
	}
	for _, st := range []state{{"closed", closed, damageRounds}, {"killed", killed, damageRounds + 1}} {
		entries, err := os.ReadDir(st.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			for what, edit := range damages(older[e.Name()]) {
				t.Run(st.name+"/"+e.Name()+"/"+what, func(t *testing.T) {
					t.Parallel()
					dir := filepath.Join(t.TempDir(), "store")
					copyStore(t, st.dir, dir)
					if !edit(t, filepath.Join(dir, e.Name())) {
						t.Skip("this edit changes nothing")
					}
					checkDamaged(t, dir, e.Name(), st.rounds)
				})
			}
		}
	}
}

// damages are edits of a file that return whether they changed it.
func damages(older []byte) map[string]func(t *testing.T, path string) bool {
	edit := func(change func(data []byte) []byte) func(t *testing.T, path string) bool {
		return func(t *testing.T, path string) bool {
			t.Helper()
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			after := change([]byte(string(before)))
			if err := os.WriteFile(path, after, 0o600); err != nil {
				t.Fatal(err)
			}
			return string(before) != string(after)
		}
	}
	all := map[string]func(t *testing.T, path string) bool{
		"gone": func(t *testing.T, path string) bool {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			return true
		},
		"empty":         edit(func([]byte) []byte { return nil }),
		"5 bytes":       edit(func(d []byte) []byte { return d[:min(5, len(d))] }),
		"all but one":   edit(func(d []byte) []byte { return d[:max(0, len(d)-1)] }),
		"zeros at end":  edit(func(d []byte) []byte { clear(d[len(d)*3/4:]); return d }),
		"zeros":         edit(func(d []byte) []byte { clear(d); return d }),
		"an older copy": edit(func(d []byte) []byte { return append(d[:0:0], older...) }),
	}
	if older == nil {
		delete(all, "an older copy")
	}
	for _, part := range []int{1, 3, 5, 7} {
		all[fmt.Sprintf("cut at %d of 8", part)] = edit(func(d []byte) []byte { return d[:len(d)*part/8] })
		all[fmt.Sprintf("bit at %d of 8", part)] = edit(func(d []byte) []byte {
			if len(d) > 0 {
				d[len(d)*part/8] ^= 4
			}
			return d
		})
	}
	return all
}

func checkDamaged(t *testing.T, dir, name string, rounds int) {
	t.Helper()
	o := small(dir)
	s, err := Open(o)
	if err == nil {
		if n := rowsLeft(t, s); n != allRows(rounds) {
			t.Errorf("the store opened without an error with %d of %d rows", n, allRows(rounds))
		}
		for round := range rounds - 1 {
			if _, err := s.Get("t", fmt.Appendf(nil, "%d/00", round)); !errors.Is(err, durable.ErrNotFound) {
				t.Errorf("a removed row exists again: %v, want ErrNotFound", err)
			}
		}
		if got := strings.Count(replayed(t, openLog(t, s, "codelab/1")), "record"); got != rounds*damageRows {
			t.Errorf("the store opened without an error with %d of %d records", got, rounds*damageRows)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "--recover-damaged") ||
		!strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "older than its mark") {
		t.Fatalf("opening returned %v", err)
	}
	if entries, _ := filepath.Glob(dir + "-damaged-*"); len(entries) > 0 {
		t.Error("a refused start moved files away")
	}
	o.RecoverDamaged = true
	s, err = Open(o)
	if err != nil {
		t.Fatalf("recovering returned %v", err)
	}
	// A file contains at most one round, and the removal of its row.
	least := allRows(rounds) - damageRows - 2
	if name == "MANIFEST" {
		least = allRows(rounds) // this file contains no data
	}
	if n := rowsLeft(t, s); n < least {
		t.Errorf("%d rows are left, want at least %d", n, least)
	}
	if entries, _ := filepath.Glob(dir + "-damaged-*"); len(entries) != 1 {
		t.Errorf("the files that were moved away are %q", entries)
	}
	stream := s.StreamID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, small(dir), hooks{})
	if s.StreamID() != stream {
		t.Error("the next start has another stream id again")
	}
}
