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

// Token finds the API token with this secret's hash, or nil.
func (v *View) Token(hash []byte) *ApiToken {
	var found *ApiToken
	for _, t := range v.Tokens { // always all of them, so that timing reveals nothing
		if subtle.ConstantTimeCompare(t.SecretHash, hash) == 1 {
			found = t
		}
	}
	return found
}

// Has reports whether an API token was not revoked and has not expired.
func (v *View) Has(id string, now time.Time) bool {
	return slices.ContainsFunc(v.Tokens, func(t *ApiToken) bool { return t.Id == id && !Expired(t, now) })
}

// Expired reports whether an API token has expired.
func Expired(t *ApiToken, now time.Time) bool {
	return t.ExpiresAt > 0 && t.ExpiresAt <= now.UnixMilli()
}

// Kind describes the settings actor.
func Kind(trail *audit.Trail) durable.Kind[Command, *Event, View] {
	return durable.Kind[Command, *Event, View]{
		Name: "catalog", // the name in existing stores
		New: func(string) durable.Core[Command, *Event, View] {
			return &settings{audit: trail, ids: naming.NewIDs("catalog")}
		},
		Codec:       codec,
		FromLog:     true,
		AppendEvent: durable.AppendMessage[*Event],
		ParseEvent: func(record []byte) (*Event, error) {
			e := &Event{}
			if err := e.Decode(record); err != nil {
				return nil, err
			}
			if e.Body == nil {
				return nil, durable.ErrUnknownEvent
			}
			return e, nil
		},
		Erases: replacesKey,
		Erase:  eraseKeys,
		EncodeState: func(v *View) ([]byte, error) {
			return pbwire.Encode(&Snapshot{Tokens: v.Tokens, AiKey: v.AIKey, AiUsage: v.AIUsage}), nil
		},
	}
}

// settings is the pure core. Its actor owns it. The slice is replaced, never modified.
type settings struct {
	audit   *audit.Trail
	ids     *naming.IDs
	tokens  []*ApiToken
	aiKey   []byte
	aiUsage []*usage.AIUsage
}

// Decide implements durable.Core.
func (s *settings) Decide(cmd Command, env durable.Env) (durable.Decision[*Event], error) {
	c := change{s: s, caller: cmd.Caller, env: env}
	if cmd.Body == nil {
		return c.Decision, durable.Reject(durable.Invalid, "unknown command")
	}
	if err := cmd.Body.decide(&c); err != nil {
		return durable.Decision[*Event]{}, err
	}
	for _, e := range c.Events {
		e.At = env.Now.UnixMilli()
	}
	return c.Decision, nil
}

func (s *settings) Apply(_ uint64, e *Event) {
	switch b := e.Body.(type) {
	case *Event_TokenCreated:
		s.ids.Seen(b.TokenCreated.Id)
		s.tokens = append(s.tokens[:len(s.tokens):len(s.tokens)], b.TokenCreated)
	case *Event_TokenRevoked:
		var kept []*ApiToken
		for _, t := range s.tokens {
			if t.Id != b.TokenRevoked.Id {
				kept = append(kept, t)
			}
		}
		s.tokens = kept
	case *Event_AiKeySet:
		s.aiKey = b.AiKeySet.Sealed
	case *Event_AiUsed:
		s.aiUsage = usage.Add(s.aiUsage, b.AiUsed)
	}
}

func (s *settings) Capture() *View {
	return &View{Tokens: s.tokens, AIKey: s.aiKey, AIUsage: s.aiUsage}
}

func (s *settings) Restore(_ uint64, state []byte) error {
	var snap Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	s.tokens, s.aiKey, s.aiUsage = snap.Tokens, snap.AiKey, snap.AiUsage
	for _, t := range s.tokens {
		s.ids.Seen(t.Id)
	}
	return nil
}
