package badger

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"atelier/actors/durable"
	"atelier/persistence/backup"
	"atelier/persistence/layout"
)

// The decoders can receive hostile bytes with a valid checksum. They must return an error or a
// value that can be encoded again.

func FuzzChunk(f *testing.F) {
	f.Add([]byte{1, 1, 'a'})
	f.Add([]byte{3, 0, 0, 0})
	f.Add([]byte{2, 1, 'a'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		key := layout.ChunkKey("a", 7)
		prefix := len(key) - layout.SeqBytes
		c, err := layout.DecodeChunk(key, layout.Sealed(key, payload), prefix)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		n := 0
		if err := c.Each(func(seq uint64, _ []byte) error { n++; return nil }); err != nil {
			mustBeCorrupt(t, err)
			return
		}
		if n != c.Count || c.Last() != 7+uint64(n)-1 {
			t.Fatalf("%d records, count %d, last %d", n, c.Count, c.Last())
		}
	})
}

func FuzzHead(f *testing.F) {
	f.Add(layout.NewHead(1, 1, 1, []byte("state")).Encode())
	f.Add(layout.NewHead(1<<40, 3, 9, make([]byte, layout.MaxInline+1)).Encode())
	f.Fuzz(func(t *testing.T, payload []byte) {
		h, err := layout.DecodeHead(payload)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		again, err := layout.DecodeHead(h.Encode())
		if err != nil || again.Seq != h.Seq || again.Base != h.Base || again.Parts != h.Parts || again.Sum != h.Sum || !bytes.Equal(again.Inline, h.Inline) {
			t.Fatalf("%+v became %+v, %v", h, again, err)
		}
	})
}

func FuzzBackupFrames(f *testing.F) {
	var whole bytes.Buffer
	w := backup.NewFrameWriter(&whole)
	_, _ = w.Write([]byte("content"))
	_ = w.Finish()
	f.Add(whole.Bytes())
	f.Fuzz(func(t *testing.T, input []byte) {
		content, err := io.ReadAll(backup.NewFrameReader(bytes.NewReader(input)))
		if err != nil {
			if !errors.Is(err, ErrBadBackup) {
				t.Fatal(err)
			}
			return
		}
		var again bytes.Buffer
		w := backup.NewFrameWriter(&again)
		_, _ = w.Write(content)
		_ = w.Finish()
		back, err := io.ReadAll(backup.NewFrameReader(&again))
		if err != nil || !bytes.Equal(back, content) {
			t.Fatalf("read back as %q, %v", back, err)
		}
	})
}

func mustBeCorrupt(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, durable.ErrCorrupt) {
		t.Fatalf("damaged data returned %v, want ErrCorrupt", err)
	}
}
