package statetest

import (
	"strings"
	"testing"

	"atelier/actors/cow"
)

type inner struct {
	n    int
	next *inner
}

type state struct {
	name  string
	list  []*inner
	index map[string]inner
	rows  cow.Vector[int]
	fn    func()
	made  int   `snapshot:"rebuilt"`
	marks []int `snapshot:"trailing zeros: the last may be missing"`
	mixed []int `snapshot:"any order: the order has no meaning"`
}

func newState() *state {
	s := &state{name: "a", list: []*inner{{1, nil}, {2, &inner{3, nil}}}, index: map[string]inner{"x": {n: 4}}, marks: []int{1}, mixed: []int{1, 2}}
	s.list[0].next = s.list[0] // a cyclic reference does not loop forever
	s.rows.Append(7)
	return s
}

func TestDifferencesAreNamed(t *testing.T) {
	for want, change := range map[string]func(s *state){
		"":                func(s *state) { s.fn, s.made = func() {}, 5 },
		".name":           func(s *state) { s.name = "b" },
		".list[1].next.n": func(s *state) { s.list[1].next.n = 9 },
		".list[1].next:":  func(s *state) { s.list[1].next = nil },
		".list: 2":        func(s *state) { s.list = append(s.list, nil) },
		".index[x].n":     func(s *state) { s.index["x"] = inner{n: 5} },
		".index[x] is":    func(s *state) { delete(s.index, "x") },
		".index:":         func(s *state) { s.index["y"] = inner{} },
		".rows[0]":        func(s *state) { s.rows.Set(0, 8) },
		".rows:":          func(s *state) { s.rows.Append(0) },
		".marks":          func(s *state) { s.marks = []int{1, 0, 1} },
		".mixed":          func(s *state) { s.mixed = []int{2, 2} },
	} {
		other := newState()
		change(other)
		got := Diff(newState(), other)
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("the difference is %q, want %q", got, want)
		}
	}
	same := newState()
	same.marks, same.mixed = []int{1, 0, 0}, []int{2, 1}
	if got := Diff(newState(), same); got != "" {
		t.Errorf("two equal states differ: %s", got)
	}
	if got := Diff(&state{}, &state{list: []*inner{}, index: map[string]inner{}}); got != "" {
		t.Errorf("nothing and empty: %s", got)
	}
	if got := Diff(1, "1"); got == "" {
		t.Error("values of different types do not differ")
	}
}
