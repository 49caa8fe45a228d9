package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Format is the version of the tables that this program writes.
const Format = 2

//go:embed migrations/1.sql
var firstTables string

// migrations[n] upgrades a database from format n to n+1. An empty database has format 0.
var migrations = []string{firstTables, ""}

// migrateLock is the key of the advisory lock that a node holds while it creates or changes tables.
const migrateLock = 0x6174656c696572

// migrate creates or upgrades the tables in one transaction, and returns the stream id.
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
		if format > len(migrations) {
			return newerFormat(format)
		}
		if made && format > 0 && format < layout.FirstFormat {
			return fmt.Errorf("postgres: %w", layout.Unreleased(format))
		}
		if format > 0 && format < len(migrations) {
			if err := unused(ctx, tx, format); err != nil {
				return err
			}
		}
		for ; format < len(migrations); format++ {
			if _, err := tx.Exec(ctx, migrations[format]); err != nil {
				return fmt.Errorf("migrate from format %d: %w", format, err)
			}
			if _, err := tx.Exec(ctx, "update meta set format = $1", format+1); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrInUse) {
		return "", err
	}
	return stream, translate(err)
}

// FormatOf reads the table format of a database without changing anything. The format is 0 for a
// database without tables.
func FormatOf(url string) (format int, err error) {
	config, err := parse(url)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return 0, fmt.Errorf("read the format of the database: %w", deniedTo(config.ConnConfig.User, err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var made bool
	if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", schema+".meta").Scan(&made); err != nil || !made {
		return 0, translate(err)
	}
	if err := conn.QueryRow(ctx, "select format from meta").Scan(&format); err != nil {
		return 0, translate(err)
	}
	if format < layout.FirstFormat {
		return 0, fmt.Errorf("postgres: %w", layout.Unreleased(format))
	}
	return format, nil
}

func newerFormat(format int) error {
	return fmt.Errorf("%w: the database has format %d, this program reads formats up to %d", ErrNewerFormat, format, len(migrations))
}

// unused returns an error if nodes are alive, because their programs do not support the next
// format.
func unused(ctx context.Context, tx pgx.Tx, format int) error {
	others, err := living(ctx, tx, "")
	if err != nil || len(others) == 0 {
		return err
	}
	return fmt.Errorf("%w: node %s (%s) uses format %d of the tables, which this program would change to %d. Make a backup, stop all nodes, then start this one (CLUSTER.md, \"Update with a change of the tables\")",
		ErrInUse, others[0].Node, others[0].Program, format, len(migrations))
}

// living returns the nodes with a valid lease, except the node with the given name.
func living(ctx context.Context, tx pgx.Tx, except string) (out []durable.Member, err error) {
	rows, err := tx.Query(ctx, "select node, version, program from nodes where lease_until > clock_timestamp() and node <> $1 order by node", except)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m durable.Member, err error) {
		return m, row.Scan(&m.Node, &m.Version, &m.Program)
	})
}

// admitted returns an error if this program cannot run on the current database together with the
// living nodes. It waits while another node changes the tables. Either that node finds this node's
// lease and is refused, or this node finds the new format.
func (s *Store) admitted(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock_shared($1)", migrateLock); err != nil {
			return err
		}
		format := 0
		if err := tx.QueryRow(ctx, "select format from meta").Scan(&format); err != nil {
			return err
		}
		if format > len(migrations) {
			return newerFormat(format)
		}
		if s.opts.Admit == nil {
			return nil
		}
		others, err := living(ctx, tx, s.node)
		if err != nil {
			return err
		}
		if err := s.opts.Admit(others); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return nil
	})
}
