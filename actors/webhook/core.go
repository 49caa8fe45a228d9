package webhook

import (
	"fmt"
	"slices"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/registry"
)

// Host runs the webhook actors.
type Host = durable.Host[Command, *Change, View]

// View is the committed state of one webhook. Immutable.
type View struct {
	// Hook is nil if the webhook does not exist.
	Hook *Hook
}

// Kind describes a webhook's actor. The actor has the webhook's id.
func Kind(trail *audit.Trail) durable.Kind[Command, *Change, View] {
	kind := registry.Kind("webhooks", Vocabulary, trail, func(id string) *core { return &core{id: id} })
	kind.EncodeState = func(v *View) ([]byte, error) { return pbwire.Encode(&Snapshot{Hook: v.Hook}), nil }
	// The secret of a deleted webhook is erased from the log, because a later backup must not
	// contain it.
	kind.Erases = func(e *Change) bool { return e.GetDeleted() != nil }
	kind.Erase = func(*View) func(*Change) (*Change, bool) {
		return func(e *Change) (*Change, bool) {
			if e.GetCreated() == nil || len(e.GetCreated().Secret) == 0 {
				return nil, false
			}
			return &Change{At: e.At, Body: &Change_Created{&Hook{Id: e.GetCreated().Id}}}, true
		}
	}
	return kind
}

// core is the pure part of the actor. Its record is replaced, never modified.
type core struct {
	id   string
	hook *Hook // nil before creation and after deletion
}

// decision collects the events, rows and reply of a command.
type decision struct {
	*registry.Decision[*Change]
	core *core
}

func (d *decision) record(action string) {
	d.Record(&audit.Record{Action: action, TargetId: d.core.id})
}

// Decide implements registry.State.
func (c *core) Decide(b Body, d *registry.Decision[*Change]) error {
	if _, creates := b.(Create); c.hook == nil && !creates {
		return errMissing
	}
	return b.decide(&decision{d, c})
}

// Apply implements registry.State.
func (c *core) Apply(_ uint64, e *Change) {
	switch b := e.Body.(type) {
	case *Change_Created:
		c.hook = b.Created
	case *Change_Deleted:
		c.hook = nil
	case *Change_Tried:
		c.change(func(h *Hook) { tried(h, e.At, b.Tried) })
	case *Change_Resumed:
		c.change(func(h *Hook) { h.Stopped, h.Failures, h.Failed = false, 0, nil })
	}
}

func (c *core) change(fn func(*Hook)) {
	if c.hook == nil {
		return
	}
	c.hook = c.hook.Clone()
	fn(c.hook)
}

// tried updates a webhook with the result of an attempt.
func tried(h *Hook, at int64, t *Tried) {
	h.LastAt, h.LastStatus = at, t.Status
	if t.Id != "" {
		h.Tries = append(slices.Clone(h.Tries[max(0, len(h.Tries)-MaxTries+1):]), &Try{
			Id: t.Id, Type: t.Type, At: at, Status: t.Status, TookMs: t.TookMs, Number: t.Number, Error: t.Error,
		})
	}
	switch {
	case t.Test:
		return
	case Delivered(t.Status):
		h.Failures = 0
		return
	}
	h.Failures++
	h.Stopped = h.Stopped || t.Stopped
	if t.Kept != "" {
		h.Failed = append(slices.Clone(h.Failed[max(0, len(h.Failed)-MaxFailed+1):]), t.Kept)
	}
}

// Capture implements registry.State.
func (c *core) Capture() *View { return &View{c.hook} }

// Restore implements registry.State.
func (c *core) Restore(_ uint64, state []byte) error {
	var snap Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	c.hook = snap.Hook
	return nil
}

// Known reports whether the event has content that this program can decode.
func (x *Change) Known() bool { return x.Body != nil }

// Stamp sets the time of the event.
func (x *Change) Stamp(at int64) { x.At = at }
