package people

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
	"atelier/actors/registry"
)

// Host runs the actor.
type Host = durable.Host[Command, *Event, View]

// ID is the id of the one actor.
const ID = "all"

// Kind describes the actor. owner is the id of the admin account, which nobody can use as a login.
func Kind(trail *audit.Trail, owner string) durable.Kind[Command, *Event, View] {
	kind := registry.Kind("people", Vocabulary, trail, func(string) *core { return newCore(owner) })
	kind.FromLog = true
	kind.Erases, kind.Erase = erases, erase
	kind.EncodeState = func(v *View) ([]byte, error) {
		snap := &Snapshot{People: v.all, Barred: v.barred}
		for _, p := range v.all {
			if at := v.seen[p.Id]; at != 0 {
				snap.Seen = append(snap.Seen, &Seen{Id: p.Id, At: at})
			}
		}
		return pbwire.Encode(snap), nil
	}
	return kind
}

// erases and erase remove earlier versions of a record from the log. The earlier versions are not
// needed, because each event about a person contains the whole record, or records the person's
// deletion.
func erases(e *Event) bool { return e.GetSeen() == nil && e.GetUnbarred() == nil }

func erase(v *View) func(*Event) (*Event, bool) {
	return func(e *Event) (*Event, bool) {
		put := e.GetPut()
		if put == nil || put.Generation == 0 && put.Name == "" { // already erased
			return nil, false
		}
		if now := v.Get(put.Id); now != nil && slices.Equal(pbwire.Encode(now), pbwire.Encode(put)) {
			return nil, false
		}
		return &Event{At: e.At, Body: &Event_Put{Put: &Person{Id: put.Id}}}, true
	}
}

// core is the pure part of the actor, which owns it. The slice, map and records are replaced, never
// modified.
type core struct {
	owner string
	ids   *naming.IDs
	all   []*Person
	seen  map[string]int64
	// barred lists the hashes of identities and logins of deleted people, who stay locked out,
	// oldest first (see barredOf).
	barred [][]byte
}

func newCore(owner string) *core {
	return &core{owner: foldLogin(owner), ids: naming.NewIDs("people"), seen: map[string]int64{}}
}

// identified returns the person with an identity at the provider, or nil.
func (c *core) identified(issuer, subject string) *Person {
	return c.first(func(p *Person) bool { return p.Issuer == issuer && p.Subject == subject })
}

func (c *core) find(id string) *Person {
	return c.first(func(p *Person) bool { return p.Id == id })
}

// withLogin returns the person with a folded login, or nil.
func (c *core) withLogin(login string) *Person {
	return c.first(func(p *Person) bool { return p.Login == login })
}

func (c *core) first(fits func(*Person) bool) *Person {
	if i := slices.IndexFunc(c.all, fits); i >= 0 {
		return c.all[i]
	}
	return nil
}

// decision collects the events, rows and reply of a command.
type decision struct {
	*registry.Decision[*Event]
	core *core
}

// put records a new version of a person's record.
func (d *decision) put(p *Person, action string, about map[string]string) {
	d.Reply = p
	d.Event(&Event{Body: &Event_Put{Put: p}})
	d.record(action, p, about)
}

// record writes a person's event to the audit trail. A helper for a day has one codelab, so the
// helper's events also appear in the audit trail of that codelab.
func (d *decision) record(action string, p *Person, about map[string]string) {
	codelab := ""
	if Helper(p) {
		codelab = p.Codelabs[0]
	}
	d.Record(&audit.Record{Action: action, TargetId: p.Id, CodelabId: codelab, Metadata: about})
}

// Decide implements registry.State.
func (c *core) Decide(b Body, d *registry.Decision[*Event]) error { return b.decide(&decision{d, c}) }

// Apply implements registry.State.
func (c *core) Apply(_ uint64, e *Event) {
	switch b := e.Body.(type) {
	case *Event_Put:
		c.ids.Seen(b.Put.Id)
		if i := slices.IndexFunc(c.all, func(p *Person) bool { return p.Id == b.Put.Id }); i >= 0 {
			c.all = slices.Clone(c.all)
			c.all[i] = b.Put
		} else {
			c.all = append(c.all[:len(c.all):len(c.all)], b.Put)
		}
	case *Event_Deleted:
		c.all = slices.DeleteFunc(slices.Clone(c.all), func(p *Person) bool { return p.Id == b.Deleted.Id })
		c.seen = maps.Clone(c.seen)
		delete(c.seen, b.Deleted.Id)
		if hash := b.Deleted.Barred; len(hash) > 0 {
			c.barred = append(slices.Clone(c.barred[max(0, len(c.barred)-maxBarred+1):]), hash)
		}
	case *Event_Unbarred:
		c.barred = slices.DeleteFunc(slices.Clone(c.barred), func(hash []byte) bool { return bytes.Equal(hash, b.Unbarred.Barred) })
	case *Event_Seen:
		c.seen = maps.Clone(c.seen)
		c.seen[b.Seen.Id] = e.At
	}
}

// Capture implements registry.State.
func (c *core) Capture() *View { return newView(c.all, c.seen, c.barred) }

// Restore implements registry.State.
func (c *core) Restore(_ uint64, state []byte) error {
	var snap Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	c.all, c.seen, c.barred = snap.People, map[string]int64{}, snap.Barred
	for _, s := range snap.Seen {
		c.seen[s.Id] = s.At
	}
	for _, p := range c.all {
		c.ids.Seen(p.Id)
	}
	return nil
}

// Known reports whether the event has content that this program can decode.
func (x *Event) Known() bool { return x.Body != nil }

// Stamp sets the time of the event.
func (x *Event) Stamp(at int64) { x.At = at }
