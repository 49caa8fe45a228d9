package rfc6455

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// recorder records the decoder's results.
type recorder []string

func (r *recorder) Message(p []byte) { *r = append(*r, "text "+string(p)) }
func (r *recorder) Ping(p []byte)    { *r = append(*r, "ping "+string(p)) }
func (r *recorder) Pong()            { *r = append(*r, "pong") }
func (r *recorder) Closed(code int)  { *r = append(*r, fmt.Sprint("close ", code)) }

// masked returns a client's frame. first is the byte with FIN, RSV and opcode.
func masked(first byte, payload []byte) []byte {
	p := AppendHeader(nil, 0, len(payload))
	p[0] = first
	p[1] |= maskBit
	key := [4]byte{0x12, 0x34, 0x56, 0x78}
	p = append(p, key[:]...)
	body := slices.Clone(payload)
	Unmask(body, key)
	return append(p, body...)
}

func clientText(s string) []byte { return masked(finBit|byte(Text), []byte(s)) }

func clientClose(code int, reason string) []byte {
	return masked(finBit|byte(Close), append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// decode feeds the input in pieces of these sizes, repeatedly.
func decode(input []byte, limit int, cuts ...int) (recorder, *ProtocolError) {
	var d Decoder
	var r recorder
	input = slices.Clone(input)
	for i := 0; len(input) > 0; i++ {
		n := len(input)
		if len(cuts) > 0 {
			n = min(n, max(1, cuts[i%len(cuts)]))
		}
		chunk := slices.Clone(input[:n])
		input = input[n:]
		if err := d.Feed(chunk, limit, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

func TestDecoder(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name  string
		input []byte
		want  []string
		code  int
	}{
		{"text", clientText("hello"), []string{"text hello"}, 0},
		{"empty text", clientText(""), []string{"text "}, 0},
		{"two texts", join(clientText("a"), clientText("b")), []string{"text a", "text b"}, 0},
		{"utf-8", clientText("한글 ⛵"), []string{"text 한글 ⛵"}, 0},
		{"fragments", join(masked(byte(Text), []byte("a")), masked(0, []byte("b")), masked(finBit, []byte("c"))), []string{"text abc"}, 0},
		{"fragments cut in a character", join(masked(byte(Text), []byte{0xED}), masked(finBit, []byte{0x95, 0x9C})), []string{"text 한"}, 0},
		{"empty fragments", join(masked(byte(Text), nil), masked(finBit, nil)), []string{"text "}, 0},
		{"ping between fragments", join(masked(byte(Text), []byte("a")), masked(0x89, []byte("?")), masked(finBit, []byte("b"))), []string{"ping ?", "text ab"}, 0},
		{"pong", masked(0x8A, []byte("x")), []string{"pong"}, 0},
		{"ping of 125 bytes", masked(0x89, []byte(long[:125])), []string{"ping " + long[:125]}, 0},
		{"close", clientClose(1000, "bye"), []string{"close 1000"}, 0},
		{"close without a code", masked(0x88, nil), []string{"close 1005"}, 0},
		{"nothing after close", join(clientClose(1001, ""), clientText("a")), []string{"close 1001"}, 0},
		{"at the limit", clientText(strings.Repeat("y", 1000)), []string{"text " + strings.Repeat("y", 1000)}, 0},

		{"not masked", AppendFrame(nil, Text, []byte("a")), nil, 1002},
		{"rsv1", masked(0xC1, nil), nil, 1002},
		{"rsv2", masked(0xA1, nil), nil, 1002},
		{"rsv3", masked(0x91, nil), nil, 1002},
		{"Opcode 3", masked(0x83, nil), nil, 1002},
		{"Opcode 11", masked(0x8B, nil), nil, 1002},
		{"binary", masked(0x82, []byte("a")), nil, 1003},
		{"not utf-8", clientText("\xff"), nil, 1007},
		{"surrogate", clientText("\xed\xa0\x80"), nil, 1007},
		{"fragments not utf-8", join(masked(byte(Text), []byte{0xED}), masked(finBit, []byte("a"))), nil, 1007},
		{"continuation without a start", masked(finBit, []byte("a")), nil, 1002},
		{"text within fragments", join(masked(byte(Text), []byte("a")), clientText("b")), nil, 1002},
		{"ping of 126 bytes", masked(0x89, []byte(long[:126])), nil, 1002},
		{"fragmented ping", masked(0x09, nil), nil, 1002},
		{"fragmented close", masked(0x08, nil), nil, 1002},
		{"close of one byte", masked(0x88, []byte{3}), nil, 1002},
		{"close reason not utf-8", clientClose(1000, "\xff"), nil, 1007},
		{"over the limit", clientText(strings.Repeat("y", 1001)), nil, 1009},
		{"fragments over the limit", join(masked(byte(Text), make([]byte, 600)), masked(0, make([]byte, 401))), nil, 1009},
		{"16-bit length for 125 bytes", join([]byte{0x81, 0x80 | 126, 0, 125, 0, 0, 0, 0}, make([]byte, 125)), nil, 1002},
		{"64-bit length for 65535 bytes", []byte{0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, nil, 1002},
		{"length with the top bit", []byte{0x81, 0x80 | 127, 0x80, 0, 0, 0, 0, 1, 0, 0}, nil, 1002},
		{"length of 2^63-1 bytes", []byte{0x81, 0x80 | 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, nil, 1009},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, cuts := range [][]int{nil, {1}, {2, 3}, {7}} {
				got, err := decode(c.input, 1000, cuts...)
				if !slices.Equal(got, c.want) {
					t.Errorf("cut %v: got %.100q, want %.100q", cuts, got, c.want)
				}
				if code := codeOf(err); code != c.code {
					t.Errorf("cut %v: close code %d, want %d", cuts, code, c.code)
				}
			}
		})
	}
}

func codeOf(err *ProtocolError) int {
	if err == nil {
		return 0
	}
	return err.Code
}

func TestValidCloseCodes(t *testing.T) {
	valid := func(code int) bool {
		switch code {
		case 1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014:
			return true
		}
		return code >= 3000 && code < 5000
	}
	for code := range 1 << 16 {
		_, err := decode(clientClose(code, ""), 1000)
		if (err == nil) != valid(code) {
			t.Errorf("Feed of the close code %d returned %v", code, err)
		}
	}
}

func TestHeaderLengths(t *testing.T) {
	for _, c := range []struct{ length, header int }{
		{0, 2}, {1, 2}, {125, 2}, {126, 4}, {127, 4}, {65535, 4}, {65536, 10}, {1 << 20, 10},
	} {
		p := AppendFrame(nil, Text, make([]byte, c.length))
		if len(p) != c.header+c.length {
			t.Errorf("length %d: header of %d bytes, want %d", c.length, len(p)-c.length, c.header)
		}
		got, err := decode(masked(0x81, bytes.Repeat([]byte{'a'}, c.length)), 1<<20, 1000)
		if err != nil || len(got) != 1 || len(got[0]) != len("text ")+c.length {
			t.Errorf("a message of %d bytes does not decode: %v", c.length, err)
		}
	}
}

func TestCloseReasonIsCutBetweenCharacters(t *testing.T) {
	p := AppendClose(nil, 1008, strings.Repeat("한", 50))
	if got := len(p) - 4; got != 123 || p[1] != 125 {
		t.Errorf("the reason has %d bytes, want 123", got)
	}
	if p := AppendClose(nil, CloseNoStatus, ""); !bytes.Equal(p, []byte{0x88, 0}) {
		t.Errorf("the empty close frame is %x", p)
	}
}

func TestUnmaskIsXor(t *testing.T) {
	key := [4]byte{1, 2, 3, 4}
	for n := range 70 {
		p := make([]byte, n)
		Unmask(p, key)
		for i, b := range p {
			if b != key[i%4] {
				t.Fatalf("with length %d, byte %d is %d", n, i, b)
			}
		}
	}
}

func TestAnIdleDecoderKeepsNoData(t *testing.T) {
	var d Decoder
	var r recorder
	input := join(masked(byte(Text), []byte("ab")), masked(finBit, []byte("cd")))
	for _, b := range input {
		if err := d.Feed([]byte{b}, 100, &r); err != nil {
			t.Fatal(err)
		}
	}
	if !d.Idle() || d.pending != nil || d.message != nil {
		t.Errorf("the idle decoder still has %+v", d)
	}
}

// FuzzFrames verifies that no input causes a panic, and that its split in transit makes no
// difference.
func FuzzFrames(f *testing.F) {
	for _, seed := range [][]byte{
		clientText("hello"),
		join(masked(byte(Text), []byte("a")), masked(0x89, []byte("?")), masked(finBit, []byte("b"))),
		join(clientText(strings.Repeat("z", 200)), clientClose(1000, "bye")),
		{0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF},
	} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, input []byte, seed uint64) {
		const limit = 300
		whole, wholeErr := decode(input, limit)
		rng := rand.New(rand.NewPCG(seed, 0))
		cuts := make([]int, 16)
		for i := range cuts {
			cuts[i] = 1 + rng.IntN(20)
		}
		for _, cuts := range [][]int{{1}, cuts} {
			got, err := decode(input, limit, cuts...)
			if !slices.Equal(got, whole) || err != wholeErr {
				t.Fatalf("cut %v: %q %v, whole %q %v", cuts, got, err, whole, wholeErr)
			}
		}
		for _, line := range whole {
			if len(line) > limit+5 {
				t.Fatalf("a payload has %d bytes, over the limit", len(line)-5)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	input := clientText(strings.Repeat("x", 200))
	p := make([]byte, len(input))
	var d Decoder
	var r discard
	b.ReportAllocs()
	b.SetBytes(int64(len(p)))
	for range b.N {
		copy(p, input)
		if err := d.Feed(p, 1<<10, &r); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (*discard) Message([]byte) {}
func (*discard) Ping([]byte)    {}
func (*discard) Pong()          {}
func (*discard) Closed(int)     {}
