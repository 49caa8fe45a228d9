package codelab

import (
	"time"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// isEdit reports whether an event changes the codelab's content: its settings, steps, quizzes or
// materials.
func isEdit(e *pb.Event) bool {
	switch e.Body.(type) {
	case *pb.Event_Created, *pb.Event_Updated, *pb.Event_StepsReplaced, *pb.Event_QuizzesReplaced,
		*pb.Event_MaterialAdded, *pb.Event_MaterialDeleted:
		return true
	}
	return false
}

// figureRows returns the row with the figures that the list of codelabs shows, if the events of a
// decision change them. It derives the figures from the events, so that no command can omit them.
func (s *State) figureRows(events []*pb.Event, now time.Time) []durable.Row {
	f, changed := &pb.Figures{Attendees: int32(s.people()), UpdatedAt: s.updatedAt}, false
	for _, e := range events {
		switch b := e.Body.(type) {
		case *pb.Event_Deleted:
			return nil // its row is removed
		case *pb.Event_Registered:
			if !b.Registered.Attendee.Simulated {
				f.Attendees, changed = f.Attendees+1, true
			}
		case *pb.Event_Removed:
			if !s.simulatedID(b.Removed.AttendeeId) {
				f.Attendees, changed = f.Attendees-1, true
			}
		}
		if isEdit(e) {
			f.UpdatedAt, changed = now.UnixMilli(), true
		}
	}
	if !changed {
		return nil
	}
	return []durable.Row{catalog.FiguresRow(s.id, f)}
}
