package wire

import (
	"bytes"
	zip "compress/gzip"
	"io"
	"strings"
	"testing"

	br "github.com/andybalholm/brotli"
	"pgregory.net/rapid"
)

func read(t *rapid.T, c Coding, b []byte) []byte {
	var r io.Reader = br.NewReader(bytes.NewReader(b))
	if c == Gzip {
		z, err := zip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		r = z
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCompressedBodiesAreReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(0, 50).Draw(t, "times")))
		for c := Gzip; c < Count; c++ {
			b, err := c.Compress(body)
			if err != nil || !bytes.Equal(read(t, c, b), body) {
				t.Errorf("reading back a body compressed with %v failed: %v", c, err)
			}
		}
	})
}

// A client that does not accept a coding never gets it.
func TestChooseCodingPicksAnAvailableCoding(t *testing.T) {
	only := func(want ...Coding) func(Coding) bool {
		return func(c Coding) bool {
			for _, w := range want {
				if c == w {
					return true
				}
			}
			return false
		}
	}
	for _, tc := range []struct {
		accept string
		has    func(Coding) bool
		want   Coding
	}{
		{"gzip, br", only(Identity, Gzip, Brotli), Brotli},
		{"gzip, br", only(Identity, Gzip), Gzip},
		{"br", only(Identity, Gzip), Identity},
		{"", only(Identity, Gzip, Brotli), Identity},
		{"br;q=0.1, gzip;q=0.2", only(Identity, Gzip, Brotli), Gzip},
		{"deflate", only(Identity, Gzip, Brotli), Identity},
	} {
		if got := ChooseCoding([]byte(tc.accept), tc.has); got != tc.want {
			t.Errorf("ChooseCoding(%q) = %v, want %v", tc.accept, got, tc.want)
		}
	}
}
