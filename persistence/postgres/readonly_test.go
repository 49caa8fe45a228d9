package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// asAdmin runs statements on a separate connection, even if the database is read-only.
func asAdmin(t *testing.T, url string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range append([]string{"set default_transaction_read_only = off"}, statements...) {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// Renewing a lease needs no space, so only writes detect a full disk. The store reports the full
// disk until a write succeeds again.
func TestFullDiskIsReported(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url})
	put(t, s, row("k", "before"))
	asAdmin(t, url,
		"create function public.full() returns trigger language plpgsql as $$ begin raise exception using errcode = '53100', message = 'no space left on device'; end $$",
		"create trigger full_disk before insert or update on atelier.rows execute function public.full()")
	if err := durable.Commit(s, []durable.Row{row("k", "full")}); !errors.Is(err, durable.ErrReadOnly) || !s.ReadOnly() {
		t.Errorf("on a full disk: %v, read-only: %v", err, s.ReadOnly())
	}
	s.readOnly.Store(false) // simulates a renewal of the lease
	if !s.Stats().ReadOnly {
		t.Error("after a renewal, the full disk is no longer reported")
	}
	if v, err := s.Get("t", []byte("k")); err != nil || string(v) != "before" {
		t.Errorf("a read returned %q, %v", v, err)
	}
	asAdmin(t, url, "drop trigger full_disk on atelier.rows")
	put(t, s, row("k", "after"))
	if s.ReadOnly() || s.Stats().ReadOnly {
		t.Error("the full disk is still reported after a write")
	}
}

// A read-only database refuses to renew the lease. The node reports that the database is read-only.
func TestReadOnlyDatabaseIsReported(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url})
	set := func(what string) {
		t.Helper()
		asAdmin(t, url, "do $$ begin execute format('alter database %I "+what+"', current_database()); end $$")
	}
	wait := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("timeout: %s", what)
			}
		}
	}
	set("set default_transaction_read_only = on")
	s.lease.Load().lose()
	wait("the read-only database is not reported", func() bool { return s.Stats().ReadOnly })
	set("reset default_transaction_read_only")
	wait("the node does not rejoin", s.Holds)
	if s.Stats().ReadOnly {
		t.Error("the database is reported as read-only although the node rejoined")
	}
	put(t, s, row("k", "v"))
}
