package memory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelier/actors/durable"
)

// content is a Store's data, as on a disk. It is guarded by the Store's mutex.
type content struct {
	written int    // rows since the last sweep
	stream  string // see durable.Store.StreamID
	actors  map[string]*actorContent
	rows    map[string]map[string]row
	// changed contains the number of each row's last change. It also contains removed rows, so that
	// feeds report rows that were created and removed between two polls.
	changed map[place]uint64
	changes uint64

	// The nodes' data about each other, if the store is shared.
	members map[string]*member
	owners  map[string]owner // by actor
	epochs  uint64           // the highest epoch assigned so far

	// committed, if not nil, is called for each batch of records. It must not call the store.
	committed func(node, actor string, first uint64, records [][]byte)
}

type actorContent struct {
	first       uint64 // seq of records[0]
	records     [][]byte
	snapshot    []byte // nil if there is none
	snapshotSeq uint64
	base        uint64 // see durable.LogReader
}

// place is the key of a row.
type place struct{ table, key string }

type row struct {
	key     string
	value   []byte
	expires time.Time // zero: never
}

func newContent() *content {
	return &content{stream: strings.ReplaceAll(uuid.NewString(), "-", ""), actors: make(map[string]*actorContent), rows: make(map[string]map[string]row),
		changed: make(map[place]uint64), members: make(map[string]*member), owners: make(map[string]owner)}
}

func (c *content) actor(name string) *actorContent {
	a := c.actors[name]
	if a == nil {
		a = &actorContent{first: 1}
		c.actors[name] = a
	}
	return a
}

func (c *content) tail(actor string) uint64 {
	a := c.actors[actor]
	if a == nil {
		return 0
	}
	return a.first + uint64(len(a.records)) - 1
}

func (c *content) add(actor string, first uint64, records [][]byte) {
	a := c.actor(actor)
	if len(a.records) == 0 {
		a.first = first
	}
	a.records = append(a.records, records...)
}

// read returns a log in a form that later changes do not affect: the snapshot, and the records with
// the seq of the first.
func (c *content) read(actor string) (snap durable.Snapshot, first uint64, records [][]byte) {
	a := c.actors[actor]
	if a == nil {
		return durable.Snapshot{}, 1, nil
	}
	return durable.Snapshot{State: a.snapshot, Seq: a.snapshotSeq, Base: a.base, Tail: c.tail(actor)}, a.first, slices.Clone(a.records)
}

// rewrite replaces records and raises the base.
func (c *content) rewrite(actor string, upTo uint64, replaced map[uint64][]byte) {
	a := c.actors[actor]
	if a == nil || len(replaced) == 0 {
		return
	}
	a.base = max(a.base, upTo)
	for seq, record := range replaced {
		if seq >= a.first && seq-a.first < uint64(len(a.records)) {
			a.records[seq-a.first] = record
		}
	}
}

func (c *content) snapshot(actor string, seq uint64, state []byte, keep uint64) error {
	a := c.actor(actor)
	if a.snapshot != nil && seq < a.snapshotSeq {
		return fmt.Errorf("memory: snapshot of %s at %d is older than the stored one at %d", actor, seq, a.snapshotSeq)
	}
	a.snapshot, a.snapshotSeq = append([]byte{}, state...), seq
	limit := min(seq, keep)
	a.base = max(a.base, limit)
	if limit >= a.first {
		n := min(limit-a.first+1, uint64(len(a.records)))
		a.records = slices.Clone(a.records[n:])
		a.first += n
	}
	return nil
}

func (c *content) names(prefix string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.actors)) {
		a := c.actors[name]
		if strings.HasPrefix(name, prefix) && (len(a.records) > 0 || a.snapshot != nil) {
			names = append(names, name)
		}
	}
	return names
}

// check returns ErrConflict if a precondition of rows does not hold.
func (c *content) check(rows []durable.Row) error {
	for _, r := range rows {
		if err := r.Precondition.Holds(c.get(r.Table, string(r.Key))); err != nil {
			return err
		}
	}
	return nil
}

// sweepEvery is the number of written rows after which expired rows are removed.
const sweepEvery = 50_000

func (c *content) sweep() {
	for _, table := range c.rows {
		maps.DeleteFunc(table, func(_ string, r row) bool { return !r.live() })
	}
}

func (c *content) put(rows []durable.Row) {
	if c.written += len(rows); c.written >= sweepEvery {
		c.written = 0
		c.sweep()
	}
	for _, r := range rows {
		if r.CheckOnly {
			continue
		}
		c.changes++
		c.changed[place{r.Table, string(r.Key)}] = c.changes
		table := c.rows[r.Table]
		if table == nil {
			table = make(map[string]row)
			c.rows[r.Table] = table
		}
		if r.Delete {
			delete(table, string(r.Key))
			continue
		}
		table[string(r.Key)] = row{
			key:     string(r.Key),
			value:   append([]byte{}, r.Value...),
			expires: expires(r.TTL),
		}
	}
}

func (r row) live() bool { return r.expires.IsZero() || time.Now().Before(r.expires) }

func (c *content) get(table, key string) ([]byte, error) {
	r, ok := c.rows[table][key]
	if !ok || !r.live() {
		return nil, durable.ErrNotFound
	}
	return bytes.Clone(r.value), nil
}

func (c *content) scan(q durable.Scan) []row {
	var found []row
	for key, r := range c.rows[q.Table] {
		if strings.HasPrefix(key, string(q.Prefix)) && r.live() && inRange(q, key) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b row) int {
		if q.Reverse {
			return strings.Compare(b.key, a.key)
		}
		return strings.Compare(a.key, b.key)
	})
	return found
}

func inRange(q durable.Scan, key string) bool {
	if q.From == nil {
		return true
	}
	if q.Reverse {
		return key <= string(q.From)
	}
	return key >= string(q.From)
}
