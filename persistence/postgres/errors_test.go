package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// A read that fails because the lease or the connection ended must return ErrUnavailable. In an
// earlier version, it returned an internal error, which clients do not retry.
func TestTransientErrorsAreUnavailable(t *testing.T) {
	code := func(c string) error { return fmt.Errorf("read: %w", &pgconn.PgError{Code: c, Message: "m"}) }
	for err, transient := range map[error]bool{
		context.Canceled: true, context.DeadlineExceeded: true, io.ErrUnexpectedEOF: true,
		code("57P01"): true, code("57014"): true, code("08006"): true, code("53300"): true, code(pgDeadlock): true,
		code("42501"): false, code("42P01"): false, errors.New("of the caller"): false,
		fmt.Errorf("%w: %w", durable.ErrCorrupt, io.ErrUnexpectedEOF): false,
	} {
		if got := errors.Is(translate(err), durable.ErrUnavailable); got != transient {
			t.Errorf("%v: unavailable is %v, want %v", err, got, transient)
		}
	}
}

// A scan that is in progress when the lease ends returns ErrUnavailable, which callers expect.
func TestScanFailsAsUnavailableWhenTheLeaseEnds(t *testing.T) {
	s := openTest(t, Options{URL: postgrestest.Database(t), Node: "a"})
	for i := range firstPageRows + 1 { // more than a page, so that the scan sends a second query
		put(t, s, row(fmt.Sprintf("%04d", i), "v"))
	}
	err := s.Scan(durable.Scan{Table: "t"}, func([]byte, []byte) bool {
		s.lease.Load().lose()
		return true
	})
	if !errors.Is(err, durable.ErrUnavailable) && !errors.Is(err, durable.ErrFenced) {
		t.Errorf("the scan returned %v", err)
	}
}
