package cow

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func values[T any](v View[T]) []T {
	var out []T
	for _, x := range v.All() {
		out = append(out, x)
	}
	return out
}

// TestCapturesNeverChange compares a vector and its captures with plain
// slices through any sequence of changes.
func TestCapturesNeverChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v Vector[int]
		var model []int
		type taken struct {
			view View[int]
			want []int
		}
		var captures []taken
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					x := rapid.Int().Draw(t, "x")
					v.Append(x)
					model = append(model, x)
				}
			},
			"set": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
				v.Set(i, -1)
				model[i] = -1
			},
			"filter": func(t *rapid.T) {
				odd := func(x int) bool { return x%2 != 0 }
				want := len(model)
				model = slices.DeleteFunc(model, func(x int) bool { return !odd(x) })
				if got := v.Filter(odd); got != want-len(model) {
					t.Fatalf("Filter removed %d elements, want %d", got, want-len(model))
				}
			},
			"capture": func(t *rapid.T) {
				captures = append(captures, taken{v.Capture(), slices.Clone(model)})
			},
			"": func(t *rapid.T) {
				if v.Len() != len(model) {
					t.Fatalf("the length is %d, want %d", v.Len(), len(model))
				}
				for i, want := range model {
					if v.At(i) != want {
						t.Fatalf("element %d is %d, want %d", i, v.At(i), want)
					}
				}
				for _, c := range captures {
					if !slices.Equal(values(c.view), c.want) || c.view.Len() != len(c.want) {
						t.Fatalf("an earlier capture changed")
					}
				}
			},
		})
	})
}

func TestEncodeReusesOnlyUnchangedPages(t *testing.T) {
	var v Vector[byte]
	for i := range 200 {
		v.Append(byte(i))
	}
	calls := 0
	enc := func(dst []byte, items []byte) []byte { calls++; return append(dst, items...) }
	first := v.Capture().Encode(nil, 0, enc)
	v.Set(70, 255)
	calls = 0
	second := v.Capture().Encode(nil, 0, enc)
	if calls != 1 {
		t.Errorf("%d pages were encoded after a change of one", calls)
	}
	if first[70] != 70 || second[70] != 255 || len(second) != 200 {
		t.Errorf("wrong contents: element 70 is %d, then %d, %d bytes", first[70], second[70], len(second))
	}
}

// In an earlier version, Filter called the function twice per element. Functions that counted their
// calls, such as the bounds of the chat and of settled help requests, then removed nothing.
func TestFilterCallsItsFunctionOncePerElement(t *testing.T) {
	var v Vector[int]
	for i := range 1000 {
		v.Append(i)
	}
	over := 300
	if removed := v.Filter(func(int) bool { over--; return over < 0 }); removed != 300 || v.Len() != 700 || v.At(0) != 300 || v.At(699) != 999 {
		t.Errorf("removed %d, left are %d starting with %d", removed, v.Len(), v.At(0))
	}
}
