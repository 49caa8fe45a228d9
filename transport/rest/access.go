package rest

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/login"
	"atelier/actors/registry"
	"atelier/actors/settings"
	"atelier/transport/auth"
	"atelier/transport/wire"
)

// authorize checks the caller's permission, and that the codelab in the path exists, if any.
func (r *Request) authorize() error { return r.enter(r.op.Access, r.addressed()) }

// addressed returns the codelab's id in the path. A repository's address can end in .git, as is
// usual with Git.
func (r *Request) addressed() string {
	id := r.Param("id")
	if r.op.Basic {
		id = strings.TrimSuffix(id, ".git")
	}
	return id
}

// EnterCodelab checks the access to a codelab that is given in the body, as authorize does for a
// codelab in the path. The caller must be an admin, an attendee of the codelab, or an assistant of
// the codelab if the operation admits assistants.
func (r *Request) EnterCodelab(id string) error {
	r.SetUserValue("id", id)
	return r.enter(CodelabMember, id)
}

// enterNamed calls EnterCodelab for a body's codelab_id, which is required.
func (r *Request) enterNamed(id *string) error {
	if or(id, "") == "" {
		return wire.Invalid("codelab_id is required")
	}
	return r.EnterCodelab(*id)
}

// EnterOwn checks the access of an attendee whose request names no codelab. It enters the only
// codelab in which they are registered, and returns an error if there is none or more than one.
func (r *Request) EnterOwn() error {
	if !r.who.Known() {
		return errLogin
	}
	var own []string
	var unknown error
	r.who.Grants(func(g *login.AttendeeGrant) {
		registered, err := r.registered(g.Codelab)
		if err != nil {
			unknown = err
		} else if registered {
			own = append(own, g.Codelab)
		}
	})
	if unknown != nil {
		return unknown
	}
	switch len(own) {
	case 0:
		return errForbidden
	case 1:
		return r.EnterCodelab(own[0])
	}
	return wire.Invalid("codelab_id is required: you are registered in several codelabs")
}

// EnterAsAdmin makes the caller act as an admin without a codelab. It returns false if the caller
// has no admin grant, or acts as an attendee.
func (r *Request) EnterAsAdmin() bool {
	if !r.who.Admin() || r.Query("as") == "attendee" {
		return false
	}
	r.asAdmin()
	return true
}

// enter checks the caller's access to the operation and to the codelab with this id. On success it
// sets Caller, except for the access Anyone and Session. It sets Codelab if the access concerns a
// codelab.
func (r *Request) enter(who Access, id string) (err error) {
	a := r.api
	leads := r.Query("as") != "attendee" && (r.who.Admin() || r.op.Assistants && r.who.Leads(id))
	switch who {
	case Anyone:
		return nil
	case Session:
		if !r.who.Known() {
			return errLogin
		}
		return nil
	case AdminOnly, AdminLogin, OwnerOnly, OwnerOrToken, Leader:
		if err := r.need(r.hasRank(who)); err != nil {
			return err
		}
		r.asAdmin()
		return nil
	case Somebody:
		return r.authorizeSomebody(r.Query("as") != "attendee" && r.who.Admin())
	case CodelabAdmin:
		if err := r.need(r.who.Admin() || r.op.Assistants && r.who.Leads(id)); err != nil {
			return err
		}
		r.asAdmin()
		r.Codelab, err = a.Codelabs.Get(id)
		return err
	case CodelabReader, Registrant:
		if r.Codelab, err = a.Codelabs.Get(id); err != nil {
			return err
		}
		v := r.Codelab.View()
		attendee := r.attendeeIn(v, id)
		switch {
		case leads:
			r.asAdmin()
		case attendee != nil:
			r.asAttendee(attendee)
		case who == Registrant || v.Meta.GetIsPublic():
			r.asAnyone()
		case !r.who.Known():
			return errLogin
		default:
			return errForbidden
		}
		return nil
	}
	// CodelabMember, CodelabAttendee
	if !r.who.Known() {
		return errLogin
	}
	if leads && who == CodelabMember {
		r.asAdmin()
		r.Codelab, err = a.Codelabs.Get(id)
		return err
	}
	if r.who.Grant(id) == nil {
		return errForbidden
	}
	if r.Codelab, err = a.Codelabs.Get(id); err != nil {
		return err
	}
	attendee := r.attendeeIn(r.Codelab.View(), id)
	if attendee == nil {
		return errForbidden
	}
	r.asAttendee(attendee)
	return nil
}

// assists reports whether the caller acts as an assistant of the codelab.
func (r *Request) assists() bool { return r.IsAdmin() && r.who.Rank() == auth.Assistant }

// isMember reports whether the caller acts as an admin, or as an attendee of the codelab.
func (r *Request) isMember() bool {
	return r.Caller != nil && (r.Caller.Role == codelab.RoleAdmin || r.Caller.Role == codelab.RoleAttendee)
}

// actAsAttendee makes a caller who has an admin grant and an attendee grant act as the attendee.
// Operations call it when they find that they need an attendee. It returns false without an
// attendee grant.
func (r *Request) actAsAttendee() bool {
	attendee := r.attendeeIn(r.Codelab.View(), r.Codelab.ID())
	if attendee != nil {
		r.asAttendee(attendee)
	}
	return attendee != nil
}

// authorizeSomebody admits admins, and attendees of any codelab.
func (r *Request) authorizeSomebody(admin bool) error {
	switch {
	case !r.who.Known():
		return errLogin
	case admin:
		r.asAdmin()
		return nil
	}
	var labs []string
	r.who.Grants(func(g *login.AttendeeGrant) { labs = append(labs, g.Codelab) })
	slices.Sort(labs)
	var unknown error
	for _, lab := range labs {
		w, err := r.api.Codelabs.Get(lab)
		if err != nil {
			if !durable.IsMissing(err) {
				unknown = err
			}
			continue
		}
		if attendee := r.attendeeIn(w.View(), lab); attendee != nil {
			r.Codelab = w
			r.asAttendee(attendee)
			return nil
		}
	}
	if unknown != nil {
		return unknown
	}
	return errForbidden
}

// inScope reports whether the scope of the calling API token includes the operation. Operations
// that are open to anyone need no scope.
func (r *Request) inScope() bool {
	switch r.who.Scope() {
	case settings.ScopeAll:
		return true
	case settings.ScopeRead:
		return (r.op.Method == fasthttp.MethodGet || r.op.Reads) && r.op.Access != OwnerOrToken || r.op.open()
	}
	return r.op.Import || r.op.open()
}

// hasRank reports whether the caller has the rank for an operation without a codelab.
func (r *Request) hasRank(who Access) bool {
	rank, token := r.who.Rank(), r.who.Token != nil
	switch who {
	case AdminOnly:
		return rank >= auth.Facilitator
	case AdminLogin:
		return rank >= auth.Facilitator && !token
	case OwnerOrToken:
		return rank == auth.Owner || token
	case OwnerOnly:
		return rank == auth.Owner
	}
	return rank >= auth.Assistant && !token // Leader
}

// need returns nil if may is true. Otherwise it returns errForbidden for a known caller, and
// errLogin for an unknown one.
func (r *Request) need(may bool) error {
	switch {
	case may:
		return nil
	case r.who.Known():
		return errForbidden
	}
	return errLogin
}

// registered reports whether the caller is an attendee of a codelab and has not been removed since.
// It fails if this node cannot determine whether the attendee was removed.
func (r *Request) registered(lab string) (bool, error) {
	if r.who.Grant(lab) == nil {
		return false, nil
	}
	w, err := r.api.Codelabs.Get(lab)
	if durable.IsMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.attendeeIn(w.View(), lab) != nil, nil
}

// attendeeIn returns the caller as an attendee if their grant is still valid, else nil.
func (r *Request) attendeeIn(v *codelab.View, lab string) *pb.Attendee {
	g := r.who.Grant(lab)
	if g == nil {
		return nil
	}
	return v.Granted(g.AttendeeID, g.Generation)
}

// Standing returns the caller's grant for an object that outlives the request, such as a live
// connection.
func (r *Request) Standing() auth.Standing {
	lab, who := r.Codelab, r.Caller
	if lab.Room == nil { // an admin's grant, without a codelab
		return r.who.Standing("", true, nil)
	}
	// The result is cached, because nodes check the grant of each connection once per second.
	var stood atomic.Pointer[codelab.Grants]
	return r.who.Standing(lab.ID(), r.IsAdmin(), func() bool {
		v := lab.View()
		switch {
		case v.Meta == nil:
			return false
		case who.Role == codelab.RoleAdmin || stood.Load() == v.Grants:
			return true
		case !v.Stands(who.ID, who.Generation):
			return false
		}
		stood.Store(v.Grants)
		return true
	})
}

// still returns an error if the caller has lost a permission since the request began, or if this
// node cannot determine it. A client can take any time to send a body. During that time the session
// can end or the attendee can be removed.
func (r *Request) still() error {
	if !r.isMember() || r.who.Operator() {
		return nil
	}
	known, err := r.api.Auth.Knows(&r.who, r.Caller.Role == codelab.RoleAdmin)
	switch {
	case err != nil:
		return err
	case !known:
		return errLogin
	case r.Caller.Role == codelab.RoleAttendee && !r.Codelab.View().Stands(r.Caller.ID, r.Caller.Generation):
		return errForbidden
	}
	return nil
}

func (r *Request) asAdmin() {
	r.Caller = r.caller(codelab.RoleAdmin)
	r.Caller.ID, r.Caller.Name, r.Caller.Person = codelab.FacilitatorID, r.who.AdminName(), r.who.Person()
	r.Caller.AdminID = r.actorID()
	r.Caller.Silent = r.who.Scope() != settings.ScopeAll
	r.SetWho("admin", r.Caller.Person)
}

func (r *Request) asAttendee(a *pb.Attendee) {
	r.Caller = r.caller(codelab.RoleAttendee)
	r.Caller.ID, r.Caller.Name, r.Caller.Person, r.Caller.Generation = a.Id, a.Name, a.Id, a.Generation
	r.SetWho("attendee", a.Id)
}

// adminCaller returns the owner's account as the caller of a command to an actor of package
// registry. An API token also acts as this account.
func (r *Request) adminCaller() registry.Caller {
	return registry.Caller{Type: "admin", ID: r.api.AdminID, IP: r.ip(), UserAgent: r.Caller.UserAgent}
}

func (r *Request) asAnyone() { r.Caller = r.caller(codelab.RoleAnyone) }

func (r *Request) caller(role codelab.Role) *codelab.Caller {
	ua := r.Request.Header.UserAgent()
	return &codelab.Caller{Role: role, IP: r.ip(), UserAgent: string(ua[:min(len(ua), 256)])}
}
