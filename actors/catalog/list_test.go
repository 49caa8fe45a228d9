package catalog

import (
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// What one node commits stands in the list of the other, once that was brought
// up to date, which a search for what is missing does by itself.
func TestTheListIsThatOfAllNodes(t *testing.T) {
	store, nodes := memory.Share(2)
	defer store.Close()
	var lists []*List
	for _, n := range nodes {
		l, err := FollowList(n, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		lists = append(lists, l)
	}
	commit := func(rows ...durable.Row) {
		t.Helper()
		if err := durable.Commit(nodes[0], rows); err != nil {
			t.Fatal(err)
		}
	}
	one := &pb.Codelab{Id: "one", JoinCode: "CODE", Title: "first"}
	commit(ListRow(one))
	if got := lists[1].Get("one"); got == nil || got.Title != "first" {
		t.Fatalf("the other node finds %v", got)
	}
	if got := lists[0].ByJoinCode("CODE"); got == nil {
		t.Error("it is not found by its code")
	}
	commit(ListRow(&pb.Codelab{Id: "one", Title: "second"}))
	lists[1].Put(one) // what the actor tells may be older than what is committed
	for _, l := range lists {
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if all := l.All(); len(all) != 1 || all[0].Title != "second" {
			t.Errorf("the list has %v", all)
		}
	}
	commit(UnlistRow("one"))
	for _, l := range lists {
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if len(l.All()) != 0 || l.Get("one") != nil {
			t.Error("what was removed is listed")
		}
	}
}
