package codelab_test

import (
	"context"
	"testing"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/persistence/memory"
)

// When a helper is no longer a facilitator, the helper's claims are released, even if another
// helper claimed a request later.
func TestAFormerHelpersClaimsAreReleasedDespiteLaterClaims(t *testing.T) {
	for _, out := range []string{"ada", "bea"} {
		t.Run(out, func(t *testing.T) {
			store := memory.New()
			labs := oneNode(t, store)
			t.Cleanup(func() {
				_ = labs.Close(context.Background())
				_ = store.Close()
			})
			m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one", IsPublic: true}, Steps: []*pb.Step{{Title: "a"}}})
			if err != nil {
				t.Fatal(err)
			}
			ws, err := labs.Get(m.Id)
			if err != nil {
				t.Fatal(err)
			}
			ask := func(who *codelab.Caller, body codelab.Body) any {
				t.Helper()
				v, _, err := ws.Ask(codelab.Command{Caller: who, Body: body})
				if err != nil {
					t.Fatalf("%T: %v", body, err)
				}
				return v
			}
			for _, name := range []string{"ada", "bea"} {
				who := *leader
				who.Person = codelab.PersonPrefix + name
				a := ask(&codelab.Caller{Role: codelab.RoleAnyone}, codelab.Register{Name: "helped by " + name}).(codelab.Registration).Attendee
				ask(&who, codelab.OfferHelp{AttendeeID: a.Id})
			}
			if err := labs.ReleaseClaims(func(person, _ string) bool { return person != out }); err != nil {
				t.Fatal(err)
			}
			for _, h := range ws.View().Help.All() {
				if released := h.Status == pb.HelpStatus_HELP_STATUS_PENDING; released != (h.ClaimedPerson == "") || released != (h.AttendeeName == "helped by "+out) {
					t.Errorf("after %s stopped being a facilitator, the request is %v", out, h)
				}
			}
		})
	}
}
