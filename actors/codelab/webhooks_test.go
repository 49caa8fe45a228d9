package codelab

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/webhook"
)

// A webhook event contains the data that its receiver needs: the person, the request, the step and
// the result. Simulated attendees cause no events.
func TestWebhookEventsContainTheirData(t *testing.T) {
	l := newLab()
	l.create(t)
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "one", ContentMarkdown: declaring("a")}, {Title: "two"}}})
	var ann *Caller
	h := ""
	for i, tc := range []struct {
		who  func() *Caller
		body Body
		kind string
		want func() *webhook.Data
	}{
		{func() *Caller { return &Caller{Role: RoleAnyone} }, Register{Name: "Ann"}, webhook.AttendeeRegistered, func() *webhook.Data { return &webhook.Data{AttendeeId: ann.ID} }},
		{nil, AskHelp{StepNumber: 2}, webhook.HelpRequested, func() *webhook.Data { return &webhook.Data{AttendeeId: ann.ID, HelpId: h, StepNumber: 2} }},
		{nil, AskHelp{StepNumber: 1}, "", func() *webhook.Data { return nil }}, // a repeated request
		{nil, ReportCheck{Name: "a", OK: true}, webhook.CheckReported, func() *webhook.Data { return &webhook.Data{AttendeeId: ann.ID, Check: "a", Ok: true} }},
		{nil, ReportCheck{Name: "a"}, webhook.CheckReported, func() *webhook.Data { return &webhook.Data{AttendeeId: ann.ID, Check: "a"} }},
		{nil, PostChat{Message: "m"}, "", func() *webhook.Data { return nil }},
		{nil, Complete{}, webhook.AttendeeCompleted, func() *webhook.Data { return &webhook.Data{AttendeeId: ann.ID} }},
		{func() *Caller { return admin }, Update{Title: proto.String("T")}, "", func() *webhook.Data { return nil }},
		{func() *Caller { return admin }, SetEnded{Ended: true}, webhook.WorkshopEnded, func() *webhook.Data { return &webhook.Data{Attendees: 1, Completed: 1} }},
		{func() *Caller { return admin }, Update{Title: proto.String("U")}, "", func() *webhook.Data { return nil }},
		{func() *Caller { return admin }, SetEnded{}, "", func() *webhook.Data { return nil }},
	} {
		who := ann
		if tc.who != nil {
			who = tc.who()
		}
		before := replay(l.empty(), 0, l.events) // the state before the events, from which the webhook events are derived
		from := len(l.events)
		l.must(t, who, tc.body)
		if ann == nil {
			ann = attendeeCaller(l.attendees.At(0))
		}
		if r, ok := l.openHelp[ann.ID]; ok {
			h = l.help.At(r).Id
		}
		kind, data := before.webhookEvent(l.events[from])
		if want := tc.want(); kind != tc.kind || !proto.Equal(data, want) {
			t.Errorf("command %d, %T: webhook event %s %v, want %s %v", i, tc.body, kind, data, tc.kind, want)
		}
	}
	simulated := &pb.Attendee{Id: "s", Name: "s", Simulated: true}
	for _, e := range []*pb.Event{
		{Body: &pb.Event_Registered{Registered: &pb.Registered{Attendee: simulated}}},
		{Body: &pb.Event_HelpAsked{HelpAsked: &pb.HelpAsked{Request: &pb.HelpRequest{Id: "h", AttendeeId: "s", StepNumber: 1}}}},
		{Body: &pb.Event_Completed{Completed: &pb.Completed{AttendeeId: "s"}}},
	} {
		if kind, data := l.webhookEvent(e); data != nil {
			t.Errorf("event %v of a simulated attendee: webhook event %s %v", e, kind, data)
		}
		if e.GetRegistered() != nil {
			l.seq++
			l.Apply(l.seq, e)
		}
	}
}
