package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/postgres/postgrestest"
)

// load appends from several goroutines until it is stopped. Each goroutine has its own log, with a
// row for its position. Another goroutine raises a counter.
type load struct {
	t       *testing.T
	s       *Store
	all     sync.WaitGroup
	stopped atomic.Bool
	acked   [8]atomic.Uint64
	counted atomic.Int64
}

func startLoad(t *testing.T, s *Store) *load {
	l := &load{t: t, s: s}
	if err := durable.Commit(s, []durable.Row{{Table: "count", Key: []byte("k"), Value: []byte("0")}}); err != nil {
		t.Fatal(err)
	}
	for i := range l.acked {
		l.all.Go(func() { l.append(i) })
	}
	l.all.Go(l.count)
	return l
}

func (l *load) append(i int) {
	actor := fmt.Sprint("codelab/", i)
	log, err := l.s.Open(actor)
	if err != nil {
		l.t.Error(err)
		return
	}
	done := make(chan error, 1)
	for seq := uint64(1); !l.stopped.Load(); seq++ {
		err := log.Append(durable.Batch{First: seq, Records: durable.Records(nil).Add(fmt.Append(nil, "r", seq)),
			Rows: []durable.Row{{Table: "last", Key: []byte(actor), Value: fmt.Append(nil, seq)}}, Done: func(err error) { done <- err }})
		if err == nil {
			err = <-done
		}
		if err != nil {
			l.t.Errorf("%s at %d: %v", actor, seq, err)
			return
		}
		l.acked[i].Store(seq)
	}
}

// count raises a counter with preconditions. In this way the test detects a commit that was
// executed twice, or that conflicted with itself.
func (l *load) count() {
	for n := int64(0); !l.stopped.Load(); n++ {
		err := durable.Commit(l.s, []durable.Row{{Table: "count", Key: []byte("k"), Value: fmt.Append(nil, n+1), Precondition: durable.Unchanged(fmt.Append(nil, n))}})
		if err != nil {
			l.t.Errorf("count at %d: %v", n, err)
			return
		}
		l.counted.Store(n + 1)
	}
}

// total returns the number of acknowledged records.
func (l *load) total() (n uint64) {
	for i := range l.acked {
		n += l.acked[i].Load()
	}
	return n
}

// waits reports whether any log has no acknowledged record yet.
func (l *load) waits() bool {
	for i := range l.acked {
		if l.acked[i].Load() == 0 {
			return true
		}
	}
	return false
}

// more waits until n more records are acknowledged, including at least one of every log.
func (l *load) more(n uint64) {
	for until := l.total() + n; (l.total() < until || l.waits()) && !l.t.Failed(); {
		_, _ = l.s.Get("last", []byte("codelab/0")) // readers must also recover
	}
}

// end stops the load and compares the stored records with the acknowledged ones.
func (l *load) end() {
	l.stopped.Store(true)
	l.all.Wait()
	if l.t.Failed() {
		return
	}
	for i := range l.acked {
		actor := fmt.Sprint("codelab/", i)
		log, err := l.s.Open(actor)
		if err != nil {
			l.t.Fatal(err)
		}
		next := uint64(1)
		err = log.Replay(0, func(seq uint64, record []byte) error {
			if seq != next || string(record) != fmt.Sprint("r", seq) {
				return fmt.Errorf("record %d in place of %d is %q", seq, next, record)
			}
			next++
			return nil
		})
		if err != nil || next != l.acked[i].Load()+1 {
			l.t.Errorf("%s has %d records, but %d were acknowledged: %v", actor, next-1, l.acked[i].Load(), err)
		}
		if v, err := l.s.Get("last", []byte(actor)); err != nil || string(v) != fmt.Sprint(l.acked[i].Load()) {
			l.t.Errorf("the row of %s is %q, %v", actor, v, err)
		}
	}
	if v, err := l.s.Get("count", []byte("k")); err != nil || string(v) != fmt.Sprint(l.counted.Load()) {
		l.t.Errorf("the counter is %q, but %d were acknowledged, %v", v, l.counted.Load(), err)
	}
}

func TestAcknowledgedWritesSurviveARestartOfTheServer(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"orderly": syscall.SIGINT, "crash": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			o := small(postgrestest.Database(t))
			o.Lease = 5 * time.Minute // on a busy machine the restart of a server takes long
			l := startLoad(t, openTest(t, o))
			for range 2 {
				l.more(200)
				postgrestest.Get(t).Restart(t, sig)
			}
			l.more(200)
			l.end()
		})
	}
}

// Connections are killed at random times. If the response to a commit is lost, the next connection
// determines whether the database committed it.
func TestAcknowledgedWritesSurviveKilledConnections(t *testing.T) {
	url := postgrestest.Database(t)
	l := startLoad(t, openTest(t, small(url)))
	killer, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer killer.Close(context.Background())
	for range 60 {
		l.more(1 + rand.Uint64N(20))
		_, err := killer.Exec(context.Background(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
		if err != nil {
			t.Fatal(err)
		}
	}
	l.more(100)
	l.end()
}

// The next connection determines the outcome of a commit after its response was lost.
func TestTheNextConnectionDeterminesTheOutcomeOfALostCommit(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	log := openLog(t, s, "codelab/1")
	if err := commit(log, 1, "a"); err != nil {
		t.Fatal(err)
	}
	// Nothing is queued, so the writer's goroutine is idle.
	l, w := s.lease.Load(), s.writer
	items := []item{{entry: entry{Kind: calls.KindBatch, Log: log.(*actorLog), First: 2, Recs: one("b"), Count: 1}, lease: l}}
	w.group.build(items)
	w.number++
	if err := w.transact(l, items); err != nil {
		t.Fatal(err)
	}
	for _, committed := range []bool{true, false} {
		w.drop()
		if got, err := w.connection(l); err != nil || (got == w.number) != committed {
			t.Errorf("the last number is %d, but %d was sent, %v", got, w.number, err)
		}
		w.number++ // simulates a commit that was never sent
	}
}

func TestAnAbandonedConnectionCannotCommit(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	log := openLog(t, s, "codelab/1")
	if err := commit(log, 1, "a"); err != nil {
		t.Fatal(err)
	}
	l, w := s.lease.Load(), s.writer
	old, session := w.conn, l.session
	w.conn = nil
	if _, err := w.connection(l); err != nil {
		t.Fatal(err)
	}
	defer old.Close(context.Background())
	_, err := old.Exec(context.Background(), beginCommit, s.node, l.incarnation, session, 99, nil, nil, nil, nil)
	if codeOf(err) != codeLeaseLost {
		t.Errorf("the commit of the old connection returned %v", err)
	}
	if err := commit(log, 2, "b"); err != nil {
		t.Error(err)
	}
}
