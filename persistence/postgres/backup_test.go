package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/persistence/badger"
	"atelier/persistence/layout"
	"atelier/persistence/postgres/postgrestest"
)

// kindOfStore opens and restores stores of one kind, each in its own place.
type kindOfStore struct {
	name    string
	place   func(t *testing.T) string
	open    func(t *testing.T, place string) durable.Store
	restore func(place string, backup []byte) error
}

var kinds = []kindOfStore{
	{
		name:  "badger",
		place: func(t *testing.T) string { return filepath.Join(t.TempDir(), "store") },
		open: func(t *testing.T, place string) durable.Store {
			s, err := badger.Open(badger.Options{Dir: place, MemTableBytes: 16 << 20, BlockCacheBytes: 4 << 20})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		restore: func(place string, backup []byte) error { return badger.Restore(place, bytes.NewReader(backup)) },
	},
	{
		name:    "postgres",
		place:   func(t *testing.T) string { return postgrestest.Database(t) },
		open:    func(t *testing.T, place string) durable.Store { return openTest(t, Options{URL: place}) },
		restore: restoreInto,
	},
}

func restoreInto(url string, backup []byte) error {
	r, err := Restore(url, bytes.NewReader(backup))
	if err != nil {
		return err
	}
	return r.Commit()
}

// fill writes all kinds of data.
func fill(t *testing.T, s durable.Store) {
	t.Helper()
	for _, actor := range []string{"codelab/1", "codelab/2", "odd\xff", "codelab/empty"} {
		l, err := s.Open(actor)
		if err != nil {
			t.Fatal(err)
		}
		if actor == "codelab/empty" {
			continue
		}
		for seq := uint64(1); seq <= 6; seq++ {
			if err := commit(l, seq, fmt.Sprint(actor, seq, strings.Repeat("r", int(seq)*1000))); err != nil {
				t.Fatal(err)
			}
		}
		switch actor {
		case "codelab/1":
			snap(t, l, 5, strings.Repeat("large", 1<<18), 3)
			err = l.Rewrite(5, func(seq uint64, _ []byte) ([]byte, bool, error) { return []byte("erased"), seq == 4, nil })
		case "odd\xff":
			snap(t, l, 6, "all", 6)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	put(t, s, row("plain", "v"), row("", ""), row("\x00\xff", "odd"), durable.Row{Table: "erasure", Key: []byte("codelab/1"), Value: []byte{1}},
		durable.Row{Table: "t", Key: []byte("short"), Value: []byte("v"), TTL: time.Hour}, row("gone", "v"))
	put(t, s, durable.Row{Table: "t", Key: []byte("gone"), Delete: true})
}

// content returns everything that a store contains, as text.
func content(t *testing.T, s durable.Store) (out []string) {
	t.Helper()
	var actors []string
	if err := s.Actors("", func(actor string) bool { actors = append(actors, actor); return true }); err != nil {
		t.Fatal(err)
	}
	for _, actor := range actors {
		l, err := s.Open(actor)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := journaltest.ReadWhole(l, journaltest.Everything)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q ends at %d, base %d, snapshot of %d bytes at %d", actor, whole.Tail, whole.Base, len(whole.State), whole.Seq))
		for _, r := range whole.Records {
			out = append(out, fmt.Sprintf("%q %.30s %d", actor, r, len(r)))
		}
		l.Close()
	}
	for _, table := range []string{"t", "erasure"} {
		if err := s.Scan(durable.Scan{Table: table}, func(key, value []byte) bool {
			out = append(out, fmt.Sprintf("%s/%q=%q", table, key, value))
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A backup of either kind of store can be restored into the other.
func TestABackupCanBeRestoredIntoEitherKindOfStore(t *testing.T) {
	for _, from := range kinds {
		for _, to := range kinds {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				s := from.open(t, from.place(t))
				fill(t, s)
				want, stream := content(t, s), s.StreamID()
				var backup bytes.Buffer
				if err := s.Backup(&backup); err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				place := to.place(t)
				if err := to.restore(place, backup.Bytes()); err != nil {
					t.Fatal(err)
				}
				n := to.open(t, place)
				defer n.Close()
				if got := content(t, n); !slices.Equal(got, want) {
					t.Errorf("the restored content is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if n.StreamID() == stream || len(n.StreamID()) != 32 {
					t.Errorf("the stream is %s, before it was %s", n.StreamID(), stream)
				}
				if err := n.Scrub(func(what string) { t.Error(what) }); err != nil {
					t.Error(err)
				}
				for _, actor := range []string{"codelab/1", "odd\xff"} {
					l, err := n.Open(actor)
					if err != nil {
						t.Fatal(err)
					}
					if err := commit(l, 7, "goes on"); err != nil {
						t.Error(err)
					}
					snap(t, l, 7, strings.Repeat("next", 1<<18), 7)
					if whole, err := journaltest.ReadWhole(l, 0); err != nil || whole.Seq != 7 || len(whole.State) != 4<<18 {
						t.Errorf("loaded %d bytes at %d, %v", len(whole.State), whole.Seq, err)
					}
				}
			})
		}
	}
}

func TestABackupIsConsistent(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	l := startLoad(t, s)
	l.more(200)
	var backup bytes.Buffer
	if err := s.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	l.more(50)
	l.end()
	url := postgrestest.Database(t)
	if err := restoreInto(url, backup.Bytes()); err != nil {
		t.Fatal(err)
	}
	n := openTest(t, small(url))
	for i := range l.acked {
		actor := fmt.Sprint("codelab/", i)
		tail := openLog(t, n, actor).Tail()
		if v, err := n.Get("last", []byte(actor)); err != nil || string(v) != fmt.Sprint(tail) {
			t.Errorf("%s ends at %d, but its row is %q, %v", actor, tail, v, err)
		}
	}
}

// A restored row expires at the same time as the original row, or up to a second later. Backups
// contain no node secrets. A snapshot stored after the restore gets an id that no restored snapshot
// has.
func TestARestoreKeepsExpiryTimesAndOmitsNodeSecrets(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	put(t, s, durable.Row{Table: "t", Key: []byte("a while"), Value: []byte("v"), TTL: time.Hour}, row("for ever", "v"), durable.Row{Table: durable.NodeSecrets, Key: []byte("key"), Value: []byte("secret")})
	log := openLog(t, s, "codelab/1")
	for seq := range uint64(30) {
		if err := commit(log, seq+1, "a"); err != nil {
			t.Fatal(err)
		}
		snap(t, log, seq+1, strings.Repeat("s", layout.PartBytes+1), 0)
	}
	ends := func(s *Store, key string) (at *time.Time) {
		t.Helper()
		if err := s.pool.QueryRow(t.Context(), "select expires from rows where tbl = 't' and key = $1", []byte(key)).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	want := ends(s, "a while")
	var backup bytes.Buffer
	if err := s.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	place := postgrestest.Database(t)
	if err := restoreInto(place, backup.Bytes()); err != nil {
		t.Fatal(err)
	}
	n := openTest(t, small(place))
	if got := ends(n, "a while"); got == nil || got.Before(*want) || got.Sub(*want) > time.Second {
		t.Errorf("the row expires at %v, want %v", got, want)
	}
	if got := ends(n, "for ever"); got != nil {
		t.Errorf("a row without an expiry expires at %v", got)
	}
	if _, err := n.Get(durable.NodeSecrets, []byte("key")); !errors.Is(err, durable.ErrNotFound) {
		t.Errorf("reading the secret of a node: %v, want ErrNotFound", err)
	}
	var last, next int64
	if err := n.pool.QueryRow(t.Context(), "select max(id), nextval('epochs') from snapshot_parts").Scan(&last, &next); err != nil || next <= last {
		t.Errorf("the id %d of a snapshot part is followed by the epoch %d, %v", last, next, err)
	}
}

// If a value is damaged, the backup fails instead of saving the value as if it were valid.
func TestADamagedStoreIsNotBackedUp(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	put(t, s, row("a", "v"))
	if _, err := s.pool.Exec(t.Context(), "update rows set value = '\\x00' || value where tbl = 't'"); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(io.Discard); err == nil {
		t.Error("the backup of a damaged store succeeded")
	}
}

// If an actor was being removed during a backup, the restore finishes the removal, including the
// remaining records. Nothing else would remove them.
func TestARestoreFinishesARemoval(t *testing.T) {
	for _, from := range kinds {
		t.Run(from.name, func(t *testing.T) {
			s := from.open(t, from.place(t))
			fill(t, s)
			// A removal first marks the actor in this way.
			put(t, s, durable.Row{Table: layout.PurgeTable, Key: []byte("codelab/1")})
			var backup bytes.Buffer
			if err := errors.Join(s.Backup(&backup), s.Close()); err != nil {
				t.Fatal(err)
			}
			place := postgrestest.Database(t)
			if err := restoreInto(place, backup.Bytes()); err != nil {
				t.Fatal(err)
			}
			restored := openTest(t, Options{URL: place})
			for _, table := range []string{"records", "snapshots", "snapshot_parts", "owners"} {
				var left, others int
				err := restored.pool.QueryRow(t.Context(), "select count(*) filter (where actor = $1), count(*) filter (where actor <> $1) from "+table,
					[]byte("codelab/1")).Scan(&left, &others)
				if err != nil || left != 0 || others == 0 && table != "snapshot_parts" {
					t.Errorf("%s: %d rows of the removed actor are left, %d of others, %v", table, left, others, err)
				}
			}
			if _, err := restored.Get(layout.PurgeTable, []byte("codelab/1")); !errors.Is(err, durable.ErrNotFound) {
				t.Errorf("the mark of the removal still exists: %v, want ErrNotFound", err)
			}
			shown := strings.Join(content(t, restored), "\n")
			if strings.Contains(shown, `"codelab/1"`+" ") || !strings.Contains(shown, `"codelab/2" ends at 6`) {
				t.Error("the store shows", shown)
			}
		})
	}
}

func TestRestoreChangesNothingWhenItFails(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	fill(t, s)
	var whole bytes.Buffer
	if err := s.Backup(&whole); err != nil {
		t.Fatal(err)
	}
	url := postgrestest.Database(t)
	for _, cut := range []int{0, 40, whole.Len() / 2, whole.Len() - 1} {
		if _, err := Restore(url, bytes.NewReader(whole.Bytes()[:cut])); !errors.Is(err, ErrBadBackup) {
			t.Errorf("a backup truncated at %d: %v, want ErrBadBackup", cut, err)
		}
	}
	if err := CheckEmpty(url); err != nil {
		t.Error(err)
	}
	restoring, err := Restore(url, bytes.NewReader(whole.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := restoring.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := restoreInto(url, whole.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := restoreInto(url, whole.Bytes()); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("restoring over data: %v, want ErrNotEmpty", err)
	}
	if err := restoreInto(s.opts.URL, whole.Bytes()); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("restoring under a running server: %v, want ErrNotEmpty", err)
	}
	used := postgrestest.Database(t)
	openTest(t, Options{URL: used})
	if err := CheckEmpty(used); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("checking a database of a server that has written nothing: %v, want ErrNotEmpty", err)
	}
}
