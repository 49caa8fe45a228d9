package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"atelier/persistence/layout"
)

// Format is the version of the tables that this program writes.
const Format = 1

//go:embed migrations/1.sql
var firstTables string

// migrations[n] brings a database from format n to n+1; 0 is an empty one.
var migrations = []string{firstTables}

// migrateLock is the key of the advisory lock that lets one node at a time make
// or change tables.
const migrateLock = 0x6174656c696572

// migrate makes the tables or brings them up to date, in one transaction, and
// returns the stream's id.
func migrate(ctx context.Context, conn *pgx.Conn) (stream string, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", migrateLock); err != nil {
			return err
		}
		var made bool
		if err := tx.QueryRow(ctx, "select to_regclass($1) is not null", schema+".meta").Scan(&made); err != nil {
			return err
		}
		format := 0
		if made {
			if err := tx.QueryRow(ctx, "select format, stream from meta").Scan(&format, &stream); err != nil {
				return err
			}
		} else {
			stream = layout.NewStreamID()
			_, err := tx.Exec(ctx, "create schema if not exists "+schema+"; create table meta (format int not null, stream text not null)")
			if err == nil {
				_, err = tx.Exec(ctx, "insert into meta values (0, $1)", stream)
			}
			if err != nil {
				return err
			}
		}
		if format > Format {
			return fmt.Errorf("%w: the database has format %d, this program knows formats up to %d", ErrNewerFormat, format, Format)
		}
		for ; format < Format; format++ {
			if _, err := tx.Exec(ctx, migrations[format]); err != nil {
				return fmt.Errorf("migrate from format %d: %w", format, err)
			}
			if _, err := tx.Exec(ctx, "update meta set format = $1", format+1); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, ErrNewerFormat) {
		return "", err
	}
	return stream, translate(err)
}
