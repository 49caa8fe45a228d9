package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// authorize checks the role and, after it, that the codelab exists.
func (r *Request) authorize() (err error) {
	a, id := r.api, r.Param("id")
	admin := r.who.Admin() && r.Query("as") != "attendee"
	attendee := ""
	switch r.op.access {
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
		case r.op.access == register || v.Meta.GetIsPublic():
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
	if admin && r.op.access == labMember {
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
