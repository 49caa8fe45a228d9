package audit

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// A participant's own log contains only their records, in order and in pages. Other participants
// can have records in the same span.
func TestAParticipantsOwnLogIsCompleteAndInOrder(t *testing.T) { synctest.Test(t, testOwnLog) }

func testOwnLog(t *testing.T) {
	for _, told := range []bool{true, false} {
		store := memory.New()
		trail := New(store, clock.System, time.Hour)
		var want []string
		for i := range 300 {
			if i%7 == 0 {
				time.Sleep(50 * time.Millisecond)
			}
			r := &Record{Action: fmt.Sprint("a", i), ActorType: "participant", ActorId: "shop"}
			other := []string{"", "platform", "shop"}[i%3]
			var rows []durable.Row
			switch i % 5 {
			case 0: // in no participant's own log
				rows = trail.Rows(r)
			default:
				rows = trail.OwnRows(r, &Own{TokenLastFour: fmt.Sprint(i)}, "shop", other)
				if other == "platform" {
					want = append(want, r.Id)
				}
			}
			if err := durable.Commit(store, rows); err != nil {
				t.Fatal(err)
			}
			if told {
				trail.Committed(rows)
			}
		}
		slices.Reverse(want)
		var got []string
		for before, more := "", true; more; {
			page, err := trail.Owned("platform", before, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page {
				got, before = append(got, e.Id), e.Id
				if "a"+e.TokenLastFour != e.Action {
					t.Errorf("entry %s has the data of %s", e.Action, e.TokenLastFour)
				}
			}
			more = len(page) == 7
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log has %d entries, want %d; or their order is wrong", len(got), len(want))
		}
		if all, err := trail.Owned("stranger", "", 7); err != nil || len(all) > 0 {
			t.Errorf("the log of a stranger has %d entries, %v", len(all), err)
		}
		_ = store.Close()
	}
}

// The trail marks a span again until Committed confirms that a mark is on disk.
func TestASpanIsMarkedAgainUntilItsMarkIsCommitted(t *testing.T) { synctest.Test(t, testSpans) }

func testSpans(t *testing.T) {
	store := memory.New()
	defer store.Close()
	trail := New(store, clock.System, time.Hour)
	marks := func() (rows, marks []durable.Row) {
		rows = trail.OwnRows(&Record{ActorId: "shop"}, &Own{}, "shop")
		for _, r := range rows {
			if r.Table == auditOwn {
				marks = append(marks, r)
			}
		}
		return rows, marks
	}
	rows, first := marks()
	if _, again := marks(); len(first) != 1 || len(again) != 1 {
		t.Fatalf("there are %d and %d marks, want one each before the first is on disk", len(first), len(again))
	}
	trail.Committed(rows)
	if _, again := marks(); len(again) != 0 {
		t.Error("a span with a mark on disk is marked again")
	}
	time.Sleep(time.Second)
	if _, next := marks(); len(next) != 1 || next[0].TTL < time.Hour {
		t.Errorf("the marks of the next span are %v", next)
	}
}

// The memory for marked spans is bounded for any number of participants.
func TestMarkedSpansAreBounded(t *testing.T) {
	var s spans
	for i := range maxSpans + 10 {
		s.add(fmt.Sprint(i), "a span")
	}
	if n := len(s.latest); n > maxSpans || !s.known(fmt.Sprint(maxSpans+9), "a span") {
		t.Errorf("%d spans are remembered", n)
	}
}
