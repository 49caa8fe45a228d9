package login

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	pb "atelier/actors/login/loginpb"
)

// Grants are removed, replaced or added in a copy, so a record that is being read does not change.
func TestARecordThatIsBeingReadDoesNotChange(t *testing.T) {
	root := KeyOf("root")
	made := func() *record {
		e := &entry{hash: KeyOf("id"), expires: 100, replaces: &root}
		for _, lab := range []string{"a", "b", "c"} {
			e.addGrant(AttendeeGrant{Codelab: lab, AttendeeID: "lin", ExpiresAt: 50})
		}
		return &record{ids: []*entry{{hash: root, expires: 200, attendees: e.copy().attendees}, e}}
	}
	for name, change := range map[string]func(*record) *record{
		"pruned":         func(r *record) *record { return r.pruned(60) },
		"used":           func(r *record) *record { return r.used(KeyOf("id"), 10) },
		"grant replaced": func(r *record) *record { return r.without(10, "lin", nobody) },
		"grant removed":  func(r *record) *record { return r.without(10, "lin", nothing) },
	} {
		before := made()
		after := change(before)
		if string(before.encode()) == string(after.encode()) {
			t.Errorf("%s: the record did not change", name)
		}
		for i, e := range made().ids {
			if got := before.ids[i]; got.expires != e.expires || (got.replaces == nil) != (e.replaces == nil) || fmt.Sprint(got.attendees) != fmt.Sprint(e.attendees) {
				t.Errorf("%s: the original record changed to %+v", name, got)
			}
		}
	}
}

// A record is read as it was written, and a damaged record is refused.
func TestARecordIsReadAsWritten(t *testing.T) {
	root := KeyOf("root")
	e := &entry{
		hash: KeyOf("id"), expires: 100, replaces: &root, admin: &pb.AdminGrant{Login: "x", Person: "p", Generation: 3},
		attendees: []AttendeeGrant{{"lab", "lin", 50, 7}}, by: &pb.Registration{Codelab: "lab", Name: nameHash("Lin"), At: 9},
	}
	got, err := parseRecord((&record{ids: []*entry{e}}).encode())
	if err != nil || len(got.ids) != 1 || !reflect.DeepEqual(got.ids[0], e) {
		t.Fatalf("the record is read as %+v, %v", got, err)
	}
	for name, id := range map[string]*pb.SessionId{
		"without a hash": {}, "with half a hash": {Hash: root[:16]}, "with half of its predecessor's hash": {Hash: root[:], Replaces: root[:16]},
	} {
		if _, err := parseRecord(pbwire.Encode(&pb.SessionFamily{Ids: []*pb.SessionId{id}})); !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("an id %s: %v, want ErrCorrupt", name, err)
		}
	}
}

// A row expires with the last of its ids.
func TestARowExpiresWithItsLastID(t *testing.T) {
	rec := &record{ids: []*entry{{expires: 5_000}, {expires: 9_000}, {expires: 7_000}}}
	for now, want := range map[int64]time.Duration{0: 9 * time.Second, 8_999: time.Millisecond, 9_000: 0} {
		if row := newFamily().rows(rec, now)[0]; row.TTL != want || row.Delete != (want == 0) {
			t.Errorf("after %d ms, the row has the TTL %v, deleted: %v", now, row.TTL, row.Delete)
		}
	}
}

// unstored reports that everything is on disk, and stores nothing.
type unstored struct{ durable.Journal }

func (unstored) Append(_ []durable.Row, done func(error)) error { done(nil); return nil }

// With 10,000 attendees, a session uses 530 bytes of memory, a third of it in the lookup maps. It
// used 970 bytes when the stored message was kept in memory.
func BenchmarkMemoryOfASession(b *testing.B) {
	const people = 10_000
	for b.Loop() {
		s := empty(unstored{}, nil, time.Now)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range people {
			g := AttendeeGrant{Codelab: "lab", AttendeeID: fmt.Sprint("attendee-", i), ExpiresAt: time.Now().Add(time.Hour).UnixMilli()}
			if _, err := s.GrantAttendee("", fmt.Sprint("id", i), "Lin", g); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/people, "bytes/session")
		runtime.KeepAlive(s)
	}
}
