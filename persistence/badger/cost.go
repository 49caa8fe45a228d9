package badger

import (
	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// txnCost is the cost of entries in a transaction, in Badger's own measure. It is computed
// beforehand, so that no batch fails with ErrTxnTooBig after a part of it was added.
type txnCost struct {
	bytes   int64
	entries int64
}

// costModel contains the limits of the opened database.
type costModel struct {
	limit     txnCost
	threshold int64 // values of at least this size are stored in parts (large.go)
}

// entryOverhead is slightly more than Badger adds to an entry: two bytes of meta, ten for the
// version, twenty for the reference to a large value.
const entryOverhead = 36

func (m costModel) entry(key, value int) int64 {
	if int64(value) >= m.threshold {
		return int64(key) + entryOverhead
	}
	return int64(key) + int64(value) + entryOverhead
}

func (m costModel) rows(rows []durable.Row) txnCost {
	c := txnCost{entries: int64(len(rows))}
	for i := range rows {
		r := &rows[i]
		c.bytes += m.entry(len(r.Table)+2+len(r.Key), layout.SealBytes+len(r.Value))
	}
	return c
}

func (m costModel) batch(actor string, b durable.Batch) txnCost {
	c := m.rows(b.Rows)
	c.entries++
	c.bytes += m.entry(len(actor)+2+layout.SeqBytes, layout.MaxChunkHeader+len(b.Records))
	return c
}

func (m costModel) fits(c txnCost) bool {
	return c.bytes <= m.limit.bytes && c.entries <= m.limit.entries
}

// Limits implements durable.Journal. The rows of an append leave room in the transaction for
// records that are too small to be stored in parts.
func (s *Store) Limits() durable.Limits {
	m := s.costs
	rows := m.limit.bytes - m.threshold - m.entry(layout.MaxActor, layout.MaxChunkHeader)
	return durable.Limits{
		RecordBytes: MaxBatchBytes - int(rows) - 1<<20,
		Rows:        int(m.limit.entries) - 1,
		RowBytes:    int(rows),
	}
}

func (c txnCost) plus(o txnCost) txnCost {
	return txnCost{bytes: c.bytes + o.bytes, entries: c.entries + o.entries}
}

// rowBytes returns the memory that rows use, in bytes.
func rowBytes(rows []durable.Row) int {
	n := 0
	for i := range rows {
		n += len(rows[i].Key) + len(rows[i].Value) + 64
	}
	return n
}
