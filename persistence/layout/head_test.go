package layout

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"atelier/actors/durable"
)

// A head of format 1 has no base: nobody knows what was rewritten before its
// snapshot, so all of it counts as rewritten.
func TestAHeadOfFormatOneIsRead(t *testing.T) {
	state := []byte("state")
	payload := binary.AppendUvarint(nil, 300) // seq
	payload = binary.AppendUvarint(payload, 7)
	payload = binary.AppendUvarint(payload, 0)
	payload = binary.AppendUvarint(payload, uint64(len(state)))
	payload = binary.BigEndian.AppendUint32(payload, crc32.Checksum(state, castagnoli))
	h, err := DecodeHead(append(payload, state...))
	if err != nil {
		t.Fatal(err)
	}
	if h.Seq != 300 || h.Base != 300 || h.ID != 7 || string(h.Inline) != "state" {
		t.Errorf("read as %+v", h)
	}
	s := h.Snapshot(h.Inline, 302)
	if string(s.State) != string(durable.Unchained([]byte("state"))) || s.Base != 300 || s.Tail != 302 {
		t.Errorf("its snapshot is %+v", s)
	}
}

func TestAHeadComesBackAsItWas(t *testing.T) {
	for _, h := range []Head{NewHead(1, 0, 0, nil), NewHead(1, 1, 1, []byte("s")), NewHead(1<<40, 1<<30, 9, make([]byte, MaxInline+1))} {
		got, err := DecodeHead(h.Encode())
		if err != nil || got.Seq != h.Seq || got.Base != h.Base || got.ID != h.ID || got.Parts != h.Parts || got.Length != h.Length ||
			got.Sum != h.Sum || !bytes.Equal(got.Inline, h.Inline) {
			t.Errorf("%+v came back as %+v, %v", h, got, err)
		}
	}
	h := NewHead(1, 2, 1, nil)
	if _, err := DecodeHead(h.Encode()); err == nil {
		t.Error("a base above the snapshot is accepted")
	}
}
