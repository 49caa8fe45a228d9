package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/persistence/memory"
)

// A record that one node commits is in the other node's list after Sync. A search for a record that
// the list does not have calls Sync.
func TestTheListContainsRecordsOfAllNodes(t *testing.T) {
	store, nodes := memory.Share(2)
	defer store.Close()
	var lists []*List
	for _, n := range nodes {
		l, err := FollowList(n, clock.System, func(err error) { t.Error(err) })
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
	if got, err := lists[1].Get("one"); err != nil || got == nil || got.Title != "first" {
		t.Fatalf("the other node finds %v", got)
	}
	if got, err := lists[0].ByJoinCode("CODE"); err != nil || got == nil {
		t.Error("the codelab is not found by its join code")
	}
	commit(ListRow(&pb.Codelab{Id: "one", Title: "second"}))
	lists[1].Put(one) // the actor's record can be older than the committed one
	for _, l := range lists {
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if all := l.All(); len(all) != 1 || all[0].Title != "second" {
			t.Errorf("the list has %v, want the second title", all)
		}
	}
	commit(UnlistRow("one"))
	for _, l := range lists {
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Get("one"); len(l.All()) != 0 || got != nil || err != nil {
			t.Error("a removed codelab is still listed")
		}
	}
}

// cutOff is a feed of a node that cannot reach the store.
type cutOff struct{ durable.Feed }

func (cutOff) Sync(context.Context) error { return context.DeadlineExceeded }

// A node that cannot reach the store returns ErrUnavailable for unknown records. In an earlier
// version, it reported that records of other nodes did not exist, and clients treated the 404 as
// final.
func TestANodeWithoutTheStoreReturnsErrUnavailable(t *testing.T) {
	store, nodes := memory.Share(2)
	defer store.Close()
	l, err := FollowList(nodes[0], clock.System, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	known := naming.NewID()
	if err := durable.Commit(nodes[0], []durable.Row{ListRow(&pb.Codelab{Id: known, JoinCode: "CODE"})}); err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	source := naming.NewIDs(known)
	child := source.Next(time.Now())
	if owners, err := l.Owners(child); err != nil || len(owners) != 1 {
		t.Fatalf("%s belongs to %v, %v", child, owners, err)
	}
	whole := l.feed
	l.feed = cutOff{whole}
	defer func() { l.feed = whole }()
	for what, lookup := range map[string]func(known bool) (bool, error){
		"by id": func(k bool) (bool, error) {
			m, err := l.Get(map[bool]string{true: known, false: naming.NewID()}[k])
			return m != nil, err
		},
		"by join code": func(k bool) (bool, error) {
			m, err := l.ByJoinCode(map[bool]string{true: "CODE", false: "OTHER"}[k])
			return m != nil, err
		},
		"by the id of a part": func(k bool) (bool, error) {
			other := naming.NewIDs(naming.NewID())
			owners, err := l.Owners(map[bool]string{true: child, false: other.Next(time.Now())}[k])
			return len(owners) > 0, err
		},
	} {
		if found, err := lookup(true); !found || err != nil {
			t.Errorf("%s: a known record: found %v, %v", what, found, err)
		}
		if found, err := lookup(false); found || !errors.Is(err, durable.ErrUnavailable) {
			t.Errorf("%s: an unknown record: found %v, %v, want ErrUnavailable", what, found, err)
		}
	}
}

// silent is a feed that does not answer.
type silent struct{ durable.Feed }

func (silent) Sync(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestAnUnansweredSyncEndsByTheNodesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocktest.New()
		l := &List{feed: silent{}, clock: c}
		c.Stop()
		ended := make(chan error, 1)
		go func() { ended <- l.Sync() }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(ended) != 0 {
			t.Errorf("Sync ended while the clock was stopped: %v", <-ended)
		}
		c.Continue()
		synctest.Wait()
		if len(ended) != 1 {
			t.Fatal("Sync did not end when the clock ran again")
		}
		if err := <-ended; !errors.Is(err, durable.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// After any changes, the list equals a simple model: in order, by id, by code and by tag. A listing
// obtained earlier does not change.
func TestTheListEqualsASimpleModel(t *testing.T) {
	alike := ofOneTag(3)
	rapid.Check(t, func(t *rapid.T) {
		l := newList(nil, nil)
		plain := map[string]*pb.Codelab{}
		ids := make([]string, 12)
		for i := range ids {
			ids[i] = naming.NewID()
		}
		copy(ids, alike)
		taken, was := l.All(), ""
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				l.Remove(id)
				delete(plain, id)
			} else {
				// A join code belongs to one codelab, which can change its code.
				m := &pb.Codelab{Id: id, JoinCode: id + rapid.SampledFrom([]string{"A", "B"}).Draw(t, "code")}
				l.Put(m)
				plain[id] = m
			}
			var want []string
			for _, id := range slices.Sorted(maps.Keys(plain)) {
				want = append([]string{id}, want...)
			}
			if rapid.Bool().Draw(t, "read") {
				if got := idsOf(l.All()); got != fmt.Sprint(want) {
					t.Fatalf("the list is %v, want %v", got, want)
				}
				taken, was = l.All(), idsOf(l.All())
			}
			for _, id := range ids {
				got, err := l.Get(id)
				if err != nil || got != plain[id] {
					t.Fatalf("the record %s is %v, want %v", id, got, plain[id])
				}
				for _, end := range []string{"A", "B"} {
					code := id + end
					if got, _ := l.ByJoinCode(code); (got != nil) != (plain[id].GetJoinCode() == code) {
						t.Fatalf("the lookup of the join code %s returned %v", code, got)
					}
				}
				var alike []string
				for other := range plain {
					if naming.IDTag(other) == naming.IDTag(id) {
						alike = append(alike, other)
					}
				}
				owners, _ := l.Owners(naming.NewIDs(id).Next(time.Now()))
				if slices.Sort(alike); !slices.Equal(slices.Sorted(slices.Values(owners)), alike) {
					t.Fatalf("%s belongs to %v, want %v", id, owners, alike)
				}
			}
		}
		if was != "" && idsOf(taken) != was {
			t.Fatal("an earlier listing changed")
		}
	})
}

// ofOneTag returns n ids that share one tag.
func ofOneTag(n int) []string {
	byTag := map[uint32][]string{}
	for i := 0; ; i++ {
		id := fmt.Sprint(i)
		tag := naming.IDTag(id)
		if byTag[tag] = append(byTag[tag], id); len(byTag[tag]) == n {
			return byTag[tag]
		}
	}
}

// A record is read from the store as it was written.
func TestAListRowIsReadAsWritten(t *testing.T) {
	m := &pb.Codelab{
		Id: naming.NewID(), Title: "Go", Description: "All of it", Author: "Ada", JoinCode: "ABC234", Slug: "go-all",
		SourceId: naming.NewID(), GuideMarkdown: new("guide"), CreatedAt: 5, QuizEnabled: true,
	}
	got, err := read([]byte(m.Id), ListRow(m).Value)
	if err != nil || !proto.Equal(got, m) {
		t.Errorf("the record is %v, %v", got, err)
	}
}

// The error for a damaged row names the row. LoadList fails, even if sound rows follow.
func TestTheErrorForADamagedRowContainsItsID(t *testing.T) {
	journal := memory.New()
	damaged, sound := naming.NewID(), naming.NewID()
	rows := []durable.Row{{Table: ListTable, Key: []byte(damaged), Value: []byte{0xff}}, ListRow(&pb.Codelab{Id: sound})}
	if err := durable.Commit(journal, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadList(journal); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("LoadList returned %v, want an error with the id", err)
	}
	if _, err := Listed(journal, damaged); !errors.Is(err, durable.ErrCorrupt) || !strings.Contains(err.Error(), damaged) {
		t.Errorf("Listed returned %v, want ErrCorrupt with the id", err)
	}
}

func idsOf(all []*pb.Codelab) string {
	var ids []string
	for _, m := range all {
		ids = append(ids, m.Id)
	}
	return fmt.Sprint(ids)
}

// BenchmarkPut adds a codelab to a small and to a large list. When each change cloned the list,
// adding one to 18,000 cost 24 times as much as adding one to 100.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := newList(nil, nil)
			for range n {
				id := naming.NewID()
				l.Put(&pb.Codelab{Id: id, JoinCode: id})
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				id := naming.NewID()
				l.Put(&pb.Codelab{Id: id, JoinCode: id})
				l.Remove(id)
			}
		})
	}
}
