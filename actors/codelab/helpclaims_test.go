package codelab

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// For each command and each state of a request, the test compares the result and the request's
// helper afterwards. Two facilitators have the same name, because a claim belongs to one login, not
// to everybody with that name.
func TestAClaimBelongsToOneLogin(t *testing.T) {
	ada, namesake := *admin, *admin
	ada.Name, ada.Person, ada.AdminID = "Ada", PersonPrefix+"ada", "ada"
	namesake.Name, namesake.Person, namesake.AdminID = "Ada", PersonPrefix+"another", "another"

	type is struct {
		status  pb.HelpStatus
		by      *Caller // the person who has claimed the request; nil for nobody
		another bool    // the command created a new request
	}
	states := []struct {
		name string
		from []Body // commands after the attendee's request that lead to the state
		by   *Caller
	}{
		{"waiting", nil, &ada},
		{"own", []Body{ClaimHelp{}}, &ada},
		{"a namesake's", []Body{ClaimHelp{}}, &namesake},
		{"resolved", []Body{ClaimHelp{}, ResolveHelp{}}, &namesake},
	}
	refused := is{status: -1}
	for name, tc := range map[string]struct {
		body func(h *pb.HelpRequest) Body
		as   *Caller // nil for the attendee
		want [4]is   // by the states above
	}{
		"claim": {func(h *pb.HelpRequest) Body { return ClaimHelp{HelpID: h.Id} }, &ada,
			[4]is{{status: inProgress, by: &ada}, {status: inProgress, by: &ada}, refused, refused}},
		"offer": {func(h *pb.HelpRequest) Body { return OfferHelp{AttendeeID: h.AttendeeId} }, &ada,
			[4]is{{status: inProgress, by: &ada}, {status: inProgress, by: &ada}, refused, {status: inProgress, by: &ada, another: true}}},
		"release": {func(h *pb.HelpRequest) Body { return ReleaseHelp{HelpID: h.Id} }, &ada,
			[4]is{refused, {status: pending}, {status: pending}, refused}},
		"resolve": {func(h *pb.HelpRequest) Body { return ResolveHelp{HelpID: h.Id} }, &ada,
			[4]is{{status: resolved}, {status: resolved, by: &ada}, {status: resolved, by: &namesake}, {status: resolved, by: &namesake}}},
		"answer": {func(h *pb.HelpRequest) Body { return AnswerHelp{HelpIDs: []string{h.Id}, Message: "so"} }, &ada,
			[4]is{{status: resolved}, {status: resolved, by: &ada}, {status: resolved, by: &namesake}, {status: resolved, by: &namesake}}},
		"ask again": {func(*pb.HelpRequest) Body { return AskHelp{StepNumber: 2} }, nil,
			[4]is{{status: pending}, {status: inProgress, by: &ada}, {status: inProgress, by: &namesake}, {status: pending, another: true}}},
		"stop being a facilitator": {func(*pb.HelpRequest) Body { return ReleaseClaims{Persons: []string{ada.Person}} }, system,
			[4]is{{status: pending}, {status: pending}, {status: inProgress, by: &namesake}, {status: resolved, by: &namesake}}},
	} {
		for i, state := range states {
			t.Run(name+"/"+state.name, func(t *testing.T) {
				l := newLab()
				l.create(t, "one", "two")
				ann := register(t, l, "Ann")
				h := l.must(t, ann, AskHelp{StepNumber: 1, Message: "stuck"}).(*pb.HelpRequest)
				for _, b := range state.from {
					switch b.(type) {
					case ClaimHelp:
						b = ClaimHelp{HelpID: h.Id}
					case ResolveHelp:
						b = ResolveHelp{HelpID: h.Id}
					}
					l.must(t, state.by, b)
				}
				before, events := proto.CloneOf(l.help.At(0)), len(l.events)
				l.now = l.now.Add(time.Minute)
				as := tc.as
				if as == nil {
					as = ann
				}
				body, want := tc.body(h), tc.want[i]
				if want == refused {
					l.refused(t, as, body, durable.Conflict, "")
					if !proto.Equal(l.help.At(0), before) || len(l.events) != events {
						t.Errorf("the refused command changed the request to %v, before %v", l.help.At(0), before)
					}
					return
				}
				l.must(t, as, body)
				got := l.help.At(l.help.Len() - 1)
				who, person, leader := "", "", ""
				if want.by != nil {
					who, person, leader = want.by.Name, want.by.Person, want.by.AdminID
				}
				if got.Status != want.status || (got.Id != h.Id) != want.another || l.help.Len() > 1 != want.another {
					t.Errorf("the last of %d requests is %v", l.help.Len(), got)
				}
				if got.ClaimedBy != who || got.ClaimedPerson != person || got.Leader != leader || (got.ClaimedAt != 0) != (who != "") {
					t.Errorf("claimed by %q (%s, %s) since %d, want %q", got.ClaimedBy, got.ClaimedPerson, got.Leader, got.ClaimedAt, person)
				}
				if keeps := !want.another && before.ClaimedPerson == person; keeps && got.ClaimedAt != before.ClaimedAt {
					t.Errorf("claimed at %d, want %d", got.ClaimedAt, before.ClaimedAt)
				}
				if was := before; want.another && !proto.Equal(l.help.At(0), was) {
					t.Errorf("the resolved request is %v, want %v", l.help.At(0), was)
				}
				if again := content(replay(l.empty(), 0, l.events)); !proto.Equal(again, content(l.State)) {
					t.Error("a replay of the log yields another state")
				}
				if fmt.Sprint(l.openHelp) != fmt.Sprint(openOf(l.State)) {
					t.Errorf("open requests are %v, want %v", l.openHelp, openOf(l.State))
				}
			})
		}
	}
}

// openOf returns the open requests by attendee, computed from the list of all requests.
func openOf(s *State) map[string]int {
	open := map[string]int{}
	for i, h := range s.help.All() {
		if h.Status != resolved {
			open[h.AttendeeId] = i
		}
	}
	return open
}
