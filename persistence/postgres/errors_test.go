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

// A read that ended with the lease, or with the connection, was an internal error
// to clients: they did not come back.
func TestErrorsThatPassAreToBeTriedAgain(t *testing.T) {
	code := func(c string) error { return fmt.Errorf("read: %w", &pgconn.PgError{Code: c, Message: "m"}) }
	for err, passes := range map[error]bool{
		context.Canceled: true, context.DeadlineExceeded: true, io.ErrUnexpectedEOF: true,
		code("57P01"): true, code("57014"): true, code("08006"): true, code("53300"): true, code(pgDeadlock): true,
		code("42501"): false, code("42P01"): false, errors.New("of the caller"): false,
		fmt.Errorf("%w: %w", durable.ErrCorrupt, io.ErrUnexpectedEOF): false,
	} {
		if got := errors.Is(translate(err), durable.ErrUnavailable); got != passes {
			t.Errorf("%v passes: %v", err, got)
		}
	}
}

// A scan in progress at the end of the lease returns an error of the contract.
func TestAScanThatTheLeaseEndsIsUnavailable(t *testing.T) {
	s := openTest(t, Options{URL: postgrestest.Database(t), Node: "a"})
	for i := range firstPageRows + 1 { // more than a page, so that it asks again
		put(t, s, row(fmt.Sprintf("%04d", i), "v"))
	}
	err := s.Scan(durable.Scan{Table: "t"}, func([]byte, []byte) bool {
		s.lease.Load().lose()
		return true
	})
	if !errors.Is(err, durable.ErrUnavailable) && !errors.Is(err, durable.ErrFenced) {
		t.Errorf("got %v", err)
	}
}
