package postgres

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Backup writes a consistent state of the store to w while the store keeps serving. The state is at
// least as new as the call. The format does not depend on the kind of store (package layout). The
// caller should sync w before relying on the backup.
func (s *Store) Backup(w io.Writer) error {
	if err := s.enterCall(); err != nil {
		return err
	}
	defer s.gate.Leave()
	err := s.view(func(v *view) error {
		out, err := layout.NewEntryWriter(w)
		if err != nil {
			return &final{err}
		}
		v.started = true // no retry from here on, because written data cannot be withdrawn
		err = v.entries(func(e layout.Entry) error {
			if _, err := layout.Unseal(e.Key, e.Value); err != nil {
				return err
			}
			return out.Put(e)
		})
		if err != nil {
			return err
		}
		for key, value := range map[string]string{
			string(layout.FormatKey): strconv.Itoa(layout.Format), string(layout.StreamKey): s.stream,
		} {
			if err := out.Put(layout.Entry{Key: []byte(key), Value: layout.Sealed([]byte(key), []byte(value))}); err != nil {
				return err
			}
		}
		return out.Finish()
	})
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// entries calls fn for all records, snapshots and rows, as keys and values of package layout. It
// omits expired rows and the table durable.NodeSecrets. Each entry is valid only during its call of
// fn.
func (v *view) entries(fn func(layout.Entry) error) error {
	var actor, value, key []byte
	var n int64
	var part int32
	err := v.query("select actor, seq, chunk from records order by actor, seq", func(r pgx.Rows) error {
		if err := r.Scan(&actor, &n, &value); err != nil {
			return err
		}
		return fn(layout.Entry{Key: layout.ChunkKey(string(actor), uint64(n)), Value: value})
	})
	if err != nil {
		return err
	}
	err = v.query("select actor, id, part, state from snapshot_parts order by actor, id, part", func(r pgx.Rows) error {
		if err := r.Scan(&actor, &n, &part, &value); err != nil {
			return err
		}
		return fn(layout.Entry{Key: layout.PartKey(string(actor), uint64(n), uint32(part)), Value: value})
	})
	if err != nil {
		return err
	}
	err = v.query("select actor, head from snapshots order by actor", func(r pgx.Rows) error {
		if err := r.Scan(&actor, &value); err != nil {
			return err
		}
		return fn(layout.Entry{Key: layout.HeadKey(string(actor)), Value: value})
	})
	if err != nil {
		return err
	}
	var table string
	return v.query("select tbl, key, value, expires from rows where "+visible+" and tbl <> '"+durable.NodeSecrets+"' order by tbl, key", func(r pgx.Rows) error {
		var expires *time.Time
		if err := r.Scan(&table, &key, &value, &expires); err != nil {
			return err
		}
		e := layout.Entry{Key: layout.AppendRowKey(nil, table, key), Value: value}
		if expires != nil {
			e.Expires = uint64(expires.Add(time.Second - 1).Unix()) // rounded up, so that the row does not expire earlier
		}
		return fn(e)
	})
}

// Scrub reads the whole store except expired rows and the table durable.NodeSecrets. For each value
// that does not match its checksum, it calls bad with the family of the value's key, and the actor
// or table.
func (s *Store) Scrub(bad func(what string)) error {
	if err := s.enterCall(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.view(func(v *view) error {
		v.started = true
		return v.entries(func(e layout.Entry) error {
			if _, err := layout.Unseal(e.Key, e.Value); err != nil {
				// The report omits the keys of rows, because they can contain people's names.
				name, _ := layout.ActorOf(e.Key)
				bad(fmt.Sprintf("an entry of the store, family %q %s", e.Key[0], name))
			}
			return nil
		})
	})
}
