package settings

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
	"atelier/actors/registry"
	"atelier/actors/usage"
)

// Host runs the settings actor.
type Host = durable.Host[Command, *Event, View]

// ID is the id of the one settings actor.
const ID = "settings"

// View is the committed state of the settings. Immutable.
type View struct {
	Tokens []*ApiToken
	// AIKey is the sealed AI key; empty if there is none.
	AIKey []byte
	// AIUsage is the admins' use of the AI outside codelabs.
	AIUsage []*usage.AIUsage
}

// Token returns the API token whose secret has this hash, or nil. The token
// can have expired.
func (v *View) Token(hash []byte) *ApiToken {
	var found *ApiToken
	for _, t := range v.Tokens { // always compares all of them, so that timing reveals nothing
		if subtle.ConstantTimeCompare(t.SecretHash, hash) == 1 {
			found = t
		}
	}
	return found
}

// Has reports whether an API token is valid: it exists, was not revoked and has not expired.
func (v *View) Has(id string, now time.Time) bool {
	return slices.ContainsFunc(v.Tokens, func(t *ApiToken) bool { return t.Id == id && !Expired(t, now) })
}

// Expired reports whether an API token has expired.
func Expired(t *ApiToken, now time.Time) bool {
	return t.ExpiresAt > 0 && t.ExpiresAt <= now.UnixMilli()
}

// Kind describes the settings actor.
func Kind(trail *audit.Trail) durable.Kind[Command, *Event, View] {
	// The name must stay, because existing stores contain it.
	kind := registry.Kind("catalog", Vocabulary, trail, func(string) *core { return &core{ids: naming.NewIDs("catalog")} })
	kind.FromLog = true
	kind.Erases, kind.Erase = replacesKey, eraseKeys
	kind.EncodeState = func(v *View) ([]byte, error) {
		return pbwire.Encode(&Snapshot{Tokens: v.Tokens, AiKey: v.AIKey, AiUsage: v.AIUsage}), nil
	}
	return kind
}

// core is the pure part of the actor. Its slices are replaced, never modified.
type core struct {
	ids     *naming.IDs
	tokens  []*ApiToken
	aiKey   []byte
	aiUsage []*usage.AIUsage
}

// decision collects the events, rows and reply of a command.
type decision struct {
	*registry.Decision[*Event]
	core *core
}

// Decide implements registry.State.
func (c *core) Decide(b Body, d *registry.Decision[*Event]) error { return b.decide(&decision{d, c}) }

// Apply implements registry.State.
func (c *core) Apply(_ uint64, e *Event) {
	switch b := e.Body.(type) {
	case *Event_TokenCreated:
		c.ids.Seen(b.TokenCreated.Id)
		c.tokens = append(c.tokens[:len(c.tokens):len(c.tokens)], b.TokenCreated)
	case *Event_TokenRevoked:
		var kept []*ApiToken
		for _, t := range c.tokens {
			if t.Id != b.TokenRevoked.Id {
				kept = append(kept, t)
			}
		}
		c.tokens = kept
	case *Event_AiKeySet:
		c.aiKey = b.AiKeySet.Sealed
	case *Event_AiUsed:
		c.aiUsage = usage.Add(c.aiUsage, b.AiUsed)
	}
}

// Capture implements registry.State.
func (c *core) Capture() *View {
	return &View{Tokens: c.tokens, AIKey: c.aiKey, AIUsage: c.aiUsage}
}

// Restore implements registry.State.
func (c *core) Restore(_ uint64, state []byte) error {
	var snap Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	c.tokens, c.aiKey, c.aiUsage = snap.Tokens, snap.AiKey, snap.AiUsage
	for _, t := range c.tokens {
		c.ids.Seen(t.Id)
	}
	return nil
}

// Known reports whether the event has content that this program can decode.
func (x *Event) Known() bool { return x.Body != nil }

// Stamp sets the time of the event.
func (x *Event) Stamp(at int64) { x.At = at }
