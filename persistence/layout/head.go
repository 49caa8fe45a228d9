package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"atelier/actors/durable"
)

// Head is the record that makes a snapshot valid. Until a new head is written, the stored head
// refers to the parts of the old snapshot, which stays valid.
//
// The payload of a head is a zero byte, Seq, Base, ID, Parts and Length as uvarints, Sum as 4
// bytes, and Inline. Sum is the CRC32C of the whole state.
type Head struct {
	Seq    uint64
	Base   uint64 // of the log, see durable.LogReader; at most Seq
	ID     uint64 // identifies the parts; grows with each snapshot
	Parts  uint64
	Length uint64
	Sum    uint32
	Inline []byte // the whole state if Parts is 0
}

const (
	// MaxInline is the maximum size of a state that is stored in the head, which needs one commit
	// instead of several. Most states are smaller.
	MaxInline = 128 << 10
	// PartBytes is the size of a part. With default options, the Badger store does not split a part
	// again (large.go of persistence/badger). Its next compactions remove replaced parts.
	PartBytes = 256 << 10
	// MaxState is the maximum size of a state. A head with a larger length is damaged.
	MaxState = 4 << 30
)

// HeadKey returns the key of an actor's head.
func HeadKey(actor string) []byte { return ActorPrefix(FamilyHead, actor) }

// NewHead returns the head of a snapshot with this id and state, of a log with this base.
func NewHead(seq, base, id uint64, state []byte) Head {
	h := Head{Seq: seq, Base: base, ID: id, Length: uint64(len(state)), Sum: crc32.Checksum(state, castagnoli)}
	if len(state) <= MaxInline {
		h.Inline = state
	} else {
		h.Parts = uint64((len(state) + PartBytes - 1) / PartBytes)
	}
	return h
}

// Encode returns the payload without its seal.
func (h Head) Encode() []byte {
	p := make([]byte, 0, 1+5*binary.MaxVarintLen64+4+len(h.Inline))
	p = binary.AppendUvarint(append(p, 0), h.Seq)
	p = binary.AppendUvarint(p, h.Base)
	p = binary.AppendUvarint(p, h.ID)
	p = binary.AppendUvarint(p, h.Parts)
	p = binary.AppendUvarint(p, h.Length)
	p = binary.BigEndian.AppendUint32(p, h.Sum)
	return append(p, h.Inline...)
}

// DecodeHead decodes the payload.
func DecodeHead(payload []byte) (Head, error) {
	var h Head
	payload, ok := bytes.CutPrefix(payload, []byte{0})
	if !ok {
		return Head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
	}
	for _, field := range []*uint64{&h.Seq, &h.Base, &h.ID, &h.Parts, &h.Length} {
		v, n := binary.Uvarint(payload)
		if n <= 0 {
			return Head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
		}
		*field, payload = v, payload[n:]
	}
	if len(payload) < 4 || h.Base > h.Seq || h.Length > MaxState || h.Parts > h.Length {
		return Head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
	}
	h.Sum = binary.BigEndian.Uint32(payload)
	h.Inline = payload[4:]
	if h.Parts > 0 && len(h.Inline) > 0 || h.Parts == 0 && uint64(len(h.Inline)) != h.Length {
		return Head{}, fmt.Errorf("%w: snapshot head", durable.ErrCorrupt)
	}
	return h, nil
}

// Snapshot returns the argument of Load's snapshot function, for a log that ends at tail or with
// the snapshot.
func (h Head) Snapshot(state []byte, tail uint64) durable.Snapshot {
	return durable.Snapshot{State: state, Seq: h.Seq, Base: h.Base, Tail: max(tail, h.Seq)}
}

// State assembles the state from its parts and verifies it. part returns a part without its seal. A
// missing part (durable.ErrNotFound) is damage. Any other error of part keeps its kind.
func (h Head) State(actor string, part func(n uint32) ([]byte, error)) ([]byte, error) {
	state := h.Inline
	if h.Parts > 0 {
		state = nil
		for n := range h.Parts {
			piece, err := part(uint32(n))
			if errors.Is(err, durable.ErrNotFound) || errors.Is(err, durable.ErrCorrupt) {
				return nil, fmt.Errorf("%w: snapshot of %s, part %d: %w", durable.ErrCorrupt, actor, n, err)
			}
			if err != nil { // the read failed, so it is unknown whether the part is damaged
				return nil, fmt.Errorf("snapshot of %s, part %d: %w", actor, n, err)
			}
			if state == nil {
				// A damaged head can have a huge length, so the size of the first part bounds the
				// allocation.
				state = make([]byte, 0, min(h.Length, h.Parts*uint64(len(piece))))
			}
			state = append(state, piece...)
		}
	}
	if uint64(len(state)) != h.Length || crc32.Checksum(state, castagnoli) != h.Sum {
		return nil, fmt.Errorf("%w: snapshot of %s", durable.ErrCorrupt, actor)
	}
	return state, nil
}

// Piece returns part n of a state.
func (h Head) Piece(state []byte, n uint64) []byte {
	return state[n*PartBytes : min(h.Length, (n+1)*PartBytes)]
}
