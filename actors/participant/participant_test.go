package participant

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	"atelier/actors/durable"
	"atelier/actors/registry"
	"atelier/persistence/memory"
)

// desk is the actor with its dependencies.
type desk struct {
	t       *testing.T
	journal *memory.Store
	audit   *audit.Trail
	host    *Host
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, journal: memory.New()}
	d.audit = audit.New(d.journal, clock.System, time.Hour)
	d.start()
	t.Cleanup(func() {
		d.stop()
		_ = d.journal.Close()
	})
	return d
}

func (d *desk) start() {
	host, err := durable.NewHost(durable.NewSystem(), d.journal, Kind(d.audit), durable.Options{IdleAfter: -1})
	if err != nil {
		d.t.Fatal(err)
	}
	d.host = host
}

func (d *desk) stop() {
	if err := d.host.Close(d.t.Context()); err != nil && d.t.Context().Err() == nil {
		d.t.Error(err)
	}
}

func (d *desk) view() *View {
	h, err := d.host.Get(ID)
	if err != nil {
		d.t.Fatal(err)
	}
	return h.View()
}

func (d *desk) ask(cmd Command) (any, error) {
	h, err := d.host.Get(ID)
	if err != nil {
		d.t.Fatal(err)
	}
	cmd.Caller = Caller{Type: "admin", ID: "admin"}
	if cmd.Body != nil { // as it comes from another process
		codec := Kind(nil).Codec
		b, err := codec.Encode(cmd)
		if err != nil {
			d.t.Fatal(err)
		}
		if cmd, err = codec.Decode(b); err != nil {
			d.t.Fatal(err)
		}
	}
	v, _, err := h.Ask(cmd)
	if cmd.Body != nil && err == nil {
		if _, err := Vocabulary.EncodeReply(reflect.TypeOf(cmd.Body).Name(), v); err != nil {
			d.t.Error(err)
		}
	}
	return v, err
}

func (d *desk) add(name, environment string) (*Participant, string, Secret) {
	keyID, secret, hash := NewKey(environment)
	v, err := d.ask(Command{Body: Add{
		Name: name, Kind: Business, Environment: environment, Scopes: []string{ScopeDetokenize}, Identity: NewIdentity(environment), KeyID: keyID, SecretHash: hash,
	}})
	if err != nil {
		d.t.Fatal(err)
	}
	return v.(*Participant), keyID, secret
}

// A record of this actor comes after earlier records of other writers, even within a millisecond.
// Here the trail's clock is ahead by a minute.
func TestAuditRecordsOfTwoWritersAreInOrder(t *testing.T) {
	d := newDesk(t)
	ahead := clocktest.New()
	ahead.SetOffset(time.Minute)
	d.audit = audit.New(d.journal, ahead, time.Hour)
	d.stop()
	d.start()
	shop, _, _ := d.add("Shop", "")
	rows := d.audit.OwnRows(&audit.Record{Action: "token_create"}, &audit.Own{}, shop.Id)
	if err := durable.Commit(d.journal, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ask(Command{Body: SetEncryptionKey{ID: shop.Id, Key: []byte(`{"kty":"EC"}`)}}); err != nil {
		t.Fatal(err)
	}
	log, err := d.audit.Owned(shop.Id, "", 9)
	if err != nil || len(log) != 2 || log[0].Action != "participant_encryption_key" || log[1].Action != "token_create" {
		t.Errorf("the audit records are %v, %v", log, err)
	}
}

func TestKeysAreAcceptedUntilTheyAreRemoved(t *testing.T) {
	d := newDesk(t)
	shop, keyID, secret := d.add("Shop", "")
	check := func(want bool) {
		t.Helper()
		id, ok := KeyID(Production, string(secret))
		if !ok || id != keyID {
			t.Fatal("KeyID does not return the id of the secret's key")
		}
		if p := d.view().Authenticate(id, []byte(secret)); (p != nil) != want {
			t.Errorf("the key is accepted: %v", p != nil)
		}
	}
	check(true)
	if _, ok := KeyID(Sandbox, string(secret)); ok {
		t.Error("the sandbox accepts a production key")
	}
	for _, bad := range []string{"", "x", string(secret)[:60] + "x", string(secret) + "x"} {
		if d.view().Authenticate(keyID, []byte(bad)) != nil {
			t.Error("a wrong secret is accepted")
		}
	}
	if d.view().Authenticate("key_none", []byte(secret)) != nil || d.view().Authenticate("key_none", nil) != nil {
		t.Error("an unknown key is accepted")
	}
	d.stop()
	d.start()
	check(true)
	if _, err := d.ask(Command{Body: RemoveKey{ID: shop.Id, KeyID: keyID}}); err != nil {
		t.Fatal(err)
	}
	check(false)
}

func TestADisabledParticipantStaysDisabledAfterARestart(t *testing.T) {
	d := newDesk(t)
	shop, keyID, secret := d.add("Shop", Sandbox)
	for range 2 {
		if _, err := d.ask(Command{Body: Disable{ID: shop.Id}}); err != nil {
			t.Fatal(err)
		}
	}
	d.stop()
	d.start()
	if d.view().Authenticate(keyID, []byte(secret)) != nil {
		t.Error("a key of a disabled participant is accepted")
	}
}

func TestInvalidCommandsAreRefused(t *testing.T) {
	d := newDesk(t)
	shop, _, _ := d.add("Shop", "")
	other, _, _ := d.add("Other", Sandbox)
	add := func(change func(*Add)) Command {
		a := Add{Name: "N", Kind: PSP, Scopes: []string{ScopeTokenize}}
		change(&a)
		return Command{Body: a}
	}
	for name, c := range map[string]struct {
		cmd    Command
		reason durable.Reason
	}{
		"no name":                          {add(func(a *Add) { a.Name = "  " }), durable.Invalid},
		"long name":                        {add(func(a *Add) { a.Name = strings.Repeat("ä", 81) }), durable.Invalid},
		"kind":                             {add(func(a *Add) { a.Kind = "bank" }), durable.Invalid},
		"environment":                      {add(func(a *Add) { a.Environment = "moon" }), durable.Invalid},
		"no scopes":                        {add(func(a *Add) { a.Scopes = nil }), durable.Invalid},
		"scope":                            {add(func(a *Add) { a.Scopes = []string{"admin"} }), durable.Invalid},
		"key of an unknown participant":    {Command{Body: AddKey{ID: "x"}}, durable.Missing},
		"unknown key":                      {Command{Body: RemoveKey{ID: shop.Id, KeyID: "x"}}, durable.Missing},
		"grant to an unknown participant":  {Command{Body: Grant{ID: "x", For: shop.Id}}, durable.Missing},
		"grant for an unknown participant": {Command{Body: Grant{ID: shop.Id, For: "x"}}, durable.Invalid},
		"grant to itself":                  {Command{Body: Grant{ID: shop.Id, For: shop.Id}}, durable.Invalid},
		"grant to another environment":     {Command{Body: Grant{ID: shop.Id, For: other.Id}}, durable.Invalid},
		"unknown grant":                    {Command{Body: Ungrant{ID: shop.Id, For: other.Id}}, durable.Missing},
		"no version":                       {Command{Body: Acknowledge{ID: shop.Id, Version: " "}}, durable.Invalid},
		"policy":                           {Command{Body: SetPolicy{ID: shop.Id, Policy: "never"}}, durable.Invalid},
		"too short a lifetime":             {Command{Body: SetPolicy{ID: shop.Id, Policy: "ttl", TTLSeconds: 59}}, durable.Invalid},
		"too long a lifetime":              {Command{Body: SetPolicy{ID: shop.Id, Policy: "single_use", TTLSeconds: 1801}}, durable.Invalid},
		"a lifetime for a session":         {Command{Body: SetPolicy{ID: shop.Id, Policy: "session", TTLSeconds: 60}}, durable.Invalid},
		"no command":                       {Command{}, durable.Invalid},
	} {
		_, err := d.ask(c.cmd)
		var r *durable.Rejection
		if !errors.As(err, &r) || r.Reason != c.reason {
			t.Errorf("%s: the command returned %v", name, err)
		}
	}
}

// After any commands, the state restored from the journal, or from a snapshot of it, equals the
// live state.
func TestAnyStateIsRestored(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		audit := audit.New(nil, clock.System, time.Hour)
		kind := Kind(audit)
		live := newCore()
		actor := registry.NewCore(live, audit)
		var events []*Event
		any := func() string {
			if len(live.all) == 0 || rapid.IntRange(0, 9).Draw(rt, "nobody") == 0 {
				return "nobody"
			}
			return rapid.SampledFrom(live.all).Draw(rt, "who").Id
		}
		for i := range rapid.IntRange(1, 30).Draw(rt, "commands") {
			cmd := Command{}
			switch rapid.IntRange(0, 8).Draw(rt, "kind") {
			case 0, 1, 2:
				cmd.Body = Add{Name: fmt.Sprint(i), Kind: PSP, Scopes: []string{"tokenize"}, Identity: fmt.Sprint(i), KeyID: fmt.Sprint("k", i)}
			case 3:
				cmd.Body = AddKey{ID: any(), KeyID: fmt.Sprint("k", i)}
			case 4:
				cmd.Body = Grant{ID: any(), For: any()}
			case 5:
				cmd.Body = Ungrant{ID: any(), For: any()}
			case 6:
				cmd.Body = SetPolicy{ID: any(), Policy: "ttl", TTLSeconds: 60}
			case 7:
				cmd.Body = Acknowledge{ID: any(), Version: "1"}
			case 8:
				cmd.Body = Disable{ID: any()}
			}
			d, err := actor.Decide(cmd, durable.Env{Now: time.UnixMilli(int64(i + 1))})
			if err != nil {
				continue
			}
			for _, e := range d.Events {
				events = append(events, e)
				live.Apply(uint64(len(events)), e)
			}
		}
		view := live.Capture()
		same := func(what string, other durable.Core[Command, *Event, View]) {
			if !slices.EqualFunc(view.All(), other.Capture().All(), func(a, b *Participant) bool { return proto.Equal(a, b) }) {
				rt.Fatalf("the %s yields other participants", what)
			}
		}
		replayed := kind.New(ID)
		for i, e := range events {
			record, err := kind.AppendEvent(nil, e)
			if err != nil {
				rt.Fatal(err)
			}
			parsed, err := kind.ParseEvent(record)
			if err != nil {
				rt.Fatal(err)
			}
			replayed.Apply(uint64(i+1), parsed)
		}
		same("replay", replayed)
		state, err := kind.EncodeState(view)
		if err != nil {
			rt.Fatal(err)
		}
		restored := kind.New(ID)
		if err := restored.Restore(uint64(len(events)), state); err != nil {
			rt.Fatal(err)
		}
		same("snapshot", restored)
	})
}

// All data of a participant is kept until it is withdrawn. The audit trail records each change.
func TestParticipantSettingsAreStoredAndAudited(t *testing.T) {
	d := newDesk(t)
	shop, keyID, _ := d.add("Shop", "")
	psp, _, _ := d.add("PSP", "")
	key, next := []byte(`{"kty":"RSA","n":"AQ","e":"AQAB"}`), []byte(`{"kty":"RSA","n":"AQ","e":"Aw"}`)
	if thumbprint(key) == "" || thumbprint(key) == thumbprint(next) {
		t.Fatal("the two keys have no thumbprints, or the same")
	}
	seen := 2
	for _, tc := range []struct {
		body Body
		want func(p *Participant) bool // of the shop
		by   string                    // the audit record: action and metadata
	}{
		{Acknowledge{ID: shop.Id, Version: " 2 "}, func(p *Participant) bool {
			a := p.Acknowledgement
			return a.GetVersion() == "2" && a.AdminId == "admin" && a.At > 0
		}, "participant_acknowledge map[version:2]"},
		{SetPolicy{ID: shop.Id, Policy: "ttl", TTLSeconds: 600}, func(p *Participant) bool {
			return p.Policy.GetPolicy() == "ttl" && p.Policy.TtlSeconds == 600
		}, "participant_policy map[policy:ttl ttl_seconds:600]"},
		{AddKey{ID: shop.Id, KeyID: "key_2", SecretHash: []byte("hash")}, func(p *Participant) bool {
			return len(p.Keys) == 2 && p.Keys[1].Id == "key_2" && string(p.Keys[1].SecretHash) == "hash" && p.Keys[1].CreatedAt > 0
		}, "participant_key_add map[key_id:key_2]"},
		{RemoveKey{ID: shop.Id, KeyID: keyID}, func(p *Participant) bool { return len(p.Keys) == 1 && p.Keys[0].Id == "key_2" }, "participant_key_remove map[key_id:" + keyID + "]"},
		{Grant{ID: psp.Id, For: shop.Id}, func(p *Participant) bool { return slices.Equal(p.Delegates, []string{psp.Id}) }, "participant_grant map[for:" + shop.Id + "]"},
		{Grant{ID: psp.Id, For: shop.Id}, func(p *Participant) bool { return slices.Equal(p.Delegates, []string{psp.Id}) }, ""},
		{Ungrant{ID: psp.Id, For: shop.Id}, func(p *Participant) bool { return len(p.Delegates) == 0 }, "participant_ungrant map[for:" + shop.Id + "]"},
		{SetEncryptionKey{ID: shop.Id, Key: []byte("{}")}, func(p *Participant) bool { return string(p.EncryptionKey) == "{}" }, "participant_encryption_key map[security:true]"},
		{SetEncryptionKey{ID: shop.Id, Key: key}, func(p *Participant) bool { return string(p.EncryptionKey) == string(key) }, "participant_encryption_key map[new_thumbprint:" + thumbprint(key) + " security:true]"},
		{SetEncryptionKey{ID: shop.Id, Key: next}, func(p *Participant) bool { return string(p.EncryptionKey) == string(next) }, "participant_encryption_key map[new_thumbprint:" + thumbprint(next) + " old_thumbprint:" + thumbprint(key) + " security:true]"},
		{SetEncryptionKey{ID: shop.Id}, func(p *Participant) bool { return len(p.EncryptionKey) == 0 }, "participant_encryption_key map[old_thumbprint:" + thumbprint(next) + " security:true]"},
		{Disable{ID: shop.Id}, func(p *Participant) bool { return p.Disabled }, "participant_disable map[]"},
		{Disable{ID: shop.Id}, func(p *Participant) bool { return p.Disabled }, ""},
	} {
		if _, err := d.ask(Command{Body: tc.body}); err != nil {
			t.Fatalf("the command %+v returned %v", tc.body, err)
		}
		for range 2 { // now, and after a restart
			if p := d.view().Get(shop.Id); !tc.want(p) {
				t.Errorf("after %+v, the participant is %v", tc.body, p)
			}
			d.stop()
			d.start()
		}
		found, err := d.audit.Find(audit.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n := len(found) - seen; n > 0 {
			got = fmt.Sprint(found[0].Action, " ", found[0].Metadata)
			if r := found[0]; n > 1 || r.ActorType != "admin" || r.ActorId != "admin" || r.TargetId != shop.Id && r.TargetId != psp.Id {
				t.Errorf("audit records %v", found[:n])
			}
		}
		if seen = len(found); got != tc.by {
			t.Errorf("audit record %q, want %q", got, tc.by)
		}
	}
}

// A participant acts for itself, and for the participants that delegated to it.
func TestAParticipantActsForItselfAndItsDelegators(t *testing.T) {
	shop, psp, other := &Participant{Id: "shop", Delegates: []string{"psp"}}, &Participant{Id: "psp"}, &Participant{Id: "other"}
	for _, tc := range []struct {
		who, whom *Participant
		want      bool
	}{{shop, shop, true}, {psp, shop, true}, {other, shop, false}, {shop, psp, false}, {psp, psp, true}} {
		if MayActFor(tc.who, tc.whom) != tc.want {
			t.Errorf("MayActFor(%s, %s) = %v", tc.who.Id, tc.whom.Id, !tc.want)
		}
	}
}

// Public names and keys contain their environment. A text that does not have the form of a key has
// no id.
func TestKeysAndIdentitiesContainTheirEnvironment(t *testing.T) {
	for environment, word := range map[string]string{Production: "_live_", Sandbox: "_test_"} {
		id, secret, _ := NewKey(environment)
		text := string(secret)
		if got, ok := KeyID(environment, text); !ok || got != id || !strings.HasPrefix(text, "ak"+word) {
			t.Errorf("%s: KeyID returned %q, %v, want %q", environment, got, ok, id)
		}
		if name := NewIdentity(environment); !strings.HasPrefix(name, "id"+word) || name == NewIdentity(environment) {
			t.Errorf("%s: the identity is %s", environment, name)
		}
		at := len("ak"+word) + keyIDDigits // where the id ends
		for _, bad := range []string{"", text[1:], text[:len(text)-1], text + "x", text[:at] + "-" + text[at+1:], "ak_" + text} {
			if got, ok := KeyID(environment, bad); ok {
				t.Errorf("KeyID(%q) = %s, but it is not a key", bad, got)
			}
		}
	}
}

// The largest allowed value is accepted, and the next one is refused.
func TestBoundsOfParticipantsAreEnforced(t *testing.T) {
	filled := func(change func(c *core, p *Participant)) *core {
		c := newCore()
		c.all = []*Participant{{Id: "shop", Environment: Production}, {Id: "psp", Environment: Production}}
		change(c, c.all[0])
		return c
	}
	participants := func(n int) *core {
		return filled(func(c *core, _ *Participant) { c.all = append(c.all, make([]*Participant, n-len(c.all))...) })
	}
	keys := func(n int) *core { return filled(func(_ *core, p *Participant) { p.Keys = make([]*Key, n) }) }
	delegates := func(n int) *core {
		return filled(func(_ *core, p *Participant) { p.Delegates = slices.Repeat([]string{"other"}, n) })
	}
	any := filled(func(*core, *Participant) {})
	add := Add{Name: "N", Kind: PSP, Scopes: []string{ScopeTokenize}}
	named := func(name string) Add { a := add; a.Name = name; return a }
	scoped := func(scopes ...string) Add { a := add; a.Scopes = scopes; return a }
	life := func(policy string, seconds int64) Body {
		return SetPolicy{ID: "shop", Policy: policy, TTLSeconds: seconds}
	}
	for name, tc := range map[string]struct {
		*core
		body   Body
		reason durable.Reason // 0 means that the command is accepted
	}{
		"the longest name":         {any, named(strings.Repeat("ä", 80)), 0},
		"an empty list of scopes":  {any, scoped([]string{}...), durable.Invalid},
		"the last participant":     {participants(MaxParticipants - 1), add, 0},
		"one participant too many": {participants(MaxParticipants), add, durable.Conflict},
		"the last key":             {keys(MaxKeys - 1), AddKey{ID: "shop"}, 0},
		"one key too many":         {keys(MaxKeys), AddKey{ID: "shop"}, durable.Conflict},
		"the last delegate":        {delegates(MaxDelegates - 1), Grant{ID: "psp", For: "shop"}, 0},
		"one delegate too many":    {delegates(MaxDelegates), Grant{ID: "psp", For: "shop"}, durable.Conflict},
		"the shortest lifetime":    {any, life("ttl", 60), 0},
		"the longest lifetime":     {any, life("single_use", 1800), 0},
		"the default of a session": {any, life("session", 0), 0},
		"a minute for a session":   {any, life("session", 60), durable.Invalid},
		"the longest version":      {any, Acknowledge{ID: "shop", Version: strings.Repeat("ä", 200)}, 0},
		"a longer version":         {any, Acknowledge{ID: "shop", Version: strings.Repeat("ä", 201)}, durable.Invalid},
		"the largest key":          {any, SetEncryptionKey{ID: "shop", Key: make([]byte, 8<<10)}, 0},
		"a larger key":             {any, SetEncryptionKey{ID: "shop", Key: make([]byte, 8<<10+1)}, durable.Invalid},
	} {
		_, err := registry.NewCore(tc.core, audit.New(nil, clock.System, 0)).Decide(Command{Body: tc.body}, durable.Env{Now: time.Now()})
		var r *durable.Rejection
		if errors.As(err, &r); err != nil && r == nil || r != nil && r.Reason != tc.reason || r == nil && tc.reason != 0 {
			t.Errorf("%s: the command returned %v", name, err)
		}
	}
}

// A view that is being read does not change, and neither do its participants.
func TestAnEarlierViewDoesNotChange(t *testing.T) {
	c := newCore()
	c.Apply(1, &Event{Body: &Event_Added{&Participant{Id: "shop", Keys: []*Key{{Id: "one"}, {Id: "two"}}, Delegates: []string{"psp", "other"}}}})
	c.all = slices.Grow(c.all, 4)
	before := c.Capture()
	want := fmt.Sprint(before.All())
	for i, e := range []*Event{
		{Body: &Event_Added{&Participant{Id: "psp"}}}, {Body: &Event_KeyRemoved{&KeyRemoved{Id: "shop", KeyId: "one"}}},
		{Body: &Event_KeyAdded{&KeyAdded{Id: "shop", Key: &Key{Id: "three"}}}}, {Body: &Event_Ungranted{&Ungranted{Id: "psp", ParticipantId: "shop"}}},
		{Body: &Event_Disabled{&Disabled{Id: "shop"}}},
	} {
		later := c.Capture()
		is := fmt.Sprint(later.All())
		c.Apply(uint64(i+2), e)
		if got := fmt.Sprint(later.All()); got != is {
			t.Errorf("event %d changed the earlier view to %s", i, got)
		}
	}
	if got := fmt.Sprint(before.All()); got != want {
		t.Errorf("the earlier view is %s", got)
	}
}

// A participant who is added after a restart gets a new id, even if the clock was set back.
func TestIdsAreNotReused(t *testing.T) {
	kind := Kind(audit.New(nil, clock.System, 0))
	at := time.UnixMilli(1_800_000_000_000)
	added := func(c durable.Core[Command, *Event, View]) string {
		t.Helper()
		d, err := c.Decide(Command{Body: Add{Name: "N", Kind: PSP, Scopes: []string{ScopeTokenize}}}, durable.Env{Now: at})
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(1, d.Events[0])
		return d.Reply.(*Participant).Id
	}
	before := kind.New(ID)
	first := added(before)
	state, err := kind.EncodeState(before.Capture())
	if err != nil {
		t.Fatal(err)
	}
	after := kind.New(ID)
	if err := after.Restore(1, state); err != nil {
		t.Fatal(err)
	}
	at = at.Add(-time.Hour)
	if next := added(after); next <= first {
		t.Errorf("id %s is followed by %s", first, next)
	}
}
