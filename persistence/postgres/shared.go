package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Follow implements durable.Shared.
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

// keptLeases is for how many leases behind its end a node is a member.
const keptLeases = 20

// Members implements durable.Shared.
func (s *Store) Members() (members []durable.Member, err error) {
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	err = s.ask(func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `select node, incarnation, version, program, since,
				(extract(epoch from lease_until - clock_timestamp()) * 1000000)::bigint,
				(select count(*) from owners o where o.node = n.node and o.incarnation = n.incarnation)
			from nodes n where lease_until > clock_timestamp() - $1::interval order by node`, keptLeases*s.opts.Lease)
		if err != nil {
			return err
		}
		members, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m durable.Member, err error) {
			var left int64
			err = row.Scan(&m.Node, &m.Incarnation, &m.Version, &m.Program, &m.Since, &left, &m.Owns)
			m.Left = time.Duration(left) * time.Microsecond
			return m, err
		})
		return err
	})
	return members, err
}
