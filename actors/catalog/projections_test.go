package catalog

import (
	"fmt"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// Reading figures one by one and reading the whole table have the same result.
func TestFiguresReadSinglyEqualThoseOfTheTable(t *testing.T) {
	store := memory.New()
	defer store.Close()
	var rows []durable.Row
	for i := range 100 {
		id := fmt.Sprintf("lab-%03d", i)
		rows = append(rows, ListRow(&pb.Codelab{Id: id}))
		if i != 50 { // one codelab has no recorded figures
			rows = append(rows, FiguresRow(id, &pb.Figures{Attendees: int32(i)}))
		}
	}
	if err := durable.Commit(store, rows); err != nil {
		t.Fatal(err)
	}
	l, err := LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	all := l.All()
	for n := range len(all) + 1 {
		some := all[len(all)-n:]
		figures, err := l.Figures(some)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range some {
			f, want := figures[m.Id], m.Id != "lab-050"
			if (f != nil) != want || want && fmt.Sprintf("lab-%03d", f.Attendees) != m.Id {
				t.Fatalf("among %d codelabs, %s has the figures %v", n, m.Id, f)
			}
		}
		if few := n*rowsForGet <= len(all); few && len(figures) > n {
			t.Fatalf("for %d codelabs, there are %d figures", n, len(figures))
		}
	}
	damaged := []durable.Row{{Table: figuresTable, Key: []byte("lab-007"), Value: []byte{0xff}}}
	if err := durable.Commit(store, damaged); err != nil {
		t.Fatal(err)
	}
	for _, m := range [][]*pb.Codelab{all, {l.Known("lab-007")}} {
		if _, err := l.Figures(m); err == nil {
			t.Errorf("among %d codelabs, damaged figures were read", len(m))
		}
	}
}
