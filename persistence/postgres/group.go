package postgres

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// group is the content of one transaction, as arrays for the database. The writer owns the group
// and reuses it.
type group struct {
	batches, records, bytes int
	guarded                 bool // an item has preconditions

	// These lists have one entry per log. An entry has the expected content of the log's row in
	// owners, and its new content.
	logs   []*actorLog
	actors [][]byte
	epochs []int64
	heads  []int64
	tails  []int64
	place  map[*actorLog]int

	// chunks has one entry per chunk. Consecutive batches of one log share a chunk.
	chunks []span

	rows rowSet
	mem  []byte
}

// span is a chunk being built.
type span struct {
	log   *actorLog
	first uint64
	count int
	bytes int
	recs  []durable.Records
}

const (
	// maxSpanBytes is the size at which a chunk ends. Larger chunks have no advantage, and a reader
	// must load whole chunks.
	maxSpanBytes = 64 << 10
	// maxKeptMemory is the maximum size of a byte slab that is reused for the next group.
	maxKeptMemory = 16 << 20
)

func (g *group) empty() bool { return g.batches == 0 }

// build collects the content of items that were not refused. If an item has preconditions, build
// adds no rows. decide adds the rows of all items after it has evaluated the preconditions.
func (g *group) build(items []item) {
	g.reset()
	for i := range items {
		it := &items[i]
		if it.conflict {
			it.Err, it.conflict = nil, false // results of an earlier transaction no longer apply
		}
		if it.Err != nil || !it.Commits() {
			continue
		}
		g.batches++
		g.records += it.Count
		g.bytes += it.Bytes
		g.guarded = g.guarded || it.Preconditions
		if it.Kind == calls.KindBatch {
			g.addRecords(it)
		}
	}
	if !g.guarded {
		for i := range items {
			if it := &items[i]; it.Err == nil && it.Commits() {
				g.rows.put(it.Rows)
			}
		}
	}
}

func (g *group) addRecords(it *item) {
	n, known := g.place[it.Log]
	if !known {
		n = len(g.logs)
		g.place[it.Log] = n
		g.logs = append(g.logs, it.Log)
		g.actors = append(g.actors, []byte(it.Log.Actor))
		g.epochs = append(g.epochs, it.Log.epoch)
		g.heads = append(g.heads, int64(it.First-1))
		g.tails = append(g.tails, 0)
	}
	g.tails[n] = int64(it.First-1) + int64(it.Count)
	if known {
		if sp := &g.chunks[it.Log.span]; sp.bytes+len(it.Recs) <= maxSpanBytes {
			sp.count += it.Count
			sp.bytes += len(it.Recs)
			sp.recs = append(sp.recs, it.Recs)
			return
		}
	}
	it.Log.span = len(g.chunks)
	g.chunks = append(g.chunks, span{log: it.Log, first: it.First, count: it.Count, bytes: len(it.Recs), recs: []durable.Records{it.Recs}})
}

// chunkArrays returns the chunks as arrays for the database.
func (g *group) chunkArrays() (actors [][]byte, seqs []int64, values [][]byte) {
	actors, seqs, values = make([][]byte, len(g.chunks)), make([]int64, len(g.chunks)), make([][]byte, len(g.chunks))
	for i := range g.chunks {
		sp := &g.chunks[i]
		key := layout.ChunkKey(sp.log.Actor, sp.first)
		start := len(g.mem)
		g.mem = layout.AppendChunkHeader(g.mem, sp.count)
		for _, recs := range sp.recs {
			g.mem = append(g.mem, recs...)
		}
		value := g.mem[start:len(g.mem):len(g.mem)]
		layout.Seal(key, value)
		actors[i], seqs[i], values[i] = g.actors[g.place[sp.log]], int64(sp.first), value
	}
	return actors, seqs, values
}

// lost returns the logs at the positions that detail lists, or all logs if it lists none. detail is
// the detail of a database error.
func (g *group) lost(detail string) (out []*actorLog) {
	for place := range strings.SplitSeq(detail, ",") {
		if n, err := strconv.Atoi(place); err == nil && n >= 0 && n < len(g.logs) {
			out = append(out, g.logs[n])
		}
	}
	if len(out) == 0 {
		return g.logs // unknown positions: fail all logs, because an unchanged group must not be sent again
	}
	return out
}

func (g *group) reset() {
	if cap(g.mem) > maxKeptMemory {
		g.mem = nil
	}
	clear(g.logs)
	clear(g.actors)
	clear(g.chunks)
	if g.place == nil {
		g.place = make(map[*actorLog]int)
	}
	clear(g.place)
	g.rows.reset()
	*g = group{
		logs: g.logs[:0], actors: g.actors[:0], epochs: g.epochs[:0], heads: g.heads[:0], tails: g.tails[:0],
		place: g.place, chunks: g.chunks[:0], rows: g.rows, mem: g.mem[:0],
	}
}

// rowSet contains the row writes of a transaction. If a row is written several times, rowSet
// contains only the last write.
type rowSet struct {
	at  map[string]int // index in all, by the row's key of package layout
	all []rowWrite
}

// rowWrite is one sealed row to write. A row without a value is deleted.
type rowWrite struct {
	key   string // in the form of package layout, ordered by table and key
	row   *durable.Row
	value []byte
	new   bool // the row did not exist when checked, and must still not exist
}

func (s *rowSet) reset() {
	clear(s.at)
	clear(s.all)
	s.all = s.all[:0]
}

// put adds the rows to write, in order. A later write of a row replaces an earlier one.
func (s *rowSet) put(rows []durable.Row) {
	if s.at == nil {
		s.at = make(map[string]int)
	}
	for i := range rows {
		r := &rows[i]
		if r.CheckOnly {
			continue
		}
		w := rowWrite{key: rowKey(r), row: r}
		if !r.Delete {
			w.value = layout.Sealed([]byte(w.key), r.Value)
		}
		if n, ok := s.at[w.key]; ok {
			w.new = s.all[n].new
			s.all[n] = w
			continue
		}
		s.at[w.key] = len(s.all)
		s.all = append(s.all, w)
	}
}

func rowKey(r *durable.Row) string {
	return string(layout.AppendRowKey(make([]byte, 0, 2+len(r.Table)+len(r.Key)), r.Table, r.Key))
}

// hold adds the rows with preconditions that do not exist, which therefore could not be locked.
// Unless the group writes such a row, it becomes a tombstone, so that a concurrent creation
// conflicts.
func (s *rowSet) hold(rows []durable.Row, missing map[string]bool) {
	for i := range rows {
		r := &rows[i]
		if r.Precondition.Kind() == durable.NoPrecondition {
			continue
		}
		key := rowKey(r)
		if !missing[key] {
			continue
		}
		if _, ok := s.at[key]; !ok {
			s.at[key] = len(s.all)
			s.all = append(s.all, rowWrite{key: key, row: &durable.Row{Table: r.Table, Key: r.Key}})
		}
		s.all[s.at[key]].new = true
	}
}

// sort sorts the rows in the order in which every transaction locks them. No row can be added
// afterwards.
func (s *rowSet) sort() {
	slices.SortFunc(s.all, func(a, b rowWrite) int { return cmp.Compare(a.key, b.key) })
	clear(s.at) // the positions changed
}

// arrays returns either the new rows or all other rows, as ordered arrays for the database. lives
// contains the TTLs in microseconds, or 0 for a row that does not expire.
func (s *rowSet) arrays(isNew bool) (tables []string, keys, values [][]byte, lives []int64) {
	for i := range s.all {
		w := &s.all[i]
		if w.new != isNew {
			continue
		}
		key, life := w.row.Key, max(w.row.TTL.Microseconds(), 0)
		if w.row.TTL > 0 && life == 0 {
			life = 1
		}
		if key == nil {
			key = []byte{} // a nil key would become NULL
		}
		tables, keys, values, lives = append(tables, w.row.Table), append(keys, key), append(values, w.value), append(lives, life)
	}
	return tables, keys, values, lives
}
