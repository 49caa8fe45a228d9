package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// A process that was stopped knows of the end of its lease before any of its
// goroutines ran: Holds compares the clock.
func TestHoldsLooksAtTheClock(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	l := s.lease.Load()
	if !s.Holds() {
		t.Fatal("the lease does not hold")
	}
	l.renewed.Store(int64(uptime() - l.limit))
	if s.Holds() {
		t.Error("the lease holds behind its end")
	}
	select {
	case <-l.ctx.Done():
	default:
		t.Error("nobody was told")
	}
	l.renewed.Store(int64(uptime()))
	if l.holds() {
		t.Error("a lost lease came back")
	}
}

// An owner that lives, and whose actor was taken all the same: the database
// decides by the epoch, in the transaction.
func TestAnOvertakenOwnerIsFenced(t *testing.T) {
	url := postgrestest.Database(t)
	a, b := openNode(t, url, "a"), openNode(t, url, "b")
	defer a.Close()
	defer b.Close()
	log, other := openLog(t, a.Store, "codelab/1"), openLog(t, a.Store, "codelab/2")
	snapped := openLog(t, a.Store, "codelab/3")
	for _, l := range []durable.Log{log, other, snapped} {
		if err := commit(l, 1, "a"); err != nil {
			t.Fatal(err)
		}
	}
	snap(t, snapped, 1, "state", 0)
	a.Expire()
	taken, again := openLog(t, b.Store, "codelab/1"), openLog(t, b.Store, "codelab/3")
	// As if the lease had been judged wrong.
	postgrestest.Exec(t, url, "update atelier.nodes set lease_until = clock_timestamp() + interval '1 hour'")
	if err := commit(taken, 2, "b"); err != nil {
		t.Fatal(err)
	}
	if err := commit(log, 2, "x"); !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the append of the old owner: %v", err)
	}
	if err := commit(other, 2, "fine"); err != nil {
		t.Errorf("of another actor: %v", err)
	}
	err := snapped.Rewrite(1, func(uint64, []byte) ([]byte, bool, error) { return []byte("x"), true, nil })
	if !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the rewriting of the old owner: %v", err)
	}
	done := make(chan error, 1)
	if err := snapped.Snapshot(1, []byte("x"), 1, func(err error) { done <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the snapshot of the old owner: %v", err)
	}
	if err := commit(again, 2, "b"); err != nil {
		t.Error(err)
	}
	if err := commit(taken, 3, "c"); err != nil {
		t.Error(err)
	}
}

// The loser of a group is told; the others of the same transaction are not
// concerned.
func TestOneLoserDoesNotEndTheGroup(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	lost, kept := openLog(t, s, "codelab/1"), openLog(t, s, "codelab/2")
	postgrestest.Exec(t, url, "update atelier.owners set epoch = epoch + 1000000 where actor = 'codelab/1'")
	blocked, free := make(chan struct{}), make(chan struct{})
	if err := s.Append(nil, func(error) { close(blocked); <-free }); err != nil {
		t.Fatal(err)
	}
	<-blocked
	outcomes := make(chan error, 2)
	for _, l := range []durable.Log{lost, kept} {
		rows := []durable.Row{row("k", l.(*actorLog).actor)}
		if l == kept {
			rows[0].Key = []byte("other")
		}
		if err := l.Append(durable.Batch{First: 1, Records: one("a"), Rows: rows, Done: func(err error) { outcomes <- err }}); err != nil {
			t.Fatal(err)
		}
	}
	close(free)
	if err := <-outcomes; !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the loser got %v", err)
	}
	if err := <-outcomes; err != nil {
		t.Errorf("the other got %v", err)
	}
	if _, err := s.Get("t", []byte("k")); !errors.Is(err, durable.ErrNotFound) {
		t.Errorf("the loser's row: %v", err)
	}
}

func TestOneProcessHasAName(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a", Lease: 3 * time.Second})
	_, err := Open(Options{URL: url, Node: "a", Lease: 3 * time.Second})
	if !errors.Is(err, ErrNameTaken) {
		t.Errorf("the second process got %v", err)
	}
	if !s.Holds() {
		t.Error("the first lost its lease")
	}
}

// After a crash the name is free when the lease is over.
func TestTheLeaseOfADeadProcessIsWaitedFor(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	if err := commit(openLog(t, s, "codelab/1"), 1, "a"); err != nil {
		t.Fatal(err)
	}
	s.lease.Load().lose() // no more renewals
	postgrestest.Exec(t, url, "update atelier.nodes set lease_until = clock_timestamp() + interval '300 milliseconds'")
	n := openTest(t, Options{URL: url, Node: "a"})
	if err := commit(openLog(t, n, "codelab/1"), 2, "b"); err != nil {
		t.Error(err)
	}
}

func TestAloneItStartsOver(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url})
	log := openLog(t, s, "codelab/1")
	if err := commit(log, 1, "a"); err != nil {
		t.Fatal(err)
	}
	before := s.lease.Load()
	before.lose()
	for deadline := time.Now().Add(time.Minute); s.lease.Load() == before; {
		if time.Now().After(deadline) {
			t.Fatal("the lease stays lost")
		}
		time.Sleep(time.Millisecond)
	}
	if err := commit(log, 2, "x"); !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the old handle got %v", err)
	}
	if err := commit(openLog(t, s, "codelab/1"), 2, "b"); err != nil {
		t.Error(err)
	}
}

func TestWeakCommitsAreRefused(t *testing.T) {
	_, err := Open(Options{URL: postgrestest.Database(t) + "&synchronous_commit=off"})
	if !errors.Is(err, ErrWeakCommit) {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		commit, standbys string
		weak             bool
	}{
		{"on", "", false}, {"on", "s1", false}, {"remote_apply", "s1", false}, {"local", "", false}, {"remote_write", "", false},
		{"off", "", true}, {"local", "s1", true}, {"remote_write", "s1", true}, {"off", "s1", true},
	} {
		if got := weak(c.commit, c.standbys); got != c.weak {
			t.Errorf("%+v: weak is %v", c, got)
		}
	}
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	url := postgrestest.Database(t)
	if err := openTest(t, Options{URL: url}).Close(); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, url, "update atelier.meta set format = $1", Format+1)
	if _, err := Open(Options{URL: url}); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("got %v", err)
	}
}

// Errors do not tell the password, whatever is wrong.
func TestErrorsTellNoPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@127.0.0.1:1/db", "postgres://u:hunter2@%zz/db", "postgres://u:hunter2@h:port/db",
		"host=h password=hunter2 port=x", "hunter2",
	} {
		_, err := Open(Options{URL: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	}
}

func TestNodesThatStartAtOnce(t *testing.T) {
	url := postgrestest.Database(t)
	errs := make(chan error)
	for _, name := range []string{"a", "b", "c", "d"} {
		go func() {
			s, err := Open(Options{URL: url, Node: name})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// A change that was begun before a look and committed behind it is told by the
// next one.
func TestAFeedMissesNoLateCommit(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	told := map[string]string{}
	f, err := s.Watch([]string{"t"}, func(_ string, key, value []byte) { told[string(key)] = string(value) })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	put(t, s, row("slow", "old"))
	// The same value under a lower transaction id than that of the next commit.
	if _, err := conn.Exec(ctx, "begin; update atelier.rows set changed = pg_current_xact_id(), value = null, expires = clock_timestamp() where key = 'slow'"); err != nil {
		t.Fatal(err)
	}
	put(t, s, row("fast", "v"))
	for range 2 {
		if err := f.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if told["fast"] != "v" || told["slow"] != "old" {
		t.Fatalf("told is %q", told)
	}
	if _, err := conn.Exec(ctx, "commit"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(ctx); err != nil || told["slow"] != "" {
		t.Errorf("told is %q, %v", told, err)
	}
}

// Who was cut off for so long that tombstones are gone is told of everything that
// is gone.
func TestAFeedThatWasCutOffStartsOver(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a", LookEvery: time.Hour})
	told := map[string]string{}
	feed, err := s.Watch([]string{"t"}, func(_ string, key, value []byte) {
		if told[string(key)] = string(value); value == nil {
			delete(told, string(key))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	put(t, s, row("1", "v"), row("2", "v"))
	if err := feed.Sync(context.Background()); err != nil || len(told) != 2 {
		t.Fatal(told, err)
	}
	put(t, s, durable.Row{Table: "t", Key: []byte("1"), Delete: true}, row("3", "v"))
	postgrestest.Exec(t, url, "delete from atelier.rows where value is null")
	f := feed.(*feedOf)
	f.seen = f.seen.Add(-s.opts.Remember)
	if err := feed.Sync(context.Background()); err != nil || len(told) != 2 || told["1"] != "" {
		t.Errorf("told is %q, %v", told, err)
	}
}

// feedOf is the type that the variable hides.
type feedOf = feed

// Expired rows and tombstones leave the table when everybody has seen them.
func TestSweep(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a", Remember: time.Millisecond, SweepEvery: time.Millisecond})
	short := row("short", "v")
	short.TTL = time.Millisecond
	put(t, s, short, row("kept", "v"), row("gone", "v"))
	put(t, s, durable.Row{Table: "t", Key: []byte("gone"), Delete: true})
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for n, deadline := 0, time.Now().Add(time.Minute); n != 1; {
		if err := conn.QueryRow(context.Background(), "select count(*) from atelier.rows").Scan(&n); err != nil || time.Now().After(deadline) {
			t.Fatal(n, err)
		}
	}
	if v, err := s.Get("t", []byte("kept")); err != nil || string(v) != "v" {
		t.Error(v, err)
	}
}

// What was changed behind our back is noticed.
func TestDamageIsNoticed(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	log := openLog(t, s, "codelab/1")
	for seq := uint64(1); seq <= 4; seq++ {
		if err := commit(log, seq, "r"); err != nil {
			t.Fatal(err)
		}
	}
	snap(t, log, 2, "state", 0)
	put(t, s, row("k", "v"))
	damaged := func() (n int) {
		if err := s.Scrub(func(string) { n++ }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := damaged(); n != 0 {
		t.Fatalf("%d are damaged", n)
	}
	postgrestest.Exec(t, url, `update atelier.rows set value = value || 'x'; update atelier.snapshots set head = head || 'x'; update atelier.records set chunk = chunk || 'x' where seq = 3`)
	if n := damaged(); n != 3 {
		t.Errorf("%d are damaged", n)
	}
	_, rowErr := s.Get("t", []byte("k"))
	_, _, loadErr := log.Load()
	replay := func() error { return log.Replay(0, func(uint64, []byte) error { return nil }) }
	for what, err := range map[string]error{"get": rowErr, "load": loadErr, "replay": replay(),
		"guard": durable.Commit(s, []durable.Row{{Table: "t", Key: []byte("k"), Guard: durable.Unchanged([]byte("v"))}})} {
		if !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	postgrestest.Exec(t, url, "delete from atelier.records where seq = 3")
	if err := replay(); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("a hole: %v", err)
	}
	postgrestest.Exec(t, url, "delete from atelier.records where seq > 2")
	if err := replay(); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("without an end: %v", err)
	}
	postgrestest.Exec(t, url, "delete from atelier.records")
	if err := replay(); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("without anything: %v", err)
	}
}
