package audit_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock/clocktest"
	"atelier/persistence/memory"
)

// Denials are written when a minute of the node has passed, with its time of day.
func TestDenialsFollowTheClockOfTheTrail(t *testing.T) {
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
			t.Errorf("written while the clock stood still: %v, %v", records, err)
		}
		c.Continue()
		synctest.Wait()
		records, err := trail.Find(audit.Query{Limit: 10})
		if err != nil || len(records) != 1 || records[0].Metadata["count"] != "2" {
			t.Fatalf("%v, %v", records, err)
		}
		if at := records[0].CreatedAt; at != c.Now().UnixMilli() {
			t.Errorf("the record is of %v, the clock shows %v", time.UnixMilli(at), c.Now())
		}
	})
}
