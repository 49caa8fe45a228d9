package badger

import (
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// group is the content of one transaction. The writer owns it. Entries, keys and values are in
// slabs that the writer reuses after the commit, because Badger has copied them when a commit
// returns.
type group struct {
	cost    txnCost
	batches int
	records int
	bytes   int

	spans []span
	rows  []int32 // items with rows, in order
	round uint64  // identifies the logs whose span index belongs to this group

	slab []badgerdb.Entry
	mem  []byte
	// guarded are the appends with preconditions, in order.
	guarded []guarded
}

// guarded is one append with preconditions: its entries in the slab, and the item to notify of a
// conflict.
type guarded struct {
	it         *item
	start, end int
}

// span contains consecutive batches of one log, which become one chunk.
type span struct {
	log        *actorLog
	first      uint64
	count      int
	bytes      int
	head, tail int32 // linked through item.next
}

const (
	noItem = int32(-1)
	// maxSpanBytes is the size at which a chunk ends. Larger chunks gain nothing, and a reader must
	// load whole chunks.
	maxSpanBytes = 64 << 10
	// maxKeptMemory bounds the slab of bytes that is reused after its group.
	maxKeptMemory = 16 << 20
)

func (g *group) empty() bool { return len(g.spans) == 0 && len(g.rows) == 0 }

// hasRoom reports whether the item fits. An empty group accepts every item, since Append has
// checked that a batch fits into a transaction.
func (g *group) hasRoom(m costModel, c txnCost) bool {
	return g.empty() || m.fits(g.cost.plus(c))
}

// add adds items[i] to the group, if it is to be committed.
func (g *group) add(items []item, i int32) {
	it := &items[i]
	if it.Kind != calls.KindBatch && it.Kind != calls.KindRows {
		return
	}
	g.cost = g.cost.plus(it.cost)
	g.batches++
	g.records += it.Count
	g.bytes += it.Bytes
	if len(it.Rows) > 0 {
		g.rows = append(g.rows, i)
	}
	if it.Kind == calls.KindRows {
		return
	}
	it.next = noItem
	l := it.Log
	if l.spanRound == g.round {
		if sp := &g.spans[l.span]; sp.bytes+len(it.Recs) <= maxSpanBytes {
			items[sp.tail].next = i
			sp.tail = i
			sp.count += it.Count
			sp.bytes += len(it.Recs)
			return
		}
	}
	l.spanRound, l.span = g.round, len(g.spans)
	g.spans = append(g.spans, span{
		log: l, first: it.First, count: it.Count, bytes: len(it.Recs), head: i, tail: i,
	})
}

// entries returns the transaction's entries, which are valid until reset.
func (g *group) entries(items []item) []badgerdb.Entry {
	for i := range g.spans {
		g.addChunk(&g.spans[i], items)
	}
	now := time.Now()
	for _, i := range g.rows {
		rows, start := items[i].Rows, len(g.slab)
		for j := range rows {
			if !rows[j].CheckOnly {
				g.addRow(&rows[j], now)
			}
		}
		if items[i].Preconditions {
			g.guarded = append(g.guarded, guarded{&items[i], start, len(g.slab)})
		}
	}
	return g.slab
}

func (g *group) addChunk(sp *span, items []item) {
	start := len(g.mem)
	g.mem = append(g.mem, sp.log.prefix...)
	g.mem = appendSeq(g.mem, sp.first)
	key := g.mem[start:len(g.mem):len(g.mem)]

	start = len(g.mem)
	g.mem = layout.AppendChunkHeader(g.mem, sp.count)
	for i := sp.head; i != noItem; i = items[i].next {
		g.mem = append(g.mem, items[i].Recs...)
	}
	value := g.mem[start:len(g.mem):len(g.mem)]
	layout.Seal(key, value)
	g.slab = append(g.slab, badgerdb.Entry{Key: key, Value: value})
}

func (g *group) addRow(r *durable.Row, now time.Time) {
	start := len(g.mem)
	g.mem = layout.AppendRowKey(g.mem, r.Table, r.Key)
	key := g.mem[start:len(g.mem):len(g.mem)]
	if r.Delete {
		g.slab = append(g.slab, badgerdb.Entry{Key: key})
		return
	}
	start = len(g.mem)
	g.mem = append(g.mem, make([]byte, layout.SealBytes)...)
	g.mem = append(g.mem, r.Value...)
	value := g.mem[start:len(g.mem):len(g.mem)]
	layout.Seal(key, value)
	g.slab = append(g.slab, badgerdb.Entry{Key: key, Value: value, ExpiresAt: expiresAt(now, r.TTL)})
}

// expiresAt returns the second from which a row counts as expired, or 0 for never. It rounds up, so
// that no row expires before its TTL.
func expiresAt(now time.Time, ttl time.Duration) uint64 {
	if ttl <= 0 {
		return 0
	}
	return uint64(now.Add(ttl + time.Second - 1).Unix())
}

func (g *group) reset() {
	if cap(g.mem) > maxKeptMemory {
		g.mem = nil
	}
	clear(g.spans)
	clear(g.slab)
	clear(g.guarded)
	*g = group{
		spans: g.spans[:0],
		rows:  g.rows[:0],
		slab:  g.slab[:0],
		mem:   g.mem[:0],
		round: g.round + 1,

		guarded: g.guarded[:0],
	}
}
