package trees

import (
	"maps"
	"testing"

	"atelier/actors/code"
)

func TestSumsAreRead(t *testing.T) {
	one := sumOf([]byte("1"))
	lines := one + "  a\n" + one + "  b  c\n#executable b%20%20c"
	whole := lines + "\n\n" + sumOf([]byte(lines))
	got, ok := decodeSums([]byte(whole))
	if !ok || !maps.Equal(got.byPath, map[string]string{"a": one, "b  c": one}) || !maps.Equal(got.modes, map[string]code.Mode{"b  c": code.Executable}) {
		t.Errorf("read are %v", got)
	}
	for i := range whole {
		b := []byte(whole)
		b[i] ^= 1
		if _, ok := decodeSums(b); ok {
			t.Errorf("byte %d is damaged and nobody saw it", i)
		}
	}
	if _, ok := decodeSums([]byte(lines + "\n\n")); ok {
		t.Error("sums without their own are taken")
	}
}
