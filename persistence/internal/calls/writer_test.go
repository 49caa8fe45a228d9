package calls

import (
	"errors"
	"testing"

	"atelier/actors/durable"
)

type testLog struct{ Cursor }

type testItem struct{ Item[*testLog] }

// work starts a writer that commits each item as its own group. end contains the groups' errors, by
// the name in the item's Actor. outcomes ends the writer and returns the items' outcomes by name.
func work(end map[string]error) (push func(...testItem), outcomes func() map[string]error) {
	queue, all := NewQueue[testItem](durable.StoreLimits{QueueBytes: 100}), map[string]error{}
	snapshots := NewSnapshots(100, func(*Snapshot[*testLog]) error { return nil }, func(*testLog) {})
	go snapshots.Run()
	w := NewWriter[*testLog, testItem](queue, snapshots)
	go w.Run(func(items []testItem) {
		for i := range items {
			w.Admit(&items[i])
			w.Finish(items[i:i+1], end[items[i].Actor])
		}
	})
	push = func(items ...testItem) {
		for _, it := range items {
			it.Done = func(err error) { all[it.Actor] = err }
			if err := queue.Push(it, it.Bytes); err != nil {
				panic(err)
			}
		}
	}
	return push, func() map[string]error {
		queue.Close()
		w.Wait()
		snapshots.Close()
		if n, bytes := queue.Load(); n != 0 || bytes != 0 {
			panic("the space in the queue was not freed")
		}
		return all
	}
}

func entry(kind Kind, name string, l *testLog, first uint64) testItem {
	return testItem{Item[*testLog]{Kind: kind, Actor: name, Log: l, First: first, Count: 1, Bytes: 1}}
}

func handle() *testLog { return &testLog{Cursor{Actor: "a", Next: 1}} }

// A late release of an old handle does not affect the newer handle.
func TestOnlyTheNewestHandleAppends(t *testing.T) {
	push, outcomes := work(nil)
	first, second, third := handle(), handle(), handle()
	push(entry(KindOpen, "", first, 0), entry(KindOpen, "", second, 0), entry(KindRelease, "", first, 0),
		entry(KindBatch, "of the first", first, 1), entry(KindBatch, "of the second", second, 1),
		entry(KindOpen, "", third, 0), entry(KindBatch, "of the second, late", second, 2), entry(KindBatch, "of the third", third, 1))
	got := outcomes()
	for name, want := range map[string]error{
		"of the first": durable.ErrFenced, "of the second": nil, "of the second, late": durable.ErrFenced, "of the third": nil,
	} {
		if err, reported := got[name]; !reported || !errors.Is(err, want) {
			t.Errorf("batch %s: %v", name, err)
		}
	}
}

// The items of a failed group get its error, and a log with a gap accepts no more batches.
func TestAFailedGroupFailsAllItsItems(t *testing.T) {
	failed := errors.New("the disk failed")
	push, outcomes := work(map[string]error{"rows": failed, "batch": failed})
	l, other := handle(), &testLog{Cursor{Actor: "b", Next: 1}}
	push(entry(KindRows, "rows", nil, 0), entry(KindBatch, "batch", l, 1), entry(KindBatch, "after it", l, 2), entry(KindBatch, "another's", other, 1),
		entry(KindBatch, "with a gap", other, 7), entry(KindRows, "more rows", nil, 0))
	got := outcomes()
	for name, want := range map[string]error{
		"rows": failed, "batch": failed, "after it": durable.ErrGap, "another's": nil, "with a gap": durable.ErrGap, "more rows": nil,
	} {
		if err, reported := got[name]; !reported || !errors.Is(err, want) {
			t.Errorf("item %s: %v", name, err)
		}
	}
}

// An invalid batch is refused before it is queued.
func TestInvalidBatchesAreRefused(t *testing.T) {
	records := durable.Records(nil).Add([]byte("one")).Add([]byte("two"))
	rows := []durable.Row{{Table: "t", Key: []byte("k"), Value: []byte("v")}}
	it, err := BatchItem(handle(), durable.Batch{First: 3, Records: records, Rows: rows})
	if err != nil || it.Count != 2 || it.First != 3 || len(it.Rows) != 1 || !it.Commits() {
		t.Errorf("a valid batch: %+v, %v", it, err)
	}
	guarded := []durable.Row{{Table: "t", Key: []byte("k"), Precondition: durable.Absent()}}
	for name, b := range map[string]durable.Batch{
		"half a record":  {First: 1, Records: records[:len(records)-1]},
		"an empty row":   {First: 1, Records: records, Rows: []durable.Row{{}}},
		"a precondition": {First: 1, Records: records, Rows: guarded},
	} {
		if _, err := BatchItem(handle(), b); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
