package rest

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/login"
	"atelier/actors/settings"
	"atelier/persistence/memory"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
)

// answering is a codelab.Directory that returns the same error for every Get.
type answering struct {
	codelab.Directory
	err error
}

func (a answering) Get(string) (codelab.Codelab, error) { return codelab.Codelab{}, a.err }

// A node that cannot reach the owner of a codelab returns 503. An earlier version returned 401 and
// 403 to registered attendees, and omitted their codelabs from the list. Clients treated these
// responses as the end of their registration.
func TestAnUnavailableCodelabDoesNotEndARegistration(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	sessions, err := login.Load(journal, []byte("account"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	grants := auth.New(auth.Config{
		AttendeeLifetime: time.Hour, Signer: auth.NewSigner("secret", nil, time.Now), Sessions: sessions,
		Tokens: func() (*settings.View, error) { return &settings.View{}, nil }, Now: time.Now,
	})
	issued, err := grants.GrantAttendee(auth.Identity{}, "lab", "lin", "Lin", 0)
	if err != nil {
		t.Fatal(err)
	}
	who, _, err := grants.Identify([]byte(issued.Cookie), "")
	if err != nil {
		t.Fatal(err)
	}
	gone := durable.Reject(durable.Missing, "codelab not found")
	for name, tc := range map[string]struct {
		ask  func(*Request) error
		gone int // the status if the codelab does not exist
	}{
		"GET session":    {getSession, fasthttp.StatusUnauthorized},
		"own codelab":    {(*Request).EnterOwn, fasthttp.StatusForbidden},
		"upload":         {func(r *Request) error { return r.enter(Somebody, "") }, fasthttp.StatusForbidden},
		"operation":      {func(r *Request) error { return r.enter(CodelabMember, "lab") }, fasthttp.StatusNotFound},
		"attendee's own": {func(r *Request) error { return r.enter(CodelabAttendee, "lab") }, fasthttp.StatusNotFound},
		"list":           {func(r *Request) error { return r.listVisible([]*pb.Codelab{{Id: "lab"}}) }, 0},
	} {
		ask := func(err error) error {
			ctx := &fasthttp.RequestCtx{}
			ctx.Init2(&net.TCPConn{}, nil, false)
			a := &API{Config: Config{Auth: grants, Codelabs: answering{err: err}}}
			return tc.ask(&Request{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{}), api: a, op: &Operation{}, who: who})
		}
		for _, unknown := range []error{durable.ErrUnavailable, durable.ErrTimeout, durable.ErrFenced, fmt.Errorf("read: %w", context.Canceled)} {
			p := problemOf(ask(unknown))
			if p.Status != fasthttp.StatusServiceUnavailable || p.Retry == 0 {
				t.Errorf("%s with an unknown state (%v): status %d, Retry-After %v, want 503 with a delay", name, unknown, p.Status, p.Retry)
			}
		}
		err := ask(gone)
		if tc.gone == 0 && err != nil || tc.gone != 0 && (err == nil || problemOf(err).Status != tc.gone) {
			t.Errorf("%s without the codelab returned %v", name, err)
		}
	}
}
