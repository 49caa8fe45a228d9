package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// A change that began before a poll and was committed after it is reported by the next poll.
func TestAFeedMissesNoLateCommit(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Database(t)
	// Only the test polls, because a second goroutine would change the map at the same time.
	s := openTest(t, Options{URL: url, Node: "a", LookEvery: time.Hour})
	delivered := map[string]string{}
	f, err := s.Watch([]string{"t"}, func(_ string, key, value []byte) { delivered[string(key)] = string(value) })
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
	// The row's transaction id is lower than the id of the next commit.
	if _, err := conn.Exec(ctx, "begin; update atelier.rows set changed = pg_current_xact_id(), value = null, expires = clock_timestamp() where key = 'slow'"); err != nil {
		t.Fatal(err)
	}
	put(t, s, row("fast", "v"))
	for range 2 {
		if err := f.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if delivered["fast"] != "v" || delivered["slow"] != "old" {
		t.Fatalf("the feed reported %q", delivered)
	}
	if _, err := conn.Exec(ctx, "commit"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(ctx); err != nil || delivered["slow"] != "" {
		t.Errorf("the feed reported %q, %v", delivered, err)
	}
}

// A feed that was cut off for longer than tombstones are stored still reports all deleted rows.
func TestAFeedThatWasDisconnectedStartsOver(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a", LookEvery: time.Hour})
	delivered := map[string]string{}
	feed, err := s.Watch([]string{"t"}, func(_ string, key, value []byte) {
		if delivered[string(key)] = string(value); value == nil {
			delete(delivered, string(key))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	put(t, s, row("1", "v"), row("2", "v"))
	if err := feed.Sync(context.Background()); err != nil || len(delivered) != 2 {
		t.Fatalf("the feed has the rows %v, %v, want 2", delivered, err)
	}
	put(t, s, durable.Row{Table: "t", Key: []byte("1"), Delete: true}, row("3", "v"))
	postgrestest.Exec(t, url, "delete from atelier.rows where value is null")
	f := feed.(*feedOf)
	f.seen = f.seen.Add(-s.opts.Remember)
	if err := feed.Sync(context.Background()); err != nil || len(delivered) != 2 || delivered["1"] != "" {
		t.Errorf("the feed reported %q, %v", delivered, err)
	}
}

// feedOf names the type feed where a variable hides it.
type feedOf = feed

// Expired rows and tombstones are removed from the table after Options.Remember.
func TestExpiredRowsAreSwept(t *testing.T) {
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
			t.Fatalf("the table has %d rows, %v, want 1", n, err)
		}
	}
	if v, err := s.Get("t", []byte("kept")); err != nil || string(v) != "v" {
		t.Errorf("Get returned %q, %v, want v", v, err)
	}
}
