package participant

import (
	"fmt"
	"slices"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
	"atelier/actors/registry"
)

// Host runs the participants' actor.
type Host = durable.Host[Command, *Event, View]

// ID is the id of the one actor.
const ID = "all"

// Kind describes the actor.
func Kind(trail *audit.Trail) durable.Kind[Command, *Event, View] {
	kind := registry.Kind("participants", Vocabulary, trail, func(string) *core { return newCore() })
	kind.FromLog = true
	kind.EncodeState = func(v *View) ([]byte, error) { return pbwire.Encode(&Snapshot{Participants: v.all}), nil }
	return kind
}

// core is the pure part of the actor, which owns it. The slice and records are replaced, never
// modified.
type core struct {
	ids *naming.IDs
	all []*Participant
}

func newCore() *core { return &core{ids: naming.NewIDs("participants")} }

func (c *core) find(id string) *Participant {
	for _, p := range c.all {
		if p.Id == id {
			return p
		}
	}
	return nil
}

// decision collects the events, rows and reply of a command.
type decision struct {
	*registry.Decision[*Event]
	core *core
}

func (d *decision) record(action, target string, more map[string]string) {
	owner := "" // security events are also in the participant's own log
	if more["security"] != "" {
		owner = target
	}
	d.Record(&audit.Record{Action: action, TargetId: target, Metadata: more}, owner)
}

// Decide implements registry.State.
func (c *core) Decide(b Body, d *registry.Decision[*Event]) error { return b.decide(&decision{d, c}) }

// Apply implements registry.State.
func (c *core) Apply(_ uint64, e *Event) {
	switch b := e.Body.(type) {
	case *Event_Added:
		c.ids.Seen(b.Added.Id)
		c.all = append(c.all[:len(c.all):len(c.all)], b.Added)
	case *Event_KeyAdded:
		c.change(b.KeyAdded.Id, func(p *Participant) { p.Keys = append(p.Keys, b.KeyAdded.Key) })
	case *Event_KeyRemoved:
		c.change(b.KeyRemoved.Id, func(p *Participant) {
			p.Keys = slices.DeleteFunc(p.Keys, func(k *Key) bool { return k.Id == b.KeyRemoved.KeyId })
		})
	case *Event_Granted:
		c.change(b.Granted.ParticipantId, func(p *Participant) { p.Delegates = append(p.Delegates, b.Granted.Id) })
	case *Event_Ungranted:
		c.change(b.Ungranted.ParticipantId, func(p *Participant) {
			p.Delegates = slices.DeleteFunc(p.Delegates, func(id string) bool { return id == b.Ungranted.Id })
		})
	case *Event_Acknowledged:
		c.change(b.Acknowledged.Id, func(p *Participant) { p.Acknowledgement = b.Acknowledged.Acknowledgement })
	case *Event_PolicySet:
		c.change(b.PolicySet.Id, func(p *Participant) { p.Policy = b.PolicySet.Policy })
	case *Event_Disabled:
		c.change(b.Disabled.Id, func(p *Participant) { p.Disabled = true })
	case *Event_EncryptionKeySet:
		c.change(b.EncryptionKeySet.Id, func(p *Participant) { p.EncryptionKey = b.EncryptionKeySet.Key })
	}
}

// change replaces a participant with a changed copy.
func (c *core) change(id string, fn func(*Participant)) {
	i := slices.IndexFunc(c.all, func(p *Participant) bool { return p.Id == id })
	if i < 0 {
		return
	}
	c.all = slices.Clone(c.all)
	c.all[i] = c.all[i].Clone()
	fn(c.all[i])
}

// Capture implements registry.State.
func (c *core) Capture() *View {
	v := &View{
		all: c.all, byID: make(map[string]*Participant, len(c.all)),
		byIdentity: make(map[string]*Participant, len(c.all)), byKey: make(map[string]*Participant, len(c.all)),
	}
	for _, p := range c.all {
		v.byID[p.Id], v.byIdentity[p.Identity] = p, p
		for _, k := range p.Keys {
			v.byKey[k.Id] = p
		}
	}
	return v
}

// Restore implements registry.State.
func (c *core) Restore(_ uint64, state []byte) error {
	var snap Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	c.all = snap.Participants
	for _, p := range c.all {
		c.ids.Seen(p.Id)
	}
	return nil
}

// Known reports whether the event has content that this program can decode.
func (x *Event) Known() bool { return x.Body != nil }

// Stamp sets the time of the event.
func (x *Event) Stamp(at int64) { x.At = at }
