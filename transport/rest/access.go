package rest

import (
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// authorize checks the role and, after it, that the codelab of the path
// exists.
func (r *Request) authorize() error { return r.enter(r.op.access, r.Param("id")) }

// EnterCodelab does for a codelab that the body names what the pipeline does
// for one of the path: its caller must be an admin or an attendee of it.
func (r *Request) EnterCodelab(id string) error {
	r.SetUserValue("id", id)
	return r.enter(labMember, id)
}

// enterNamed is EnterCodelab for a codelab that the body must name.
func (r *Request) enterNamed(id *string) error {
	if or(id, "") == "" {
		return wire.Invalid("codelab_id is required")
	}
	return r.EnterCodelab(*id)
}

// EnterAsAdmin is for an operation on no codelab that attendees may not call:
// it is false when the admin grant does not act.
func (r *Request) EnterAsAdmin() bool {
	if !r.who.Admin() || r.Query("as") == "attendee" {
		return false
	}
	r.asAdmin()
	return true
}

func (r *Request) enter(who access, id string) (err error) {
	a := r.api
	admin := r.who.Admin() && r.Query("as") != "attendee"
	attendee := ""
	switch who {
	case anyone:
		return nil
	case session:
		if !r.who.Known() {
			return errLogin
		}
		return nil
	case adminOnly:
		if err := r.needAdmin(); err != nil {
			return err
		}
		r.asAdmin()
		return nil
	case somebody:
		return r.authorizeSomebody(admin)
	case labAdmin:
		if err := r.needAdmin(); err != nil {
			return err
		}
		r.asAdmin()
		r.Lab, err = a.Workshops.Get(id)
		return err
	case labReader, register:
		if r.Lab, err = a.Workshops.Get(id); err != nil {
			return err
		}
		v := r.Lab.View()
		attendee = r.attendeeIn(v, id)
		switch {
		case admin:
			r.asAdmin()
		case attendee != "":
			r.asAttendee(v, attendee)
		case who == register || v.Meta.GetIsPublic():
			r.asAnyone()
		case !r.who.Known():
			return errLogin
		default:
			return errForbidden
		}
		return nil
	}
	// labMember, labAttendee
	if !r.who.Known() {
		return errLogin
	}
	if admin && who == labMember {
		r.asAdmin()
		r.Lab, err = a.Workshops.Get(id)
		return err
	}
	if r.who.Attendee(id) == "" {
		return errForbidden
	}
	if r.Lab, err = a.Workshops.Get(id); err != nil {
		return err
	}
	v := r.Lab.View()
	if attendee = r.attendeeIn(v, id); attendee == "" {
		return errForbidden
	}
	r.asAttendee(v, attendee)
	return nil
}

// authorizeSomebody lets an attendee of some codelab act as one of it.
func (r *Request) authorizeSomebody(admin bool) error {
	switch {
	case !r.who.Known():
		return errLogin
	case admin:
		r.asAdmin()
		return nil
	}
	var labs []string
	r.who.Codelabs(func(lab, _ string) { labs = append(labs, lab) })
	slices.Sort(labs)
	for _, lab := range labs {
		w, err := r.api.Workshops.Get(lab)
		if err != nil {
			continue
		}
		v := w.View()
		if id := r.attendeeIn(v, lab); id != "" {
			r.Lab = w
			r.asAttendee(v, id)
			return nil
		}
	}
	return errForbidden
}

func (r *Request) needAdmin() error {
	switch {
	case r.who.Admin():
		return nil
	case r.who.Known():
		return errForbidden
	}
	return errLogin
}

// registered says that the caller is an attendee of a codelab and was not
// removed since.
func (r *Request) registered(lab string) bool {
	if r.who.Attendee(lab) == "" {
		return false
	}
	w, err := r.api.Workshops.Get(lab)
	return err == nil && r.attendeeIn(w.View(), lab) != ""
}

// attendeeIn returns the caller's attendee if it still exists.
func (r *Request) attendeeIn(v *codelab.View, lab string) string {
	id := r.who.Attendee(lab)
	if id != "" && v.Attendee(id) == nil {
		return ""
	}
	return id
}

func (r *Request) asAdmin() {
	r.Caller = r.caller(pb.Role_ROLE_ADMIN)
	r.Caller.Id, r.Caller.Name, r.Caller.Person = codelab.FacilitatorID, r.who.AdminName(), r.who.Person()
	r.Caller.AdminId = r.api.AdminID
}

func (r *Request) asAttendee(v *codelab.View, id string) {
	r.Caller = r.caller(pb.Role_ROLE_ATTENDEE)
	r.Caller.Id, r.Caller.Name, r.Caller.Person = id, v.Attendee(id).GetName(), id
}

func (r *Request) asAnyone() { r.Caller = r.caller(pb.Role_ROLE_ANYONE) }

func (r *Request) caller(role pb.Role) *pb.Caller {
	ua := r.Request.Header.UserAgent()
	return &pb.Caller{Role: role, Ip: r.ip(), UserAgent: string(ua[:min(len(ua), 256)])}
}
