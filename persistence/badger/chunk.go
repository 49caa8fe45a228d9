package badger

import (
	"encoding/binary"
	"errors"
	"fmt"

	"atelier/actors/durable"
)

// A chunk holds consecutive records of one log; the seq of the first is in its
// key. Its payload is the number of records (uvarint) and then the records as
// durable.Records has them. One chunk per batch instead of one key per record
// is what carries 200,000 records/s: Badger's price is per key.
type chunk struct {
	first   uint64
	count   int
	records durable.Records
}

// maxChunkHeader is what a chunk adds to its records, at most.
const maxChunkHeader = sealBytes + binary.MaxVarintLen64

func (c chunk) last() uint64 { return c.first + uint64(c.count) - 1 }

// decodeChunk checks the seal and the header of a stored chunk. The records
// share value's memory.
func decodeChunk(key, value []byte, prefix int) (chunk, error) {
	payload, err := unseal(key, value)
	if err != nil {
		return chunk{}, err
	}
	first, err := chunkSeq(key, prefix)
	if err != nil {
		return chunk{}, err
	}
	count, n := binary.Uvarint(payload)
	// A record is at least its length byte, which bounds the count.
	if n <= 0 || count == 0 || count > uint64(len(payload)-n) || first == 0 || first+count < first {
		return chunk{}, fmt.Errorf("%w: chunk header of key %q", durable.ErrCorrupt, key)
	}
	return chunk{first: first, count: int(count), records: durable.Records(payload[n:])}, nil
}

// each calls fn for every record with its seq.
func (c chunk) each(fn func(seq uint64, record []byte) error) error {
	seq := c.first
	err := c.records.Each(func(record []byte) error {
		if seq > c.last() {
			return fmt.Errorf("%w: more records than the chunk announces", durable.ErrCorrupt)
		}
		seq++
		return fn(seq-1, record)
	})
	if err == nil && seq != c.last()+1 {
		err = fmt.Errorf("%w: fewer records than the chunk announces", durable.ErrCorrupt)
	}
	return err
}

// appendChunkHeader starts a chunk's value: room for the seal, and the count.
func appendChunkHeader(dst []byte, count int) []byte {
	dst = append(dst, make([]byte, sealBytes)...)
	return binary.AppendUvarint(dst, uint64(count))
}

// countRecords counts a batch's records and refuses a damaged or empty run,
// on the appender's goroutine, so that the writer need not.
func countRecords(r durable.Records) (int, error) {
	n := 0
	if err := r.Each(func([]byte) error { n++; return nil }); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, errNoRecords
	}
	return n, nil
}

var errNoRecords = errors.New("badger: a batch holds one or more records")
