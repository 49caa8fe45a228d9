package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Follow implements durable.Journal.
func (s *Store) Follow(actor string) (durable.Reader, error) {
	if err := layout.CheckActor(actor); err != nil {
		return nil, err
	}
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	return &reader{store: s, actor: actor}, nil
}

// Owner implements durable.Shared.
func (s *Store) Owner(actor string) (node string, err error) {
	if err := s.enterCall(); err != nil {
		return "", err
	}
	defer s.gate.Leave()
	err = s.ask(func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, `select node from owners join nodes using (node, incarnation)
			where actor = $1 and lease_until > clock_timestamp()`, []byte(actor)).Scan(&node)
		if errors.Is(err, pgx.ErrNoRows) {
			node, err = "", nil
		}
		return err
	})
	return node, err
}

// keptLeases is the time for which a node stays a member after its lease has expired, as a number
// of lease durations.
const keptLeases = 20

// Members implements durable.Shared.
func (s *Store) Members() (members []durable.Member, err error) {
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	err = s.ask(func(ctx context.Context) error {
		members, err = readMembers(ctx, s.pool, keptLeases*s.opts.Lease, false)
		return err
	})
	return members, err
}

// Known implements durable.Shared.
func (s *Store) Known() (names []string, err error) {
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	err = s.ask(func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, "select node from nodes where lease_until > '-infinity' order by node")
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return names, err
}

// Members returns the nodes of a database, for a program that is not a node itself. Nodes that
// stopped properly stay in the list for a day, and dead nodes until they are forgotten. Members
// changes nothing.
func Members(url string) (members []durable.Member, err error) {
	err = once(url, func(ctx context.Context, conn *pgx.Conn) error {
		var made bool
		if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", schema+".nodes").Scan(&made); err != nil || !made {
			return err
		}
		members, err = readMembers(ctx, conn, 24*time.Hour, true)
		return err
	})
	return members, err
}

// Forget removes a node that is not running from the list of Members. It returns false if there is
// no such node. If the node comes back, its incarnation numbers continue.
func Forget(url, node string) (forgotten bool, err error) {
	err = once(url, func(ctx context.Context, conn *pgx.Conn) error {
		done, err := conn.Exec(ctx, "update nodes set lease_until = '-infinity' where node = $1 and lease_until <= clock_timestamp() and lease_until > '-infinity'", node)
		forgotten = done.RowsAffected() > 0
		return err
	})
	return forgotten, err
}

// once sends a request to a database on a separate connection.
func once(url string, ask func(context.Context, *pgx.Conn) error) error {
	config, err := parse(url)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), config.ConnConfig.ConnectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return fmt.Errorf("reach the database: %w", deniedTo(config.ConnConfig.User, translate(err)))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return deniedTo(config.ConnConfig.User, translate(ask(ctx, conn)))
}

func readMembers(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, kept time.Duration, dead bool) ([]durable.Member, error) {
	rows, err := db.Query(ctx, `select node, incarnation, version, program, since,
			(extract(epoch from lease_until - clock_timestamp()) * 1000000)::bigint,
			(select count(*) from owners o where o.node = n.node and o.incarnation = n.incarnation)
		from nodes n where lease_until > clock_timestamp() - $1::interval or $2 and version >= 0 and lease_until > '-infinity' order by node`, kept, dead)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m durable.Member, err error) {
		var left int64
		err = row.Scan(&m.Node, &m.Incarnation, &m.Version, &m.Program, &m.Since, &left, &m.Owns)
		m.Left = time.Duration(left) * time.Microsecond
		if m.Version < 0 { // see hasStopped
			m.Stopped, m.Version = true, -1-m.Version
		}
		return m, err
	})
}
