package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// After a pause, a process detects the end of its lease even before any of its goroutines has run,
// because Holds reads the clock.
func TestHoldsChecksTheClock(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	l := s.lease.Load()
	if !s.Holds() {
		t.Fatal("the lease does not hold")
	}
	if l.limit > s.opts.Lease*2/3 {
		t.Error("the lease counts as long as in the database, but clocks differ and renewals take time")
	}
	l.renewed.Store(int64(uptime() - l.limit))
	if s.Holds() {
		t.Error("the lease holds after its end")
	}
	select {
	case <-l.ctx.Done():
	default:
		t.Error("the end of the lease was not reported")
	}
	l.renewed.Store(int64(uptime()))
	if l.holds() {
		t.Error("a lost lease holds again")
	}
}

// If another node wrongly takes the actor of a live owner, the database refuses the old owner's
// writes, because each transaction compares the epoch.
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
	// Between two renewals. A renewal after Expire would end the lease for the owner, too.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, renewed := a.ClockOffset(); renewed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the lease is not renewed")
		}
	}
	a.Expire()
	taken, again := openLog(t, b.Store, "codelab/1"), openLog(t, b.Store, "codelab/3")
	// The update makes the lease of node a valid again, so that only the epoch refuses its writes.
	postgrestest.Exec(t, url, "update atelier.nodes set lease_until = clock_timestamp() + interval '1 hour'")
	if err := commit(taken, 2, "b"); err != nil {
		t.Fatal(err)
	}
	if err := commit(log, 2, "x"); !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the append by the old owner: %v, want ErrFenced", err)
	}
	if err := commit(other, 2, "fine"); err != nil {
		t.Errorf("a commit of another actor: %v", err)
	}
	err := snapped.Rewrite(1, func(uint64, []byte) ([]byte, bool, error) { return []byte("x"), true, nil })
	if !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the rewrite by the old owner: %v, want ErrFenced", err)
	}
	done := make(chan error, 1)
	if err := snapped.Snapshot(1, []byte("x"), 1, func(err error) { done <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the snapshot by the old owner: %v, want ErrFenced", err)
	}
	if err := commit(again, 2, "b"); err != nil {
		t.Error(err)
	}
	if err := commit(taken, 3, "c"); err != nil {
		t.Error(err)
	}
}

// A batch whose log no longer has the expected row of ownership gets an error, whichever field of
// the row differs. Other batches in the same transaction are not affected.
func TestFailedBatchesDoNotFailTheirGroup(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	var logs []durable.Log
	for _, change := range []string{"", "epoch = epoch + 1000000", "head = head + 1", "node = 'b'", "incarnation = incarnation + 1", ""} {
		l := openLog(t, s, fmt.Sprint("codelab/", len(logs)))
		logs = append(logs, l)
		if change != "" {
			postgrestest.Exec(t, url, "update atelier.owners set "+change+" where actor = $1", []byte(l.(*actorLog).Actor))
		}
	}
	blocked, free := make(chan struct{}), make(chan struct{})
	if err := s.Append(nil, func(error) { close(blocked); <-free }); err != nil {
		t.Fatal(err)
	}
	<-blocked
	outcomes := make(chan error, len(logs))
	for i, l := range logs {
		rows := []durable.Row{row("last", fmt.Sprint(i)), row(fmt.Sprint(i), "v")}
		if i == len(logs)-1 {
			rows = rows[1:]
		}
		if err := l.Append(durable.Batch{First: 1, Records: one("a"), Rows: rows, Done: func(err error) { outcomes <- err }}); err != nil {
			t.Fatal(err)
		}
	}
	close(free)
	for i := range logs {
		err, wins := <-outcomes, i == 0 || i == len(logs)-1
		if wins && err != nil || !wins && !errors.Is(err, durable.ErrFenced) {
			t.Errorf("log %d returned %v", i, err)
		}
		if _, err := s.Get("t", []byte(fmt.Sprint(i))); wins != (err == nil) {
			t.Errorf("reading the row of log %d: %v", i, err)
		}
	}
	if v, err := s.Get("t", []byte("last")); err != nil || string(v) != "0" {
		t.Errorf("the row of the failed batches is %q, %v", v, err)
	}
}

// A lease that has expired for other nodes has ended, so the node cannot renew it.
func TestExpiredLeaseIsNotRenewed(t *testing.T) {
	url := postgrestest.Database(t)
	a := openNode(t, url, "a")
	defer a.Close()
	a.Expire()
	var conn *pgx.Conn
	err := a.renew(context.Background(), &conn, a.lease.Load())
	defer conn.Close(context.Background())
	if codeOf(err) != codeLeaseLost {
		t.Errorf("renewing the expired lease returned %v", err)
	}
}

// If another node checks a lease while the lease is being renewed, the check waits for the renewal.
func TestOpeningWaitsForARenewalInProgress(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Database(t)
	a, b := openNode(t, url, "a"), openNode(t, url, "b")
	defer a.Close()
	defer b.Close()
	openLog(t, a.Store, "codelab/1")
	conn, err := pgx.Connect(ctx, url+"&search_path=atelier")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	// On a busy machine the lease can end before its renewal. The test then begins again.
	for {
		postgrestest.Exec(t, url, "update atelier.nodes set lease_until = clock_timestamp() + interval '200 milliseconds' where node = 'a'")
		_, err := conn.Exec(ctx, "begin; select renew('a', "+fmt.Sprint(a.lease.Load().incarnation)+", '1 hour'); select pg_sleep(0.3)")
		if err == nil {
			break
		}
		if codeOf(err) != codeLeaseLost {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, "rollback"); err != nil {
			t.Fatal(err)
		}
	}
	taken := make(chan error)
	go func() {
		_, err := b.Open("codelab/1")
		taken <- err
	}()
	watch, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(ctx)
	for waits := false; !waits; {
		select {
		case err := <-taken:
			t.Fatalf("the renewal was not waited for: %v", err)
		default:
		}
		if err := watch.QueryRow(ctx, "select exists (select from pg_locks where not granted)").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(ctx, "commit"); err != nil {
		t.Fatal(err)
	}
	var owned *durable.Owned
	if err := <-taken; !errors.As(err, &owned) {
		t.Errorf("opening the actor returned %v", err)
	}
}

// Transactions lock rows in one order, so they do not deadlock. This requires that rows with
// preconditions are never written without one. A deadlock would only cost time, because the
// database aborts one transaction, which is then repeated.
func TestTransactionsDoNotDeadlock(t *testing.T) {
	url := postgrestest.Database(t)
	var stores []*Store
	for _, name := range []string{"a", "b", "c"} {
		stores = append(stores, openTest(t, Options{URL: url, Node: name}))
	}
	var all sync.WaitGroup
	for i, s := range stores {
		for c := range 4 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(c)))
				for n := range 60 {
					var rows []durable.Row
					for _, k := range r.Perm(6)[:3] {
						one := row(fmt.Sprint(k), "v")
						switch {
						case n%2 == 0 || r.IntN(3) == 0: // every second append has no preconditions
							one.Key = append(one.Key, "-free"...)
						case r.IntN(3) == 0:
							one.Precondition, one.CheckOnly = durable.Absent(), true
						case r.IntN(2) == 0:
							one.Precondition, one.Delete = durable.Unchanged([]byte("v")), r.IntN(4) == 0
						default:
							one.Precondition = durable.Absent()
						}
						rows = append(rows, one)
					}
					if err := durable.Commit(s, rows); err != nil && !errors.Is(err, durable.ErrConflict) {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	for _, s := range stores {
		if n := s.circles.Load(); n > 0 {
			t.Errorf("%d transactions of node %s were in a deadlock", n, s.node)
		}
	}
}

func TestANodeNameBelongsToOneProcess(t *testing.T) {
	url := postgrestest.Database(t)
	// The second process waits for a renewal. A busy machine must not delay the renewal for a long
	// time.
	s := openTest(t, Options{URL: url, Node: "a", Lease: 9 * time.Second})
	_, err := Open(Options{URL: url, Node: "a", Lease: 3 * time.Second})
	if !errors.Is(err, ErrNameTaken) {
		t.Errorf("the second process returned %v, want ErrNameTaken", err)
	}
	if !s.Holds() {
		t.Error("the first process lost its lease")
	}
}

// After a crash the node name is free once the lease has expired.
func TestAStartWaitsForTheLeaseOfADeadProcess(t *testing.T) {
	url := postgrestest.Database(t)
	// The database can still carry out a renewal that was sent before. The lease is short enough
	// that the start then waits for its end, too.
	s := openTest(t, Options{URL: url, Node: "a", Lease: 9 * time.Second})
	if err := commit(openLog(t, s, "codelab/1"), 1, "a"); err != nil {
		t.Fatal(err)
	}
	s.lease.Load().lose() // no more renewals
	<-s.keeping
	postgrestest.Exec(t, url, "update atelier.nodes set lease_until = clock_timestamp() + interval '300 milliseconds'")
	n := openTest(t, Options{URL: url, Node: "a"})
	if err := commit(openLog(t, n, "codelab/1"), 2, "b"); err != nil {
		t.Error(err)
	}
}

// Items queued under a lease are not committed under the next one.
func TestQueuedItemsEndWithTheirLease(t *testing.T) {
	s := openTest(t, Options{URL: postgrestest.Database(t), Node: "a"})
	blocked, free := make(chan struct{}), make(chan struct{})
	if err := s.Append(nil, func(error) { close(blocked); <-free }); err != nil {
		t.Fatal(err)
	}
	<-blocked
	queued := make(chan error, 1)
	if err := s.Append([]durable.Row{row("k", "v")}, func(err error) { queued <- err }); err != nil {
		t.Fatal(err)
	}
	if err := s.Rejoin(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(free)
	if err := <-queued; !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the queued item ended with %v, want ErrFenced", err)
	}
	put(t, s, row("other", "v"))
}

func TestASingleServerRegainsItsLease(t *testing.T) {
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
			t.Fatal("the lease is not regained")
		}
		time.Sleep(time.Millisecond)
	}
	if err := commit(log, 2, "x"); !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the append by the old handle returned %v, want ErrFenced", err)
	}
	if err := commit(openLog(t, s, "codelab/1"), 2, "b"); err != nil {
		t.Error(err)
	}
}

func TestWeakCommitsAreRefused(t *testing.T) {
	_, err := Open(Options{URL: postgrestest.Database(t) + "&synchronous_commit=off"})
	if !errors.Is(err, ErrWeakCommit) {
		t.Errorf("opening with weak commits returned %v, want ErrWeakCommit", err)
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
	looked := func(want int) {
		t.Helper()
		if format, err := FormatOf(url); err != nil || format != want {
			t.Errorf("FormatOf returned %d, %v; want %d", format, err, want)
		}
	}
	looked(0)
	if err := openTest(t, Options{URL: url}).Close(); err != nil {
		t.Fatal(err)
	}
	looked(Format)
	postgrestest.Exec(t, url, "update atelier.meta set format = $1", Format+1)
	looked(Format + 1)
	if _, err := Open(Options{URL: url}); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("opening a newer database returned %v, want ErrNewerFormat", err)
	}
	postgrestest.Exec(t, url, "update atelier.meta set format = 1")
	_, looking := FormatOf(url)
	_, opening := Open(Options{URL: url})
	for _, err := range []error{looking, opening} {
		if err == nil || !strings.Contains(err.Error(), "which no release wrote") {
			t.Errorf("a database of format 1: %v", err)
		}
	}
}

// Errors do not contain the password.
func TestErrorsContainNoPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@127.0.0.1:1/db", "postgres://u:hunter2@%zz/db", "postgres://u:hunter2@h:port/db",
		"host=h password=hunter2 port=x", "hunter2",
	} {
		_, err := Open(Options{URL: url})
		if _, asked := Members(url); asked == nil || strings.Contains(asked.Error(), "hunter2") {
			t.Errorf("listing the members returned %v", asked)
		}
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error with a wrong URL is %v", err)
		}
	}
}

func TestNodesCanStartConcurrently(t *testing.T) {
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

// One node opens an actor without records while another node releases it. The row exists at first,
// and is gone once its lock is granted. In an earlier version, opening then failed.
func TestAnActorCanBeOpenedWhileItIsReleased(t *testing.T) {
	url := postgrestest.Database(t)
	b := openNode(t, url, "b")
	defer b.Close()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("insert into atelier.owners values ('codelab/1', null, null, 0, 0)")
	exec("begin")
	exec("select from atelier.owners where actor = 'codelab/1' for update") // like give_logs
	opened := make(chan error, 1)
	go func() {
		l, err := b.Open("codelab/1")
		if err == nil {
			err = commit(l, 1, "a")
		}
		opened <- err
	}()
	for waits := false; !waits; {
		err := conn.QueryRow(ctx, "select exists (select from pg_locks where not granted)").Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	exec("delete from atelier.owners where actor = 'codelab/1'")
	exec("commit")
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// The database refuses requests of a node that has lost its lease without noticing.
func TestDatabaseEnforcesOwnership(t *testing.T) {
	url := postgrestest.Database(t)
	a := openNode(t, url, "a")
	defer a.Close()
	log := openLog(t, a.Store, "codelab/1").(*actorLog)
	if err := commit(log, 1, "a"); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	exec := func(sql string, args ...any) error {
		_, err := conn.Exec(ctx, sql, args...)
		return err
	}
	err = errors.Join(exec("set search_path = atelier"),
		exec("insert into nodes values ('over', 1, clock_timestamp() - interval '1 millisecond', 1, '', now())"))
	if err != nil {
		t.Fatal(err)
	}
	if err := exec("select take_log('over', 1, 'codelab/2')"); codeOf(err) != codeLeaseLost {
		t.Errorf("taking a log without a lease returned %v", err)
	}
	inc := log.lease.incarnation
	if err := exec("select hold_log('a', $1, 'codelab/1', $2)", inc, log.epoch-1); codeOf(err) != codeLogLost {
		t.Errorf("a change with an earlier handle returned %v", err)
	}
	if err := exec("select give_logs('a', $1, array['codelab/1']::bytea[], array[$2]::bigint[])", inc, log.epoch-1); err != nil {
		t.Fatal(err)
	}
	if owner, err := a.Owner("codelab/1"); owner != "a" || err != nil {
		t.Errorf("an earlier handle released the actor: %q, %v", owner, err)
	}
}

// A renewal that waits while another node judges the lease reads the clock after the wait. A lease
// that was judged expired must not be renewed.
func TestARenewalReadsTheClockAfterItsWait(t *testing.T) {
	url := postgrestest.Database(t)
	defer openNode(t, url, "a").Close()
	ctx := context.Background()
	var conns [2]*pgx.Conn
	for i := range conns {
		var err error
		if conns[i], err = pgx.Connect(ctx, url); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close(ctx)
	}
	judge := func(sql string, into ...any) {
		t.Helper()
		var err error
		if len(into) > 0 {
			err = conns[0].QueryRow(ctx, sql).Scan(into...)
		} else {
			_, err = conns[0].Exec(ctx, sql)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	judge("insert into atelier.nodes values ('x', 1, clock_timestamp() + interval '300 milliseconds', 1, '', now())")
	judge("begin")
	judge("select from atelier.nodes where node = 'x' for share")
	renewed := make(chan error, 1)
	go func() {
		_, err := conns[1].Exec(ctx, "set search_path = atelier")
		if err == nil {
			_, err = conns[1].Exec(ctx, "select renew('x', 1, '1 hour')")
		}
		renewed <- err
	}()
	for behind := false; !behind; {
		judge("select exists (select from pg_locks where not granted) and lease_until < clock_timestamp() from atelier.nodes where node = 'x'", &behind)
	}
	judge("commit")
	if err := <-renewed; codeOf(err) != codeLeaseLost {
		t.Errorf("an expired lease was renewed: %v", err)
	}
}

// The database counts a lease from the renewal, which happens after the request was sent. A node
// that counted from the response, which can take long, would rely on its lease longer than the
// database allows.
func TestALeaseCountsFromTheSendingOfItsRenewal(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Database(t)
	s, err := Open(Options{URL: url, Node: "a", Lease: 3 * time.Second, Program: "test", Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "begin; select from atelier.nodes where node = 'a' for update"); err != nil {
		t.Fatal(err)
	}
	l := s.lease.Load()
	before := l.renewed.Load()
	watch, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(ctx)
	for waits := false; !waits; {
		if err := watch.QueryRow(ctx, "select exists (select from pg_locks where not granted)").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	sentBefore := uptime() // the renewal is already waiting
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		t.Fatal(err)
	}
	for l.renewed.Load() == before && l.holds() {
		time.Sleep(time.Millisecond)
	}
	if !l.holds() {
		t.Skip("this machine takes seconds for a renewal")
	}
	if counts := time.Duration(l.renewed.Load()); counts > sentBefore {
		t.Errorf("the lease counts from %v after its renewal was sent", counts-sentBefore)
	}
}
