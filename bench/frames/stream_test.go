package frames

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type collected []string

func (c *collected) Message(p []byte) { *c = append(*c, string(p)) }
func (c *collected) Ping([]byte)      {}
func (c *collected) Close(int)        {}

// The events do not depend on how the bytes were split into reads or chunks.
func TestAStreamIsReadInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var want []string
		for i := range rapid.IntRange(1, 12).Draw(t, "events") {
			lines := rapid.SliceOfN(rapid.StringMatching(`[a-z:{} ]{0,20}`), 1, 3).Draw(t, "lines")
			newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
			fmt.Fprintf(&text, ": comment%sid: %d%sevent: x%s", newline, i, newline, newline)
			for _, line := range lines {
				text.WriteString("data: " + line + newline)
			}
			text.WriteString(newline)
			want = append(want, strings.Join(lines, "\n"))
		}
		chunked := rapid.Bool().Draw(t, "chunked")
		wire := text.String()
		if chunked {
			var b strings.Builder
			for len(wire) > 0 {
				n := rapid.IntRange(1, len(wire)).Draw(t, "chunk")
				fmt.Fprintf(&b, "%x%s\r\n%s\r\n", n, rapid.SampledFrom([]string{"", ";ext=1"}).Draw(t, "extension"), wire[:n])
				wire = wire[n:]
			}
			wire = b.String()
		}
		s := Stream{Chunked: chunked}
		var got collected
		for len(wire) > 0 {
			n := rapid.IntRange(1, len(wire)).Draw(t, "cut")
			if err := s.Feed([]byte(wire[:n]), &got); err != nil {
				t.Fatal(err)
			}
			wire = wire[n:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestInvalidChunksAreRefused(t *testing.T) {
	for wire, want := range map[string]error{
		"0\r\n\r\n": errStreamEnd, "xyz\r\n": errChunk, "\r\n": errChunk, "fffffffff\r\n": errChunk, "2\r\nabXX": errChunk, strings.Repeat("1", 300): errChunk,
	} {
		if err := (&Stream{Chunked: true}).Feed([]byte(wire), &collected{}); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", wire, err, want)
		}
	}
	if err := (&Stream{}).Feed(make([]byte, maxMessage+1), &collected{}); !errors.Is(err, errTooLong) {
		t.Errorf("a line without end: %v", err)
	}
}

func TestOnlyTheHeadOfAnEventStreamIsAccepted(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	if n, chunked, err := StreamAnswer([]byte(head + "data")); n != len(head) || !chunked || err != nil {
		t.Errorf("the head has %d bytes, chunked %v, %v", n, chunked, err)
	}
	if n, _, err := StreamAnswer([]byte(head[:40])); n != 0 || err != nil {
		t.Errorf("half a head: %d, %v", n, err)
	}
	var refused *RefusedError
	if _, _, err := StreamAnswer([]byte("HTTP/1.1 401 Unauthorized\r\n\r\n")); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("a response with status 401 returned %v, want a RefusedError with that status", err)
	}
	if _, _, err := StreamAnswer([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")); !errors.Is(err, errNotEvents) {
		t.Errorf("an HTML page returned %v, want errNotEvents", err)
	}
}

func TestInvalidHeaderLinesAreRefused(t *testing.T) {
	for line, good := range map[string]bool{"A: b": true, "A:": true, "A": false, ": b": false, "A: b\r\nC: d": false, "A b: c": false, "": false} {
		if err := CheckHeader(line); (err == nil) != good {
			t.Errorf("checking %q: %v", line, err)
		}
	}
}
