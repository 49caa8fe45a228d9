package badger

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
)

// head is the record that makes a snapshot valid: as long as it names the old
// parts, the old snapshot is the snapshot.
//
// Its payload: seq, id, parts, length (uvarints), CRC32C of the whole state
// (4 bytes), and the state itself when it is small enough to need no parts.
type head struct {
	seq    uint64
	id     uint64 // names the parts; grows by one with each snapshot
	parts  uint64
	length uint64
	sum    uint32
	inline []byte // the whole state when parts is 0
}

const (
	// maxInline is the largest state that lies in the head: one commit
	// instead of several, which is what most actors need.
	maxInline = 128 << 10
	// partBytes is the size of a part. Being below the value log's threshold,
	// parts that were replaced leave with the next compactions; in the value
	// log they would stay until compactions elsewhere have counted them as
	// garbage, which on a quiet store takes for ever.
	partBytes = 256 << 10
	// maxState is a limit of sanity for a damaged head.
	maxState = 4 << 30
)

func headKey(actor string) []byte { return actorPrefix(familyHead, actor) }

func newHead(seq, id uint64, state []byte) head {
	h := head{seq: seq, id: id, length: uint64(len(state)), sum: crc32.Checksum(state, castagnoli)}
	if len(state) <= maxInline {
		h.inline = state
	} else {
		h.parts = uint64((len(state) + partBytes - 1) / partBytes)
	}
	return h
}

func (h head) encode() []byte {
	p := make([]byte, 0, 4*binary.MaxVarintLen64+4+len(h.inline))
	p = binary.AppendUvarint(p, h.seq)
	p = binary.AppendUvarint(p, h.id)
	p = binary.AppendUvarint(p, h.parts)
	p = binary.AppendUvarint(p, h.length)
	p = binary.BigEndian.AppendUint32(p, h.sum)
	return append(p, h.inline...)
}

func decodeHead(payload []byte) (head, error) {
	var h head
	for _, field := range []*uint64{&h.seq, &h.id, &h.parts, &h.length} {
		v, n := binary.Uvarint(payload)
		if n <= 0 {
			return head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
		}
		*field, payload = v, payload[n:]
	}
	if len(payload) < 4 || h.length > maxState || h.parts > h.length {
		return head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
	}
	h.sum = binary.BigEndian.Uint32(payload)
	h.inline = payload[4:]
	if h.parts > 0 && len(h.inline) > 0 || h.parts == 0 && uint64(len(h.inline)) != h.length {
		return head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
	}
	return h, nil
}

// readHead returns an actor's snapshot head, or ErrNotFound.
func readHead(txn *badgerdb.Txn, actor string) (head, error) {
	payload, err := getValue(txn, headKey(actor))
	if err != nil {
		return head{}, err
	}
	return decodeHead(payload)
}

// readState puts the state together and checks it.
func (h head) readState(txn *badgerdb.Txn, actor string) ([]byte, error) {
	state := h.inline
	if h.parts > 0 {
		state = nil
		for part := range h.parts {
			piece, err := getValue(txn, partKey(actor, h.id, uint32(part)))
			if err != nil {
				return nil, fmt.Errorf("%w: snapshot of %s, part %d: %w", durable.ErrCorrupt, actor, part, err)
			}
			if state == nil {
				// The first part vouches for the length, roughly: its size is
				// known to be real.
				state = make([]byte, 0, min(h.length, h.parts*uint64(len(piece))))
			}
			state = append(state, piece...)
		}
	}
	if uint64(len(state)) != h.length || crc32.Checksum(state, castagnoli) != h.sum {
		return nil, fmt.Errorf("%w: snapshot of %s", durable.ErrCorrupt, actor)
	}
	return state, nil
}
