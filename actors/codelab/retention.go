package codelab

import (
	"context"
	"time"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Retain removes expired data, now and at every interval until ctx ends. This is data beyond the
// retention of its codelab, codelabs beyond the retention of the server, and due questions of people
// who erased themselves. It also ends rehearsals that a restart interrupted. Each node does this for
// the codelabs that no other node owns.
func (w *Codelabs) Retain(ctx context.Context, every time.Duration, codelabs Expiry) {
	tick := w.Durable.Clock.NewTicker(every)
	defer tick.Stop()
	for {
		leaving, err := catalog.Leaving(w.Journal)
		if err != nil {
			w.Logger.Warn("finding the questions of people who erased themselves failed; it is tried again at the next interval", "error", err)
		}
		for _, m := range w.List.All() {
			if ctx.Err() != nil {
				return
			}
			if err := w.retain(m, codelabs, leaving[m.Id]); err != nil && !durable.IsMissing(err) {
				w.Logger.Warn("removing the expired data of a codelab failed; it is tried again at the next interval", "codelab", m.Id, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// Expiry is the retention of codelabs.
type Expiry struct {
	// Days is the number of days from the end of the workshop to the deletion; 0 means never.
	Days int
	// Delete must call DeleteDue, and remove the codelab's data outside the journal.
	Delete func(id string) error
}

// retain removes the expired data of a codelab that no other node owns. leaves means that some of
// its questions are removed at a given time. If they are not due yet, activating the codelab
// schedules their removal (watchQuestions).
func (w *Codelabs) retain(m *pb.Codelab, codelabs Expiry, leaves bool) error {
	now := w.Durable.Clock.Now()
	applies := m.EmailRetentionDays != 0 || m.ChatRetentionDays != 0
	changes := deletionAt(m, codelabs.Days, now) != m.DeletionAt
	if !applies && !changes && !due(m, now) && m.Rehearsal == nil && !leaves || w.elsewhere(m.Id) {
		return nil
	}
	ws, err := w.Get(m.Id) // Get also ends a rehearsal that a restart interrupted
	if err == nil && applies {
		_, _, err = ws.Ask(Command{Caller: system, Body: ApplyRetention{}})
	}
	if err == nil && leaves {
		_, _, err = ws.Ask(Command{Caller: system, Body: DropQuestions{}})
	}
	if err == nil && changes {
		_, _, err = ws.Ask(Command{Caller: system, Body: SetDeletion{Days: codelabs.Days}})
	}
	if err == nil && due(ws.View().Meta, now) {
		err = codelabs.Delete(m.Id)
	}
	return err
}

// DeleteDue deletes a codelab that is due for deletion. For any other codelab it returns a
// Conflict.
func (w *Codelabs) DeleteDue(id string) error { return w.remove(system, id, Delete{Due: true}) }

// due reports whether the announced time of deletion has passed.
func due(m *pb.Codelab, now time.Time) bool {
	return m.GetDeletionAt() != 0 && m.DeletionAt <= now.UnixMilli()
}

// notice is the minimum time between announcing the deletion of a codelab and deleting it.
const notice = 14 * 24 * time.Hour

// MaxDays is the maximum limited retention of codelabs, in days.
const MaxDays = 36_500

// deletionAt returns the time of deletion for a retention of days, in Unix milliseconds, or 0 for
// never. It is not before the announced time or the time two weeks from now, whichever is earlier.
func deletionAt(m *pb.Codelab, days int, now time.Time) int64 {
	if days == 0 || m.EndedAt == 0 {
		return 0
	}
	at := time.UnixMilli(m.EndedAt).AddDate(0, 0, days).UnixMilli()
	soonest := now.Add(notice).UnixMilli()
	if announced := m.DeletionAt; announced != 0 {
		soonest = min(soonest, announced)
	}
	return max(at, soonest)
}

// SetDeletion sets the time of the codelab's deletion and announces it.
type SetDeletion struct {
	// Days is the number of days from the end of the workshop to the deletion; 0 means never.
	Days int
}

func (b SetDeletion) decide(c call) (decision, error) {
	at := deletionAt(c.s.meta, b.Days, c.now)
	if b.Days < 0 || b.Days > MaxDays {
		return decision{}, durable.Reject(durable.Invalid, "days must be 0 to %d", MaxDays)
	}
	if at == c.s.meta.DeletionAt {
		return decision{}, nil
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_DeletionSet{DeletionSet: &pb.DeletionSet{At: at}}})
	m := c.s.meta.Clone()
	m.DeletionAt = at
	d.Rows = []durable.Row{catalog.ListRow(m)}
	return d, nil
}

func (s *State) applyDeletionSet(seq uint64, at int64) {
	if s.meta == nil {
		return
	}
	s.meta = s.meta.Clone()
	s.meta.DeletionAt = at
	s.changed.Codelab = seq
}

// ApplyRetention removes e-mail addresses and chat messages that have exceeded the codelab's
// retention.
type ApplyRetention struct{}

func (ApplyRetention) decide(c call) (decision, error) {
	m := c.s.meta
	b := &pb.RetentionApplied{}
	if m.EmailRetentionDays > 0 {
		limit := c.now.AddDate(0, 0, -int(m.EmailRetentionDays)).UnixMilli()
		for _, a := range c.s.attendees.All() {
			if a.CreatedAt < limit && a.Email != "" {
				b.EmailsBefore = limit
				break
			}
		}
	}
	if m.ChatRetentionDays > 0 && c.s.chat.Len() > 0 {
		limit := c.now.AddDate(0, 0, -int(m.ChatRetentionDays)).UnixMilli()
		if c.s.chat.At(0).CreatedAt < limit {
			b.ChatBefore = limit
		}
	}
	if b.EmailsBefore == 0 && b.ChatBefore == 0 {
		return decision{}, nil
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_RetentionApplied{RetentionApplied: b}})
	d.Rows = c.audit("retention_apply", c.s.id, nil)
	if b.ChatBefore > 0 {
		_, rows := c.untalk(func(m *pb.ChatMessage) bool { return m.CreatedAt < b.ChatBefore }, noComment)
		d.Rows = append(d.Rows, rows...)
	}
	return d, nil
}

func (s *State) applyRetained(seq uint64, b *pb.RetentionApplied) {
	if b.EmailsBefore > 0 {
		for i, a := range s.attendees.All() {
			if a.CreatedAt < b.EmailsBefore && a.Email != "" {
				a = a.Clone()
				a.Email = ""
				s.attendees.Set(i, a)
			}
		}
		s.changed.Attendees = seq
	}
	if b.ChatBefore > 0 {
		s.chat.Filter(func(m *pb.ChatMessage) bool { return m.CreatedAt >= b.ChatBefore })
		s.changed.Chat = seq
	}
}
