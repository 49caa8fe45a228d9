package frames

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// record contains a decoder's results as text.
type record struct{ got []string }

func (r *record) Message(p []byte) { r.got = append(r.got, fmt.Sprintf("text %d %.20s", len(p), p)) }
func (r *record) Ping(p []byte)    { r.got = append(r.got, fmt.Sprintf("ping %.20s", p)) }
func (r *record) Close(code int)   { r.got = append(r.got, fmt.Sprintf("close %d", code)) }

// fromServer returns one frame as a server sends it.
func fromServer(first byte, payload string) []byte {
	p := []byte{first}
	switch n := len(payload); {
	case n < 126:
		p = append(p, byte(n))
	case n < 1<<16:
		p = binary.BigEndian.AppendUint16(append(p, 126), uint16(n))
	default:
		p = binary.BigEndian.AppendUint64(append(p, 127), uint64(n))
	}
	return append(p, payload...)
}

func stream(frames ...[]byte) []byte { return slices.Concat(frames...) }

const (
	finText  = 0x81
	partText = 0x01
	partMore = 0x00
	finMore  = 0x80
	finPing  = 0x89
	finPong  = 0x8a
	finClose = 0x88
)

func TestFramesAreDecodedInAnyPieces(t *testing.T) {
	long, longer := strings.Repeat("x", 300), strings.Repeat("y", 70_000)
	for name, c := range map[string]struct {
		in   []byte
		want []string
	}{
		"nothing":       {nil, nil},
		"two messages":  {stream(fromServer(finText, "one"), fromServer(finText, "")), []string{"text 3 one", "text 0 "}},
		"longer":        {stream(fromServer(finText, long), fromServer(finText, longer)), []string{"text 300 xxxxxxxxxxxxxxxxxxxx", "text 70000 yyyyyyyyyyyyyyyyyyyy"}},
		"fragments":     {stream(fromServer(partText, "a"), fromServer(finPing, "p"), fromServer(partMore, "b"), fromServer(finMore, "c")), []string{"ping p", "text 3 abc"}},
		"pong":          {stream(fromServer(finPong, ""), fromServer(finText, "a")), []string{"text 1 a"}},
		"close":         {stream(fromServer(finClose, "\x03\xf5bye"), fromServer(finText, "late")), []string{"close 1013"}},
		"close, silent": {fromServer(finClose, ""), []string{"close 1005"}},
	} {
		t.Run(name, func(t *testing.T) {
			// The results are the same however the bytes are split.
			for _, size := range []int{1, 2, 3, 7, 1000, len(c.in) + 1} {
				var d Decoder
				var r record
				for part := range slices.Chunk(c.in, size) {
					if err := d.Feed(part, &r); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(r.got, c.want) {
					t.Fatalf("in pieces of %d: got %q, want %q", size, r.got, c.want)
				}
				if len(d.pending) > 0 {
					t.Errorf("%d bytes remain", len(d.pending))
				}
			}
		})
	}
}

func TestTheDecoderRefusesViolations(t *testing.T) {
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"reserved bit":        {fromServer(0xc1, "x"), errReserved},
		"mask":                {[]byte{finText, 0x81, 0, 0, 0, 0, 'x'}, errMasked},
		"opcode":              {fromServer(0x83, "x"), errOpcode},
		"opcode of control":   {fromServer(0x8b, "x"), errOpcode},
		"binary":              {fromServer(0x82, "x"), errBinary},
		"long ping":           {fromServer(finPing, strings.Repeat("x", 126)), errControl},
		"ping in parts":       {fromServer(0x09, "x"), errControl},
		"message in message":  {stream(fromServer(partText, "x"), fromServer(finText, "y")), errStart},
		"continuation alone":  {fromServer(finMore, "x"), errNoStart},
		"length not shortest": {[]byte{finText, 126, 0, 5, 'h', 'e', 'l', 'l', 'o'}, errLength},
		"length of 2^63":      {[]byte{finText, 127, 0x80, 0, 0, 0, 0, 0, 0, 0}, errTooLong},
		"close of one byte":   {fromServer(finClose, "x"), errCloseSize},
	} {
		t.Run(name, func(t *testing.T) {
			var d Decoder
			if err := d.Feed(c.in, &record{}); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestTheDecoderStopsWhenItsSinkCallsStop(t *testing.T) {
	var d Decoder
	s := &stopping{d: &d}
	if err := d.Feed(stream(fromServer(finText, "a"), fromServer(finText, "b"), []byte{finText}), s); err != nil {
		t.Fatal(err)
	}
	if len(s.got) != 1 || len(d.pending) != 0 {
		t.Errorf("got %q and kept %d bytes, want one message and 0 bytes", s.got, len(d.pending))
	}
}

type stopping struct {
	record
	d *Decoder
}

func (s *stopping) Message(p []byte) { s.record.Message(p); s.d.Stop() }

func FuzzDecoder(f *testing.F) {
	f.Add(stream(fromServer(finText, "one"), fromServer(finPing, "p"), fromServer(finClose, "\x03\xe8")), uint8(1))
	f.Add(stream(fromServer(partText, "a"), fromServer(partMore, "b"), fromServer(finMore, strings.Repeat("c", 130))), uint8(5))
	f.Add([]byte{finText, 127, 0, 0, 0, 0, 0, 1, 0, 0}, uint8(2))
	f.Add([]byte{finText, 126, 0}, uint8(3))
	f.Fuzz(func(t *testing.T, p []byte, cut uint8) {
		var whole, pieces record
		var a, b Decoder
		errWhole := a.Feed(bytes.Clone(p), &whole)
		var errPieces error
		for part := range slices.Chunk(p, int(cut)+1) {
			if errPieces = b.Feed(part, &pieces); errPieces != nil {
				break
			}
		}
		if !errors.Is(errPieces, errWhole) || !slices.Equal(whole.got, pieces.got) {
			t.Errorf("whole: %q, %v; in pieces: %q, %v", whole.got, errWhole, pieces.got, errPieces)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	p := bytes.Repeat(fromServer(finText, strings.Repeat("x", 250)), 8)
	var d Decoder
	var out discard
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Feed(p, &out); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (*discard) Message([]byte) {}
func (*discard) Ping([]byte)    {}
func (*discard) Close(int)      {}
