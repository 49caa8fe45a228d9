package nodes

import (
	"encoding/json"
	"testing"
	"time"
)

// A node sends its figures to the others. Its load is the rate of commits over about ten seconds,
// and each connection counts like one record per second.
func TestFiguresContainTheLoadOfANode(t *testing.T) {
	var m meter
	at := time.Unix(1_800_000_000, 0)
	c := Counts{Records: 1000, Connections: 3, People: 2, Lag: 1500 * time.Millisecond, Divergences: 4}
	if got := m.figures(at, c); got != (Figures{Load: 3, LagSeconds: 1.5, Divergences: 4, People: 2}) {
		t.Errorf("the first figures are %+v", got) // commits before the start do not count as load
	}
	for i, want := range []float64{3 + 10, 3 + 19, 3 + 27.1} { // a hundred per second
		at, c.Records = at.Add(time.Second), c.Records+100
		if got := m.figures(at, c).Load; got < want-0.11 || got > want {
			t.Errorf("after %d seconds, the load is %v, want %v", i+1, got, want)
		}
	}
	at, c.Records = at.Add(time.Minute), c.Records+600
	if got := m.figures(at, c).Load; got != 3+10 {
		t.Errorf("after a quiet minute, the load is %v", got)
	}
	if got := m.figures(at, c).Load; got != 3+10 {
		t.Errorf("at the same moment, the load is %v", got)
	}
}

// Other nodes read a node's figures. A node of an earlier release sends no figures.
func TestOtherNodesReadTheFigures(t *testing.T) {
	f := Figures{Load: 1.5, LagSeconds: 2, Divergences: 3, People: 4, Trouble: &Trouble{DiskFull, "full"}}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := parseFigures(b); got == nil || got.Load != 1.5 || got.LagSeconds != 2 || got.Divergences != 3 || got.People != 4 || got.takes() {
		t.Errorf("the figures are read as %+v", got)
	}
	if f.Trouble = nil; !f.takes() {
		t.Error("a node without trouble accepts nothing")
	}
	for _, earlier := range []string{"", "{}", `{"lag":1}`, "[]"} {
		if got := parseFigures([]byte(earlier)); got != nil || !got.takes() {
			t.Errorf("%q is read as %+v", earlier, got)
		}
	}
}
