package postgres

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"atelier/persistence/postgres/postgrestest"
)

// The error for a missing grant contains the statement that grants it. This test runs the suggested
// statements until the store opens. In an earlier version, the error was a bare SQLSTATE.
func TestTheErrorForAMissingGrantContainsTheStatement(t *testing.T) {
	dsn := postgrestest.Database(t)
	first, err := Open(Options{URL: dsn, Node: "first"})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(u.Path, "/")
	role := "role of " + database
	postgrestest.Exec(t, dsn, `create role "`+role+`" login password 'p'; revoke connect on database "`+database+`" from public;
		revoke execute on all functions in schema atelier from public`)
	t.Cleanup(func() { postgrestest.Exec(t, dsn, `drop owned by "`+role+`"; drop role "`+role+`"`) })
	u.User = url.UserPassword(role, "p")
	run := regexp.MustCompile(`superuser: (GRANT .*;)$`)
	var granted []string
	for range 8 {
		s, err := Open(Options{URL: u.String(), Node: "second"})
		if err == nil {
			put(t, s, row("k", "v"))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		m := run.FindStringSubmatch(err.Error())
		if m == nil || !strings.Contains(err.Error(), `role "`+role+`" lacks`) {
			t.Fatalf("after %q: %v", granted, err)
		}
		if len(granted) > 0 && granted[len(granted)-1] == m[1] {
			t.Fatalf("granting %s does not help", m[1])
		}
		granted = append(granted, m[1])
		postgrestest.Exec(t, dsn, m[1])
	}
	if len(granted) < 3 {
		t.Errorf("the errors only mention %q", granted)
	}
}
