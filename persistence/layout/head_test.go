package layout

import (
	"bytes"
	"strings"
	"testing"
)

func TestAHeadIsDecodedUnchanged(t *testing.T) {
	for _, h := range []Head{NewHead(1, 0, 0, nil), NewHead(1, 1, 1, []byte("s")), NewHead(1<<40, 1<<30, 9, make([]byte, MaxInline+1))} {
		got, err := DecodeHead(h.Encode())
		if err != nil || got.Seq != h.Seq || got.Base != h.Base || got.ID != h.ID || got.Parts != h.Parts || got.Length != h.Length ||
			got.Sum != h.Sum || !bytes.Equal(got.Inline, h.Inline) {
			t.Errorf("%+v was decoded as %+v, %v", h, got, err)
		}
	}
	h := NewHead(1, 2, 1, nil)
	if _, err := DecodeHead(h.Encode()); err == nil {
		t.Error("a base above the snapshot is accepted")
	}
	if _, err := DecodeHead(NewHead(300, 0, 7, []byte("state")).Encode()[1:]); err == nil {
		t.Error("a head without its first byte is accepted")
	}
}

// Errors reach the log, and the keys of rows can contain people's names.
func TestErrorsDoNotContainTheKeysOfRows(t *testing.T) {
	key := AppendRowKey(nil, "people", []byte("Ada Lovelace"))
	for _, value := range [][]byte{nil, Sealed([]byte("another key"), []byte("x"))} {
		_, err := Unseal(key, value)
		if err == nil || strings.Contains(err.Error(), "Ada") || !strings.Contains(err.Error(), "people") {
			t.Errorf("the error is %v, want one with the table and without the key", err)
		}
	}
}
