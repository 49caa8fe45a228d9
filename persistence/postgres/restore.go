package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/persistence/layout"
)

// ErrNotEmpty means that the target database already contains data, or that a node uses it.
var ErrNotEmpty = errors.New("postgres: the database already contains data; use an empty database, or drop its schema " + schema)

// Restoring is a database that is being filled from a backup, in one transaction.
type Restoring struct {
	conn  *pgx.Conn
	heads map[string]int64 // seq of each actor's last record
	ids   int64            // the highest id of a snapshot
}

// CheckEmpty returns ErrNotEmpty for a database that contains data, or that a living node uses. It
// creates missing tables.
func CheckEmpty(url string) error {
	r, err := begin(url)
	if err != nil {
		return err
	}
	return r.Discard()
}

// Restore reads a backup of any kind of store into an empty database. The data becomes visible with
// Commit. A damaged backup fails with ErrBadBackup, and a newer program's backup with
// ErrNewerFormat. A database that is not empty fails with ErrNotEmpty. The restored store has a new
// StreamID.
func Restore(url string, r io.Reader) (*Restoring, error) {
	in, err := layout.NewEntryReader(r)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	out, err := begin(url)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := out.fill(in); err != nil {
		return nil, errors.Join(fmt.Errorf("restore: %w", err), out.Discard())
	}
	return out, nil
}

// begin creates missing tables, and opens the transaction that fills the database. It fails like
// CheckEmpty.
func begin(url string) (*Restoring, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	conn, err := (&Store{config: config}).connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &Restoring{conn: conn, heads: make(map[string]int64)}
	_, err = migrate(ctx, conn)
	if err == nil {
		// No node can write until the transaction ends.
		_, err = conn.Exec(ctx, "begin; lock table nodes, owners, records, snapshots, snapshot_parts, rows in exclusive mode")
	}
	var used bool
	if err == nil {
		err = conn.QueryRow(ctx, `select exists (select from records) or exists (select from snapshots) or exists (select from rows)
			or exists (select from nodes where lease_until > clock_timestamp())`).Scan(&used)
	}
	if err == nil && used {
		err = ErrNotEmpty
	}
	if err != nil {
		return nil, errors.Join(translate(err), r.Discard())
	}
	return r, nil
}

// Commit commits the restored data.
func (r *Restoring) Commit() error {
	_, err := r.conn.Exec(context.Background(), "commit")
	return errors.Join(translate(err), r.Discard())
}

// Discard abandons the restore and its uncommitted data.
func (r *Restoring) Discard() error { return r.conn.Close(context.Background()) }

// restoreBytes is the size after which a batch is sent to the database.
const restoreBytes = 4 << 20

func (r *Restoring) fill(in *layout.EntryReader) error {
	var page entryPage
	for {
		e, err := in.Next()
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF || page.bytes > restoreBytes {
			if err := page.flush(r.conn); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err := r.add(&page, e); err != nil {
			return err
		}
	}
	ctx := context.Background()
	var actors [][]byte
	var heads []int64
	for actor, head := range r.heads {
		actors, heads = append(actors, []byte(actor)), append(heads, head)
	}
	b := &pgx.Batch{}
	b.Queue("delete from owners")
	b.Queue("insert into owners select a, null, null, nextval('epochs'), h from unnest($1::bytea[], $2::bigint[]) as u(a, h)", actors, heads)
	// Finish the purges that were in progress in the backed-up store.
	for _, table := range []string{"records", "snapshots", "snapshot_parts", "owners"} {
		b.Queue("delete from "+table+" where actor in (select key from rows where tbl = $1)", layout.PurgeTable)
	}
	b.Queue("delete from rows where tbl = $1", layout.PurgeTable)
	// Epochs and snapshot ids share a sequence. It must continue after the restored snapshot ids.
	b.Queue("select setval('epochs', greatest($1::bigint + 1, nextval('epochs')))", r.ids)
	b.Queue("update meta set stream = $1", layout.NewStreamID())
	return translate(r.conn.SendBatch(ctx, b).Close())
}

// entryPage is one batch for the database, in the form of arrays.
type entryPage struct {
	bytes   int
	records struct {
		actors, chunks [][]byte
		seqs           []int64
	}
	heads struct{ actors, values [][]byte }
	parts struct {
		actors, values [][]byte
		ids            []int64
		parts          []int32
	}
	rows struct {
		tables       []string
		keys, values [][]byte
		expires      []*time.Time
	}
}

// add adds an entry to a page. An entry that no store would write makes the backup invalid.
func (r *Restoring) add(p *entryPage, e layout.Entry) error {
	payload, err := layout.Unseal(e.Key, e.Value)
	if err != nil {
		return fmt.Errorf("%w: %w", layout.ErrBadBackup, err)
	}
	p.bytes += len(e.Key) + len(e.Value)
	name, ok := layout.ActorOf(e.Key)
	prefix := 2 + len(name)
	switch e.Key[0] {
	case layout.FamilyMeta:
		return nil // not restored: this database has its own metadata
	case layout.FamilyChunk:
		c, err := layout.DecodeChunk(e.Key, e.Value, prefix)
		if err != nil || !ok {
			return errors.Join(errNoEntry, err)
		}
		r.heads[name] = max(r.heads[name], int64(c.Last()))
		p.records.actors, p.records.chunks = append(p.records.actors, []byte(name)), append(p.records.chunks, e.Value)
		p.records.seqs = append(p.records.seqs, int64(c.First))
		return nil
	case layout.FamilyHead:
		h, err := layout.DecodeHead(payload)
		if err != nil || !ok {
			return errors.Join(errNoEntry, err)
		}
		r.heads[name] = max(r.heads[name], int64(h.Seq))
		r.ids = max(r.ids, int64(h.ID))
		p.heads.actors, p.heads.values = append(p.heads.actors, []byte(name)), append(p.heads.values, e.Value)
		return nil
	case layout.FamilyPart:
		id, part, isPart := layout.PartOf(e.Key, prefix)
		if !isPart || !ok {
			return errNoEntry
		}
		r.ids = max(r.ids, int64(id))
		p.parts.actors, p.parts.values = append(p.parts.actors, []byte(name)), append(p.parts.values, e.Value)
		p.parts.ids, p.parts.parts = append(p.parts.ids, int64(id)), append(p.parts.parts, int32(part))
		return nil
	case layout.FamilyRow:
		if !ok {
			return errNoEntry
		}
		table, key := layout.SplitRowKey(e.Key)
		var expires *time.Time
		if e.Expires > 0 {
			at := time.Unix(int64(e.Expires), 0)
			expires = &at
		}
		p.rows.tables, p.rows.keys = append(p.rows.tables, table), append(p.rows.keys, key)
		p.rows.values, p.rows.expires = append(p.rows.values, e.Value), append(p.rows.expires, expires)
		return nil
	}
	return errNoEntry
}

var errNoEntry = fmt.Errorf("%w: it contains an entry that no store writes", ErrBadBackup)

func (p *entryPage) flush(conn *pgx.Conn) error {
	b := &pgx.Batch{}
	b.Queue(insertRecords, p.records.actors, p.records.seqs, p.records.chunks)
	b.Queue("insert into snapshots select * from unnest($1::bytea[], $2::bytea[])", p.heads.actors, p.heads.values)
	b.Queue("insert into snapshot_parts select * from unnest($1::bytea[], $2::bigint[], $3::int[], $4::bytea[])",
		p.parts.actors, p.parts.ids, p.parts.parts, p.parts.values)
	b.Queue("insert into rows (tbl, key, value, expires) select * from unnest($1::text[], $2::bytea[], $3::bytea[], $4::timestamptz[])",
		p.rows.tables, p.rows.keys, p.rows.values, p.rows.expires)
	*p = entryPage{}
	return translate(conn.SendBatch(context.Background(), b).Close())
}
