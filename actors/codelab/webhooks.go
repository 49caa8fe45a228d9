package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/webhook"
)

// webhookRows returns the webhook deliveries of a decision (transport/rest/RULES.md, "Webhooks").
// It derives the deliveries from the events, so that no command can omit them. s is the state
// before the events.
func (s *State) webhookRows(events []*pb.Event) (rows []durable.Row) {
	if s.rules.Webhooks == nil {
		return nil
	}
	for _, e := range events {
		if kind, data := s.webhookEvent(e); data != nil {
			rows = append(rows, s.rules.Webhooks.Rows(webhook.Occurrence{Type: kind, CodelabID: s.id, At: e.At, Data: data})...)
		}
	}
	return rows
}

// webhookEvent returns the webhook event for a codelab event, or "" and nil if there is none.
// Simulated attendees cause none. The webhook event contains only ids. Names are looked up when the
// delivery is sent, so that a stored delivery never contains an erased person's name.
func (s *State) webhookEvent(e *pb.Event) (kind string, data *webhook.Data) {
	if kind, data = s.webhookData(e); s.simulatedID(data.GetAttendeeId()) {
		return "", nil
	}
	return kind, data
}

func (s *State) webhookData(e *pb.Event) (kind string, data *webhook.Data) {
	switch b := e.Body.(type) {
	case *pb.Event_Registered:
		if b.Registered.Attendee.Simulated {
			return "", nil
		}
		return webhook.AttendeeRegistered, &webhook.Data{AttendeeId: b.Registered.Attendee.Id}
	case *pb.Event_HelpAsked:
		h := b.HelpAsked.Request
		if _, moved := s.openHelp[h.AttendeeId]; moved {
			return "", nil // a repeated request was already reported
		}
		return webhook.HelpRequested, &webhook.Data{AttendeeId: h.AttendeeId, HelpId: h.Id, StepNumber: h.StepNumber}
	case *pb.Event_Completed:
		return webhook.AttendeeCompleted, &webhook.Data{AttendeeId: b.Completed.AttendeeId}
	case *pb.Event_CheckReported:
		return webhook.CheckReported, &webhook.Data{AttendeeId: b.CheckReported.AttendeeId, Check: b.CheckReported.Name, Ok: b.CheckReported.Ok}
	case *pb.Event_Updated:
		if s.meta.GetEndedAt() != 0 || b.Updated.Codelab.EndedAt == 0 {
			return "", nil
		}
		return webhook.WorkshopEnded, &webhook.Data{Attendees: int32(s.people()), Completed: int32(s.completed - s.simulatedDone())}
	}
	return "", nil
}
