package layout

import (
	"encoding/binary"
	"errors"
	"fmt"

	"atelier/actors/durable"
)

// Chunk contains consecutive records of one log. Its key contains the seq of the first record. Its
// payload is the number of records (uvarint) and the records in the form of durable.Records.
// Badger's cost is per key. Storing one chunk per batch, instead of one key per record, therefore
// makes 200,000 records/s possible.
type Chunk struct {
	First   uint64
	Count   int
	Records durable.Records
}

// MaxChunkHeader bounds a chunk's size beyond its records, in bytes.
const MaxChunkHeader = SealBytes + binary.MaxVarintLen64

// Last returns the seq of the last record.
func (c Chunk) Last() uint64 { return c.First + uint64(c.Count) - 1 }

// DecodeChunk decodes a stored chunk, and verifies its seal and header. prefix is the length of the
// key before the seq. The records share value's memory.
func DecodeChunk(key, value []byte, prefix int) (Chunk, error) {
	payload, err := Unseal(key, value)
	if err != nil {
		return Chunk{}, err
	}
	first, err := ChunkSeq(key, prefix)
	if err != nil {
		return Chunk{}, err
	}
	count, n := binary.Uvarint(payload)
	// A record has at least its length byte, which bounds the count.
	if n <= 0 || count == 0 || count > uint64(len(payload)-n) || first == 0 || first+count < first {
		return Chunk{}, fmt.Errorf("%w: chunk header of %s", durable.ErrCorrupt, Describe(key))
	}
	return Chunk{First: first, Count: int(count), Records: durable.Records(payload[n:])}, nil
}

// Each calls fn for every record with its seq.
func (c Chunk) Each(fn func(seq uint64, record []byte) error) error {
	seq := c.First
	err := c.Records.Each(func(record []byte) error {
		if seq > c.Last() {
			return fmt.Errorf("%w: more records than the chunk announces", durable.ErrCorrupt)
		}
		seq++
		return fn(seq-1, record)
	})
	if err == nil && seq != c.Last()+1 {
		err = fmt.Errorf("%w: fewer records than the chunk announces", durable.ErrCorrupt)
	}
	return err
}

// AppendChunkHeader starts a chunk's value: space for the seal, and the count.
func AppendChunkHeader(dst []byte, count int) []byte {
	dst = append(dst, make([]byte, SealBytes)...)
	return binary.AppendUvarint(dst, uint64(count))
}

// Rewrite calls fn for each record up to the seq upTo. If fn replaced any, Rewrite returns the
// chunk's new value, still without its seal.
func (c Chunk) Rewrite(upTo uint64, fn func(uint64, []byte) ([]byte, bool, error)) (value []byte, changed bool, err error) {
	records := make(durable.Records, 0, len(c.Records))
	err = c.Each(func(seq uint64, record []byte) error {
		if seq > upTo {
			records = records.Add(record)
			return nil
		}
		replacement, replace, err := fn(seq, record)
		if err != nil {
			return err
		}
		if replace {
			changed, record = true, replacement
		}
		records = records.Add(record)
		return nil
	})
	if err != nil || !changed {
		return nil, false, err
	}
	return append(AppendChunkHeader(nil, c.Count), records...), true, nil
}

// CountRecords counts a batch's records. It returns an error if a record is damaged, or if there is
// none. It is called on the appender's goroutine, to save the writer's time.
func CountRecords(r durable.Records) (int, error) {
	n := 0
	if err := r.Each(func([]byte) error { n++; return nil }); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, errNoRecords
	}
	return n, nil
}

var errNoRecords = errors.New("store: a batch needs at least one record")
