package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atelier/actors/durable"
)

// These are the error codes of the database's functions (migrations/1.sql).
const (
	codeLeaseLost = "AT001"
	codeLogLost   = "AT002"
	codeOwned     = "AT003"
)

// ended reports whether the database itself has answered a statement with an error or without a
// row, and kept the connection. The statement then certainly has no effect.
func ended(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return errors.Is(err, pgx.ErrNoRows)
	}
	// Severity is in the language of the database.
	severity := cmp.Or(e.SeverityUnlocalized, e.Severity)
	return severity != "FATAL" && severity != "PANIC"
}

// codeOf returns the SQLSTATE of an error, or "" if it has none.
func codeOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func detailOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Detail
	}
	return ""
}

// again reports whether a transaction must be sent again because concurrent transactions ended it.
func again(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case pgSerialization, pgDeadlock, pgNoRow:
		return true
	case pgUnique:
		return e.ConstraintName == "rows_pkey"
	}
	return false
}

// These SQLSTATEs get special treatment.
const (
	pgSerialization = "40001"
	pgDeadlock      = "40P01"
	pgUnique        = "23505" // in rows: another transaction created the row
	pgNoRow         = "P0002" // from take_log, if the row was released meanwhile
	pgReadOnly      = "25006"
	pgDiskFull      = "53100"
	pgTooLong       = "54000"
	pgDenied        = "42501" // a privilege is missing
)

// translate converts a database error to an error of the durable.Journal contract. It omits the
// details of PostgreSQL's errors, because they can quote values.
func translate(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if unreachable(err) {
			return &passing{err}
		}
		return err
	}
	switch e.Code {
	case codeLeaseLost, codeLogLost:
		return durable.ErrFenced
	case pgReadOnly, pgDiskFull:
		return fmt.Errorf("%w: %s (SQLSTATE %s)", durable.ErrReadOnly, e.Message, e.Code)
	case pgTooLong:
		return fmt.Errorf("%w: %s (SQLSTATE %s)", durable.ErrTooLarge, e.Message, e.Code)
	}
	if e.Code == pgDenied {
		return newDenied(e.Message)
	}
	if passes[e.Code] || strings.HasPrefix(e.Code, classConnection) {
		return &passing{fmt.Errorf("postgres: %s (SQLSTATE %s)", e.Message, e.Code)}
	}
	return fmt.Errorf("postgres: %s (SQLSTATE %s)", e.Message, e.Code)
}

// passing is the error of a temporarily unavailable database. It wraps durable.ErrUnavailable and
// contains the database's reason.
type passing struct{ error }

func (p *passing) Unwrap() []error { return []error{durable.ErrUnavailable, p.error} }

// passes lists the SQLSTATEs of a temporarily unavailable database: it was interrupted, is starting
// or stopping, or lacks connections or memory. The last two SQLSTATEs mean that a concurrent
// transaction ended this one.
var passes = map[string]bool{
	"57014": true, "57P01": true, "57P02": true, "57P03": true, "57P05": true, "53300": true, "53200": true,
	pgSerialization: true, pgDeadlock: true,
}

const classConnection = "08"

// unreachable reports whether an error is not about the statement, but about the connection, or a
// wait that ended with the lease.
func unreachable(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	if errors.Is(err, durable.ErrCorrupt) {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// ask calls fn, which makes an idempotent request to the database, until it succeeds. It repeats
// the request after a broken connection, or if concurrent transactions ended it, but at most
// maxTries times and only while the lease is valid.
func (s *Store) ask(fn func(ctx context.Context) error) error { return s.lease.Load().ask(fn) }

func (l *lease) ask(fn func(ctx context.Context) error) error {
	rest := pause{}
	for tries := 0; ; tries++ {
		if !l.holds() {
			return durable.ErrFenced
		}
		err := fn(l.ctx)
		var final *final
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final):
			return final.error
		case codeOf(err) == codeLeaseLost:
			l.lose()
			return durable.ErrFenced
		case again(err) && tries < maxTries:
		case ended(err), tries >= maxTries:
			return deniedTo(l.role, translate(err))
		case !l.holds():
			return fmt.Errorf("%w: %w", durable.ErrFenced, err)
		}
		rest.take(l.ctx)
	}
}

// maxTries bounds the retries of a request.
const maxTries = 20

// final wraps an error after which a request is not retried. Either the error would not go away, or
// a function of the caller was already called and must not be called again.
type final struct{ error }

func (f *final) Unwrap() error { return f.error }
