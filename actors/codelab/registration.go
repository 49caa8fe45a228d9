package codelab

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/naming"
)

const maxName = 80

// Registration is the reply to a Register command.
type Registration struct {
	Attendee *pb.Attendee
	// Rejoined means that the attendee already existed, and proved their identity with the PIN.
	Rejoined bool
}

// ErrNameTaken rejects a registration with an existing name and a wrong or missing PIN. It must not
// reveal whether the attendee has a PIN.
var ErrNameTaken error = &durable.Rejection{Reason: durable.Conflict, Text: "this name is taken; to rejoin, give the code you registered with"}

// ErrCodeVoid rejects every code of an attendee whose stored hash was created with a key that is
// now lost. Without this key, no code can be verified.
var ErrCodeVoid error = &durable.Rejection{
	Reason: durable.Conflict, Text: "this code is void, like all codes of this codelab: the server lost the key that checks them; ask a facilitator for a new one",
}

// HashPIN returns the stored hash of a code: four bytes that identify the key, and an HMAC-SHA256
// of codelab and code. Without a code the hash is nil.
func HashPIN(key []byte, codelab, code string) []byte {
	if code == "" {
		return nil
	}
	sum := func(texts ...string) []byte {
		m := hmac.New(sha256.New, key)
		for i, text := range texts {
			if i > 0 {
				m.Write([]byte{0})
			}
			m.Write([]byte(text))
		}
		return m.Sum(nil)
	}
	return append(sum("which key")[:pinKeyName], sum(codelab, code)...)
}

// pinKeyName is the length, in bytes, of the part of a hash that identifies the key.
const pinKeyName = 4

// checkPIN compares the hash of the given code with the stored hash. A hash stored by an older
// release does not identify its key.
func checkPIN(given, kept []byte) error {
	if len(kept) == sha256.Size && len(given) > pinKeyName {
		given = given[pinKeyName:]
	}
	switch {
	case len(given) == 0 || len(kept) == 0:
		return ErrNameTaken
	case len(given) == pinKeyName+sha256.Size && len(kept) == len(given) && !bytes.Equal(given[:pinKeyName], kept[:pinKeyName]):
		return ErrCodeVoid
	case !hmac.Equal(given, kept):
		return ErrNameTaken
	}
	return nil
}

var errNameReserved = durable.Reject(durable.Conflict, "this name is a facilitator's; choose another")

// Admit returns an error for a registration with an invalid name, email, place or join code. Admit
// does not compare the registration with the registered people.
func Admit(m *pb.Codelab, r Register, admin bool) error {
	_, err := admit(m, r, admin)
	return err
}

// admit does the same as Admit, and returns the registration with normalized texts.
func admit(m *pb.Codelab, r Register, admin bool) (_ Register, err error) {
	if r.Name, err = PersonName("name", r.Name, 1, maxName); err != nil {
		return r, err
	}
	if r.Email, err = email(r.Email); err != nil {
		return r, err
	}
	if r.Place, err = PersonName("place", r.Place, 0, maxPlace); err != nil {
		return r, err
	}
	if !m.IsPublic && !admin && !hmac.Equal([]byte(m.JoinCode), []byte(r.JoinCode)) {
		return r, durable.Reject(durable.Forbidden, "join_code does not match this codelab")
	}
	return r, nil
}

// Open reports whether new people can register.
func Open(m *pb.Codelab) bool { return m.EndedAt == 0 && !m.RegistrationClosed }

// reserved reports whether a name looks like a facilitator's. loggedIn means that a logged-in
// person has such a name. Names that look like the default name are always reserved.
func reserved(name string, loggedIn bool) bool {
	return loggedIn || naming.Skeleton(name) == naming.Skeleton(naming.Facilitator)
}

// Register registers a person, or signs them in again with their code.
type Register struct {
	Name  string
	Email string
	// PINHash is the keyed hash of the PIN; empty if none was given.
	PINHash  []byte
	JoinCode string
	// Place is the attendee's seat; empty keeps the earlier one.
	Place string
	// NameReserved means that the name currently belongs to a facilitator.
	NameReserved bool
	// Siblings are the attendees of this codelab registered in the same browser.
	Siblings []string
	// Simulated registers an attendee of the running rehearsal. Only the system can set it.
	Simulated bool
}

func (r Register) decide(c call) (decision, error) {
	d, err := r.admitted(c)
	// A person whose questions were stopped must not continue under another name.
	if reg, in := d.Reply.(Registration); err == nil && in && !c.s.stopped[reg.Attendee.Id] && c.s.anyStopped(r.Siblings) {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_AskerStopped{AskerStopped: &pb.AskerStopped{AttendeeId: reg.Attendee.Id}}})
	}
	return d, err
}

func (r Register) admitted(c call) (decision, error) {
	if r.Simulated {
		return r.simulated(c)
	}
	m := c.s.meta
	r, err := admit(m, r, c.admin())
	if err != nil {
		return decision{}, err
	}
	if i, ok := c.s.byName[naming.Key(r.Name)]; ok && !c.s.attendees.At(i).Simulated {
		d, err := c.rejoin(c.s.attendees.At(i), r)
		return c.besideRehearsal(d, "", err)
	}
	switch {
	case reserved(r.Name, r.NameReserved):
		return decision{}, errNameReserved
	case m.EndedAt != 0:
		return decision{}, durable.Reject(durable.Conflict, "the workshop has ended")
	case m.RegistrationClosed && !c.admin():
		return decision{}, durable.Reject(durable.Forbidden, "registration is closed")
	case c.s.people() >= maxAttendees:
		return decision{}, durable.Reject(durable.Conflict, "this codelab is full")
	}
	d := c.registered(r)
	d.Rows = c.audit("attendee_register", d.Reply.(Registration).Attendee.Id, nil)
	return c.besideRehearsal(d, r.Name, nil)
}

func (c call) registered(r Register) decision {
	now := c.now.UnixMilli()
	a := &pb.Attendee{
		Id: c.id(), Name: r.Name, Email: r.Email, Place: r.Place, PinHash: r.PINHash, CurrentStep: 1, FurthestStep: 1,
		CreatedAt: now, StepSince: now, ReachedAt: []int64{now}, Simulated: r.Simulated,
	}
	return decided(Registration{Attendee: a}, &pb.Event{Body: &pb.Event_Registered{Registered: &pb.Registered{Attendee: a}}})
}

func (c call) rejoin(a *pb.Attendee, r Register) (decision, error) {
	if err := checkPIN(r.PINHash, a.PinHash); err != nil {
		return decision{}, err
	}
	var d decision
	if a.Email == "" && r.Email != "" {
		a = a.Clone()
		a.Email = r.Email
		d.Events = []*pb.Event{{Body: &pb.Event_Rejoined{Rejoined: &pb.Rejoined{AttendeeId: a.Id, Email: r.Email}}}}
	}
	if r.Place != "" && r.Place != a.Place {
		a = a.Clone()
		a.Place = r.Place
		d.Events = append(d.Events, placed(a.Id, r.Place))
	}
	d.Reply = Registration{Attendee: a, Rejoined: true}
	d.Rows = c.audit("attendee_rejoin", a.Id, nil)
	return d, nil
}

// ResetPin replaces or removes PINs. All earlier grants of these attendees end, because they have
// an earlier generation. If Pins has several elements, unknown and simulated attendees are skipped.
type ResetPin struct {
	Pins []NewPin
}

// NewPin is an attendee's new PIN.
type NewPin struct {
	AttendeeID string
	Hash       []byte // see HashPIN; empty for none
}

func (r ResetPin) decide(c call) (d decision, err error) {
	for _, pin := range r.Pins {
		a, err := c.target(pin.AttendeeID)
		if err != nil && len(r.Pins) > 1 {
			continue // the attendee was removed after the list of PINs was built
		}
		if err != nil {
			return decision{}, err
		}
		if a.Simulated { // nobody signs in as a simulated attendee
			if len(r.Pins) > 1 {
				continue
			}
			return decision{}, durable.Reject(durable.Conflict, "this attendee is simulated and needs no code")
		}
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_PinReset{PinReset: &pb.PinReset{
			AttendeeId: a.Id, PinHash: pin.Hash, Generation: a.Generation + 1,
		}}})
		d.Rows = append(d.Rows, c.audit("attendee_pin_reset", a.Id, nil)...)
	}
	return d, nil
}

func (s *State) applyPINReset(seq uint64, r *pb.PinReset) {
	s.grants = new(Grants)
	s.changeAttendee(seq, r.AttendeeId, func(a *pb.Attendee) {
		a.PinHash, a.Generation = r.PinHash, max(a.Generation, r.Generation)
	})
}

// Rename changes an attendee's name.
type Rename struct {
	AttendeeID string
	Name       string
	// NameReserved means that the name currently belongs to a facilitator.
	NameReserved bool
}

func (r Rename) decide(c call) (decision, error) {
	a, err := c.target(r.AttendeeID)
	if err != nil {
		return decision{}, err
	}
	name, err := PersonName("name", r.Name, 1, maxName)
	if err != nil {
		return decision{}, err
	}
	var other []*pb.Event
	switch i, ok := c.s.byName[naming.Key(name)]; {
	case ok && c.s.attendees.At(i).Id != a.Id:
		if a.Simulated || !c.s.attendees.At(i).Simulated {
			return decision{}, durable.Reject(durable.Conflict, "another attendee has this name")
		}
		other = c.s.freeName(name)
	case !ok && reserved(name, r.NameReserved):
		return decision{}, errNameReserved
	}
	out := a.Clone()
	out.Name = name
	d := decided(out, append(other, renamed(a.Id, name))...)
	d.Rows = c.audit("attendee_rename", a.Id, nil)
	return d, nil
}

// Granted returns the attendee if a grant of this generation is still valid, and nil otherwise. A
// grant is valid while the attendee is registered and their PIN was not reset.
func (v *View) Granted(id string, generation uint32) *pb.Attendee {
	if a := v.Attendee(id); a != nil && a.Generation == generation {
		return a
	}
	return nil
}

// Stands reports whether an attendee's grant is still valid.
func (v *View) Stands(id string, generation uint32) bool { return v.Granted(id, generation) != nil }
