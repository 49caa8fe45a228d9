package codelab

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/naming"
)

var anyone = &Caller{Role: RoleAnyone}

func (l *lab) register(t *testing.T, r Register) *pb.Attendee {
	t.Helper()
	v, err := l.do(Command{Caller: anyone, Body: r})
	if err != nil {
		t.Fatal(err)
	}
	return v.(Registration).Attendee
}

// Rate limits count only registrations that Admit accepts. The codelab must refuse all other
// registrations for the same reason as Admit, which has no list of the registered people.
func TestAdmitRefusesWhatTheCodelabRefuses(t *testing.T) {
	l := newLab()
	l.create(t)
	if _, err := l.do(Command{Caller: admin, Body: Update{IsPublic: proto.Bool(false)}}); err != nil {
		t.Fatal(err)
	}
	for what, tc := range map[string]struct {
		in    Register
		admin bool
		want  durable.Reason
	}{
		"good":                          {Register{Name: "Lin", JoinCode: "ABC234"}, false, 0},
		"no name":                       {Register{JoinCode: "ABC234"}, false, durable.Invalid},
		"only invisible characters":     {Register{Name: "\u200b\u2800", JoinCode: "ABC234"}, false, durable.Invalid},
		"two lines":                     {Register{Name: "a\u2029b", JoinCode: "ABC234"}, false, durable.Invalid},
		"a name of the maximum length":  {Register{Name: strings.Repeat("ä\u200b", 80), JoinCode: "ABC234"}, false, 0},
		"a name too long":               {Register{Name: strings.Repeat("ä", 81), JoinCode: "ABC234"}, false, durable.Invalid},
		"too many invisible characters": {Register{Name: "a" + strings.Repeat("\u200b", 5000), JoinCode: "ABC234"}, false, durable.Invalid},
		"not UTF-8":                     {Register{Name: "\xff", JoinCode: "ABC234"}, false, durable.Invalid},
		"an invalid address":            {Register{Name: "Lin", Email: "x", JoinCode: "ABC234"}, false, durable.Invalid},
		"another join code":             {Register{Name: "Lin", JoinCode: "ABC235"}, false, durable.Forbidden},
		"no join code":                  {Register{Name: "Lin"}, false, durable.Forbidden},
		"a facilitator":                 {Register{Name: "Lin"}, true, 0},
	} {
		caller := anyone
		if tc.admin {
			caller = admin
		}
		admits := Admit(l.meta, tc.in, tc.admin)
		_, decides := l.Decide(Command{Caller: caller, Body: tc.in}, durable.Env{Now: l.now, Seq: l.seq + 1})
		if reason(admits) != tc.want || reason(decides) != tc.want {
			t.Errorf("%s: Admit returned %v, Decide %v", what, admits, decides)
		}
	}
}

func TestAPersonWithAReservedNameKeepsTheirRecord(t *testing.T) {
	l := newLab()
	l.create(t)
	lea := l.register(t, Register{Name: "Lea", PINHash: []byte("p")})
	if got := l.register(t, Register{Name: "LEA", PINHash: []byte("p"), NameReserved: true}); got.Id != lea.Id {
		t.Error("a person with a reserved name was registered again as another attendee")
	}
	for _, r := range []Register{{Name: "Max", NameReserved: true}, {Name: "facilitator"}, {Name: "Facili\u00adtator\u202e"}} {
		if _, err := l.do(Command{Caller: admin, Body: r}); reason(err) != durable.Conflict {
			t.Errorf("registering as %q returned %v, want Conflict", r.Name, err)
		}
	}
	rename := func(name string, reserved bool) error {
		_, err := l.do(Command{Caller: admin, Body: Rename{AttendeeID: lea.Id, Name: name, NameReserved: reserved}})
		return err
	}
	if err := rename("Ada", true); reason(err) != durable.Conflict {
		t.Errorf("renaming to a facilitator's name returned %v, want Conflict", err)
	}
	if err := rename("Facilitator", false); reason(err) != durable.Conflict {
		t.Errorf("renaming to Facilitator returned %v, want Conflict", err)
	}
	if err := rename(" lea\u200f", true); err != nil || l.attendees.At(0).Name != "lea" {
		t.Errorf("changing the spelling of the name: %v, name %q", err, l.attendees.At(0).Name)
	}
}

// Another person can take the earlier name of a renamed person, but not the current name.
func TestTheEarlierNameOfARenamedPersonIsFree(t *testing.T) {
	l := newLab()
	l.create(t)
	lea := l.register(t, Register{Name: "Lea"})
	if _, err := l.do(Command{Caller: admin, Body: Rename{AttendeeID: lea.Id, Name: "Ada"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.do(Command{Caller: anyone, Body: Register{Name: "Ada"}}); !errors.Is(err, ErrNameTaken) {
		t.Errorf("registering with the new name of a renamed person: %v, want ErrNameTaken", err)
	}
	if other := l.register(t, Register{Name: "Lea"}); other.Id == lea.Id {
		t.Error("a person with the earlier name is registered as the renamed one")
	}
}

// In an earlier version, sessions of the previous PIN stayed valid.
func TestResetPINEndsThePreviousGeneration(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	lin := l.register(t, Register{Name: "Lin", PINHash: []byte("p")})
	max := l.register(t, Register{Name: "Max"})
	as := func(a *pb.Attendee, generation uint32) error {
		_, err := l.do(Command{Caller: &Caller{Role: RoleAttendee, ID: a.Id, Generation: generation}, Body: Progress{StepNumber: 1}})
		return err
	}
	reset := func(pin string) {
		t.Helper()
		if _, err := l.do(Command{Caller: admin, Body: ResetPin{Pins: []NewPin{{AttendeeID: lin.Id, Hash: []byte(pin)}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := as(lin, lin.Generation); err != nil {
		t.Fatal(err)
	}
	reset("q")
	if err := as(lin, lin.Generation); reason(err) != durable.Forbidden {
		t.Errorf("a command of the earlier generation returned %v, want Forbidden", err)
	}
	again := l.register(t, Register{Name: "Lin", PINHash: []byte("q")})
	if again.Id != lin.Id || again.Generation == lin.Generation {
		t.Errorf("registering with the new PIN returned %v", again)
	}
	if err := errors.Join(as(again, again.Generation), as(max, max.Generation)); err != nil {
		t.Error(err)
	}
	if v := l.Capture(); !v.Stands(lin.Id, again.Generation) || v.Stands(lin.Id, lin.Generation) || v.Stands("nobody", 0) || !v.Stands(max.Id, 0) {
		t.Error("the view disagrees about the current generations")
	}
	// A PIN reset in a journal that predates generations ends no session.
	old := New("lab", Rules{}, naming.NewIDs("lab"))
	for i, e := range l.events {
		e = proto.Clone(e).(*pb.Event)
		if r := e.GetPinReset(); r != nil {
			r.Generation = 0
		}
		old.Apply(uint64(i+1), e)
	}
	if a := old.attendees.At(0); a.Generation != 0 || string(a.PinHash) != "q" {
		t.Errorf("a PIN reset from an older journal leaves %v", a)
	}
	// A snapshot keeps the generation.
	b, err := EncodeState(l.Capture())
	if err != nil {
		t.Fatal(err)
	}
	restored := New("lab", Rules{}, naming.NewIDs("lab"))
	if err := restored.Restore(l.seq, b); err != nil || restored.attendees.At(0).Generation != again.Generation {
		t.Errorf("the restored attendee is %v, %v", restored.attendees.At(0), err)
	}
}

// Records are copied field by field. A field that the copy omits would be lost with the next
// change.
func TestAChangedAttendeeKeepsAllOtherFields(t *testing.T) {
	l := newLab()
	l.create(t)
	full := &pb.Attendee{}
	m := full.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			m.Mutable(f).List().AppendMutable()
		case f.IsList():
			m.Mutable(f).List().Append(protoreflect.ValueOfInt64(7))
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(string(f.Name())))
		case f.Kind() == protoreflect.BytesKind:
			m.Set(f, protoreflect.ValueOfBytes([]byte{7}))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(true))
		case f.Kind() == protoreflect.Int32Kind:
			m.Set(f, protoreflect.ValueOfInt32(7))
		case f.Kind() == protoreflect.Int64Kind:
			m.Set(f, protoreflect.ValueOfInt64(7))
		case f.Kind() == protoreflect.Uint32Kind:
			m.Set(f, protoreflect.ValueOfUint32(7))
		case f.Kind() == protoreflect.MessageKind:
			m.Mutable(f)
		default:
			t.Fatalf("this test cannot fill the field %s yet", f.Name())
		}
	}
	l.applyRegistered(1, full)
	l.changeAttendee(2, full.Id, func(*pb.Attendee) {})
	if got := l.attendees.At(0); got == full || !proto.Equal(got, full) {
		t.Errorf("the changed attendee is\n%v, before\n%v", got, full)
	}
}

// A person who registers again with their code keeps their record. A new email address is stored
// only if there was none. A new seat replaces the previous one.
func TestAReturningPersonKeepsTheirRecord(t *testing.T) {
	for _, tc := range []struct {
		what       string
		kept, give Register
		want       Register
		events     int
	}{
		{"no address and no seat", Register{}, Register{}, Register{}, 0},
		{"neither an address nor a seat", Register{Email: "a@b.org", Place: "A1"}, Register{}, Register{Email: "a@b.org", Place: "A1"}, 0},
		{"the same address and seat", Register{Email: "a@b.org", Place: "A1"}, Register{Email: "a@b.org", Place: "A1"}, Register{Email: "a@b.org", Place: "A1"}, 0},
		{"a first address", Register{Place: "A1"}, Register{Email: "c@d.org"}, Register{Email: "c@d.org", Place: "A1"}, 1},
		{"another address", Register{Email: "a@b.org"}, Register{Email: "c@d.org"}, Register{Email: "a@b.org"}, 0},
		{"a first seat", Register{Email: "a@b.org"}, Register{Place: "B2"}, Register{Email: "a@b.org", Place: "B2"}, 1},
		{"another seat", Register{Place: "A1"}, Register{Place: "B2"}, Register{Place: "B2"}, 1},
		{"a first address and a first seat", Register{}, Register{Email: "c@d.org", Place: "B2"}, Register{Email: "c@d.org", Place: "B2"}, 2},
	} {
		t.Run(tc.what, func(t *testing.T) {
			l := newLab()
			l.create(t, "one", "two")
			first, again := tc.kept, tc.give
			first.Name, first.PINHash = "Lin", []byte("p")
			again.Name, again.PINHash = "LIN", []byte("p")
			lin := attendeeCaller(l.register(t, first))
			l.must(t, lin, Progress{StepNumber: 2})
			l.must(t, lin, SetPulse{State: pb.PulseState_PULSE_STATE_SLOW})
			l.must(t, lin, AskHelp{StepNumber: 2})
			l.must(t, admin, Mute{AttendeeID: lin.ID, Muted: true})
			want := proto.CloneOf(l.attendee(lin.ID))
			want.Email, want.Place = tc.want.Email, tc.want.Place
			// Registered people can sign in even after registration has closed and the workshop has
			// ended.
			l.must(t, admin, SetRegistration{Open: false})
			l.must(t, admin, SetEnded{Ended: true})
			events := len(l.events)
			v, err := l.do(Command{Caller: anyone, Body: again})
			if err != nil {
				t.Fatal(err)
			}
			if r := v.(Registration); !r.Rejoined || !proto.Equal(r.Attendee, want) {
				t.Errorf("registering again returned %v, want %v", r, want)
			}
			if got := l.attendee(lin.ID); !proto.Equal(got, want) || l.attendees.Len() != 1 {
				t.Errorf("the stored attendee is %v, want %v", got, want)
			}
			if n := len(l.events) - events; n != tc.events {
				t.Errorf("registering again made %d events", n)
			}
			if h := l.help.At(0); h.Place != tc.want.Place {
				t.Errorf("the help request has the seat %q", h.Place)
			}
		})
	}
}

// Facilitators can register people while the registration is closed. After the end nobody new can
// register.
func TestAdmissionDependsOnStateAndRole(t *testing.T) {
	closed := func(t *testing.T, l *lab) { l.must(t, admin, SetRegistration{Open: false}) }
	over := func(t *testing.T, l *lab) { l.must(t, admin, SetEnded{Ended: true}) }
	for _, tc := range []struct {
		what       string
		state      func(*testing.T, *lab)
		self, lead durable.Reason
	}{
		{"open", func(*testing.T, *lab) {}, 0, 0},
		{"closed", closed, durable.Forbidden, 0},
		{"over", over, durable.Conflict, durable.Conflict},
		{"closed and ended", func(t *testing.T, l *lab) { closed(t, l); over(t, l) }, durable.Conflict, durable.Conflict},
	} {
		for who, want := range map[*Caller]durable.Reason{anyone: tc.self, admin: tc.lead} {
			l := newLab()
			l.create(t, "one")
			tc.state(t, l)
			_, err := l.do(Command{Caller: who, Body: Register{Name: "Lin"}})
			if reason(err) != want || (l.attendees.Len() == 1) != (want == 0) {
				t.Errorf("%s, registered by role %v: %v, %d attendees", tc.what, who.Role, err, l.attendees.Len())
			}
		}
	}
}

// When several codes are reset together, removed and simulated attendees among them are skipped. A
// reset of one such attendee alone is refused.
func TestCodesAreResetTogether(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	lin := l.register(t, Register{Name: "Lin", PINHash: []byte("p")})
	gone := l.register(t, Register{Name: "Max"})
	l.must(t, admin, Remove{AttendeeID: gone.Id})
	played := l.rehearses(t, true, "Ada")[0].ID
	pin := func(id string) NewPin { return NewPin{AttendeeID: id, Hash: []byte("q")} }
	for _, tc := range []struct {
		pins  []NewPin
		reset bool // whether Lin's code is reset
		want  durable.Reason
	}{
		{[]NewPin{pin(played)}, false, durable.Conflict},
		{[]NewPin{pin(gone.Id)}, false, durable.Missing},
		{[]NewPin{pin(played), pin(gone.Id)}, false, 0},
		{[]NewPin{pin(lin.Id)}, true, 0},
		{[]NewPin{pin(played), pin(lin.Id), pin(gone.Id)}, true, 0},
	} {
		before, others := l.attendee(lin.Id).Generation, proto.CloneOf(l.attendee(played))
		_, err := l.do(Command{Caller: admin, Body: ResetPin{Pins: tc.pins}})
		if reason(err) != tc.want {
			t.Errorf("resetting %v returned %v", tc.pins, err)
		}
		if now := l.attendee(lin.Id); (now.Generation == before+1) != tc.reset || !proto.Equal(l.attendee(played), others) {
			t.Errorf("after resetting %v, the attendees are %v and %v", tc.pins, now, l.attendee(played))
		}
	}
}
