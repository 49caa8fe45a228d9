package codelab

import (
	"context"
	"time"

	pb "atelier/actors/codelab/codelabpb"
)

// Retain removes what has outlived the retention of its codelab, and what a rehearsal left
// that a restart interrupted, now and every so often until ctx ends.
func (w *Codelabs) Retain(ctx context.Context, every time.Duration) {
	tick := w.Durable.Clock.NewTicker(every)
	defer tick.Stop()
	for {
		for _, m := range w.List.All() {
			retains := m.EmailRetentionDays > 0 || m.ChatRetentionDays > 0
			if !retains && m.Rehearsal == nil || ctx.Err() != nil || w.elsewhere(m.Id) {
				continue
			}
			ws, err := w.Get(m.Id) // which ends a rehearsal that a restart has left
			if err == nil && retains {
				_, _, err = ws.Ask(Command{
					Caller: system, Body: ApplyRetention{},
				})
			}
			if err != nil {
				w.Logger.Warn("applying retention failed", "codelab", m.Id, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// ApplyRetention decides whether something has outlived the codelab's
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
