package tree

import (
	"bytes"
	"maps"
	"testing"

	"atelier/actors/code"
)

// The sums of a tree without executable files are those of the time before modes were
// kept, to the byte, so that trees of then and now are read alike.
func TestSumsKeepTheirForm(t *testing.T) {
	one, two := SumOf([]byte("1")), SumOf(nil)
	s := NewSums()
	s.Add("b  c", one, code.Regular)
	s.Add("a", two, code.KeptMode)
	lines := two + "  a\n" + one + "  b  c"
	if got, want := string(s.Encode()), lines+"\n\n"+SumOf([]byte(lines)); got != want {
		t.Errorf("sums are\n%s\nwant\n%s", got, want)
	}
	if got, want := string(NewSums().Encode()), "\n\n"+SumOf(nil); got != want {
		t.Errorf("no sums are %q", got)
	}
	for _, path := range []string{"run  it.sh", "#executable x", "a%20b", "ä/한글"} {
		s.Add(path, one, code.Executable)
	}
	got, ok := DecodeSums(s.Encode())
	if !ok || !maps.Equal(got.ByPath, s.ByPath) || !maps.Equal(got.Modes, s.Modes) {
		t.Errorf("read are %v", got)
	}
	for i := range s.Encode() {
		b := s.Encode()
		b[i] ^= 1
		if _, ok := DecodeSums(b); ok {
			t.Errorf("byte %d is damaged and nobody saw it", i)
		}
	}
	if _, ok := DecodeSums(bytes.TrimRight(s.Encode(), "0123456789abcdef")); ok {
		t.Error("sums without their own are taken")
	}
}
