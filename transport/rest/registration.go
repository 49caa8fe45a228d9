package rest

import (
	"crypto/rand"
	"errors"
	"iter"
	"slices"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
)

func registerAttendee(r *Request) error {
	in, code, err := r.registration()
	if err != nil {
		return err
	}
	a, lab := r.api, r.Codelab.ID()
	meta := r.Codelab.View().Meta
	if meta == nil {
		return errNoCodelab
	}
	if err := codelab.Admit(meta, in, r.IsAdmin()); err != nil {
		return r.wasted(err)
	}
	// Registrations that were refused above do not count towards the limit, so that they cannot lock
	// others out. All further registrations count, even with a taken name. While registration is
	// closed, only returning people can register, and only successful registrations count.
	open := codelab.Open(meta)
	if err := r.mayRegister(open); err != nil {
		return err
	}
	// After too many wrong codes even the right code must be refused.
	attempts := lab + "\x00" + naming.Key(in.Name)
	if id := r.wasAttendee(in.Name); id != "" {
		attempts = id // an id is never a name, so attempts by strangers do not count here
	}
	// The attempt is counted before the command, so that concurrent attempts cannot exceed the limit.
	if code != "" {
		if wait := a.Limits.WrongPINs.Allow(attempts); wait > 0 {
			return httpapi.ErrTooMany(wait)
		}
	}
	in.Siblings = r.siblings()
	in.PINHash, in.NameReserved = a.Auth.PINHash(lab, code), a.Auth.Reserved(lab, in.Name)
	v, err := r.do(in)
	who := r.sameAgain(in.Name, err)
	if wrong := who == nil && errors.Is(err, codelab.ErrNameTaken); code != "" && !wrong {
		a.Limits.WrongPINs.Return(attempts)
	}
	if who == nil && err != nil {
		return err
	}
	if who == nil {
		who = v.(codelab.Registration).Attendee
	}
	if !open {
		_ = r.mayRegister(true)
	}
	issued, err := a.Auth.GrantAttendee(r.who, lab, who.Id, in.Name, who.Generation)
	if err != nil {
		return err
	}
	r.started(issued)
	if err := r.isAttendee(who); err != nil {
		return err
	}
	return r.JSON(toAttendee(lab, r.Codelab.View().TaskCount(), who, true))
}

// isAttendee sets a cookie that marks the browser as this attendee's, for its next registration in
// this codelab.
func (r *Request) isAttendee(a *pb.Attendee) error {
	value, expires, err := r.api.Auth.Signer.Attendee(a.Id, a.Generation)
	if err != nil {
		return err
	}
	c := r.cookie(auth.AttendeeCookie, value, expires)
	defer fasthttp.ReleaseCookie(c)
	c.SetPath(r.prefix().At("/api/codelabs/" + r.Codelab.ID() + "/register"))
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteStrictMode)
	r.Response.Header.SetCookie(c)
	return nil
}

// wasAttendee returns the id of the attendee with this name if the browser is marked as that
// attendee's. Otherwise it returns "".
func (r *Request) wasAttendee(name string) string {
	id, generation := r.marked()
	if v := r.Codelab.View(); !v.Stands(id, generation) || naming.Key(v.Attendee(id).Name) != naming.Key(name) {
		return ""
	}
	return id
}

// siblings returns the attendees of this codelab who registered in this browser.
func (r *Request) siblings() []string {
	out := r.who.Siblings(r.Codelab.ID())
	if id, _ := r.marked(); id != "" {
		out = append(out, id)
	}
	return out
}

// marked returns the attendee that isAttendee has recorded in the browser's mark, or "".
func (r *Request) marked() (id string, generation uint32) {
	mark := r.Cookie(auth.AttendeeCookie)
	if len(mark) == 0 {
		return "", 0
	}
	return r.api.Auth.Signer.WasAttendee(string(mark))
}

// sameAgain returns the attendee if the browser repeats a registration, because the first response
// was lost or two tabs registered concurrently. Otherwise it returns nil. err is the result of the
// repeated command.
func (r *Request) sameAgain(name string, err error) *pb.Attendee {
	if r.who.SessionID == "" || !errors.Is(err, codelab.ErrNameTaken) && !errors.Is(err, codelab.ErrCodeVoid) {
		return nil
	}
	g := r.api.Auth.Sessions.UnderWay(r.who.SessionID, r.Codelab.ID(), name)
	v := r.Codelab.View()
	if g == nil || !v.Stands(g.AttendeeID, g.Generation) {
		return nil
	}
	return v.Attendee(g.AttendeeID)
}

type registerBody struct {
	Name     *string `json:"name" length:"1..80" doc:"One line, trimmed, without invisible characters. The same name, in any case, is the same person."`
	Email    string  `json:"email,omitempty" length:"..254" doc:"Optional; \"\" means none."`
	Code     string  `json:"code,omitempty" length:"..64" doc:"The attendee's own PIN to rejoin, at most 64 characters; \"\" means none. The server stores only a keyed hash."`
	JoinCode string  `json:"join_code,omitempty" doc:"Required for a private codelab."`
	Place    string  `json:"place,omitempty" length:"..40" doc:"Their seat, so that a helper can find them. One line, trimmed. Only facilitators see it."`
}

// registration decodes the body.
func (r *Request) registration() (_ codelab.Register, code string, err error) {
	var in registerBody
	if err = r.decode(&in); err == nil {
		code, err = oneLine("code", in.Code, 64)
	}
	if err != nil {
		return codelab.Register{}, "", r.wasted(err)
	}
	return codelab.Register{Name: *in.Name, Email: in.Email, JoinCode: joinCode(in.JoinCode), Place: in.Place}, code, nil
}

// mayRegister takes a token from the buckets of the codelab and of the address. If take is false,
// it only checks whether a token is available. Admins are exempt.
func (r *Request) mayRegister(take bool) error {
	if r.IsAdmin() {
		return nil
	}
	l := &r.api.Limits
	all := []httpapi.Charge{{Limiter: l.Registrations, Key: r.Codelab.ID()}, {Limiter: l.RegistrationsFrom, Key: httpapi.Address(r.ip())}}
	wait := httpapi.Waits(all...)
	if take {
		wait = httpapi.AllowAll(all...)
	}
	if wait > 0 {
		return httpapi.ErrTooMany(wait)
	}
	return nil
}

// wasted counts an invalid registration of an unknown caller as a write. Otherwise join codes could
// be guessed without limit.
func (r *Request) wasted(err error) error {
	if !r.who.Known() {
		if wait := r.api.Limits.Writes.Allow(r.bucket()); wait > 0 {
			return httpapi.ErrTooMany(wait)
		}
	}
	return err
}

type pinResetBody struct {
	Code string `json:"code,omitempty" length:"..64"`
}

// resetPIN sets a new rejoin code, or none. Grants that were created before the reset end.
func resetPIN(r *Request) error {
	var in pinResetBody
	if err := r.decodeOptional(&in); err != nil {
		return err
	}
	code, err := oneLine("code", in.Code, 64)
	if err != nil {
		return err
	}
	_, err = r.do(codelab.ResetPin{Pins: []codelab.NewPin{{
		AttendeeID: r.Param("attendee_id"), Hash: r.api.Auth.PINHash(r.Codelab.ID(), code),
	}}})
	if err != nil {
		return err
	}
	return r.ok()
}

// newPINRecord is a new code. The code is returned only once.
type newPINRecord struct {
	AttendeeID string `json:"attendee_id"`
	Name       string `json:"name"`
	Code       string `json:"code"`
}

// pinsAtOnce is the number of codes that one command resets, so that it fits in a message between
// nodes.
const pinsAtOnce = 1000

type newPINs struct {
	Codes []newPINRecord `json:"codes"`
}

// resetPINs gives all attendees new codes and returns the codes. They cannot be read later. If the
// reset fails after some attendees, it can be repeated.
func resetPINs(r *Request) error {
	out := []newPINRecord{}
	for part := range slices.Chunk(slices.Collect(attendees(r.Codelab.View())), pinsAtOnce) {
		var cmd codelab.ResetPin
		for _, a := range part {
			code := newCode()
			cmd.Pins = append(cmd.Pins, codelab.NewPin{AttendeeID: a.Id, Hash: r.api.Auth.PINHash(r.Codelab.ID(), code)})
			out = append(out, newPINRecord{a.Id, a.Name, code})
		}
		_, err := r.do(cmd)
		if len(part) == 1 && durable.IsMissing(err) { // removed meanwhile; larger parts skip such attendees
			out, err = out[:len(out)-1], nil
		}
		if err != nil {
			return err
		}
	}
	return r.JSON(newPINs{out})
}

// attendees returns the attendees who are not simulated. Simulated attendees need no code.
func attendees(v *codelab.View) iter.Seq[*pb.Attendee] {
	return func(yield func(*pb.Attendee) bool) {
		for _, a := range v.People {
			if !yield(a) {
				return
			}
		}
	}
}

// newCode returns a code that is easy to read aloud and type. Its 40 random bits are enough,
// because only a few guesses per minute are allowed.
func newCode() string {
	// The text has 32 characters, of which z occurs twice. 256 is a multiple of 32, so a random
	// byte selects each position with equal probability.
	const letters = "abcdefghjkmnpqrstuvwxyz23456789z"
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[b[i]%32]
	}
	return string(b)
}
