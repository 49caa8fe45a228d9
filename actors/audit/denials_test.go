package audit_test

import (
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock/clocktest"
	"atelier/persistence/memory"
)

// Denials are written after one minute of the node's clock, with its time of day.
func TestDenialsAreTimedByTheTrailsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := clocktest.New(), memory.New()
		defer store.Close()
		c.SetOffset(time.Hour)
		trail := audit.New(store, c, 100*time.Hour)
		d := audit.NewDenials(trail, time.Minute, slog.New(slog.DiscardHandler))
		defer d.Close()
		d.Note(403, "attendee", "a", "", "")
		d.Note(403, "attendee", "a", "", "")
		c.Stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		if records, err := trail.Find(audit.Query{Limit: 10}); len(records) != 0 || err != nil {
			t.Errorf("denials were written while the clock was stopped: %v, %v", records, err)
		}
		c.Continue()
		synctest.Wait()
		records, err := trail.Find(audit.Query{Limit: 10})
		if err != nil || len(records) != 1 || records[0].Metadata["count"] != "2" {
			t.Fatalf("the records are %v, %v; want one with the count 2", records, err)
		}
		if at := records[0].CreatedAt; at != c.Now().UnixMilli() {
			t.Errorf("the record has the time %v, the clock shows %v", time.UnixMilli(at), c.Now())
		}
	})
}

// A flood of refused requests from many callers creates a bounded number of records. Callers beyond
// the bound are counted together, separately for each kind of refusal.
func TestAFloodOfDenialsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		defer store.Close()
		trail := audit.New(store, clocktest.New(), 100*time.Hour)
		d := audit.NewDenials(trail, time.Minute, slog.New(slog.DiscardHandler))
		const callers, more = 4096, 100
		for range 2 { // callers that are already counted continue to be counted individually
			for i := range callers + more {
				d.Note(403, "attendee", strconv.Itoa(i), "", "")
			}
		}
		d.NoteSignIn("expired", "192.0.2.1")
		d.Close()
		records, err := trail.Find(audit.Query{Limit: 2 * callers})
		if err != nil || len(records) != callers+2 {
			t.Fatalf("there are %d records, %v", len(records), err)
		}
		single := 0
		for _, r := range records {
			switch {
			case r.ActorType == "attendee" && r.Metadata["count"] == "2":
				single++
			case r.ActorType == "various" && r.ActorId == "" && r.Metadata["status"] == "403" && r.Metadata["count"] == strconv.Itoa(2*more):
			case r.ActorType == "various" && r.Action == "admin_login_failed" && r.Metadata["why"] == "expired" && r.Ip == "":
			default:
				t.Errorf("unexpected record %v", r)
			}
		}
		if single != callers {
			t.Errorf("%d callers have records of their own", single)
		}
	})
}

// The record of a denial contains the caller, the codelab, the IP address and the HTTP status. The
// record of a failed sign-in contains the reason.
func TestDenialsIdentifyTheCaller(t *testing.T) {
	store := memory.New()
	defer store.Close()
	trail := audit.New(store, clocktest.New(), time.Hour)
	d := audit.NewDenials(trail, time.Hour, slog.New(slog.DiscardHandler))
	d.Note(403, "attendee", "lin", "lab", "192.0.2.1")
	d.NoteSignIn("expired", "192.0.2.2")
	d.Close()
	records, err := trail.Find(audit.Query{Limit: 10})
	got := map[string]*audit.Record{}
	for _, r := range records {
		got[r.Action] = r
	}
	denied, failed := got["access_denied"], got["admin_login_failed"]
	if err != nil || denied == nil || failed == nil {
		t.Fatalf("the records are %v, %v, want access_denied and admin_login_failed", records, err)
	}
	if denied.ActorType != "attendee" || denied.ActorId != "lin" || denied.CodelabId != "lab" || denied.Ip != "192.0.2.1" || denied.Metadata["status"] != "403" || denied.Metadata["count"] != "1" {
		t.Errorf("the record of a denial is %v", denied)
	}
	if failed.ActorType != "anonymous" || failed.Ip != "192.0.2.2" || failed.Metadata["why"] != "expired" || failed.Metadata["by"] != "oidc" || failed.Metadata["count"] != "1" {
		t.Errorf("the record of a failed sign-in is %v", failed)
	}
}
