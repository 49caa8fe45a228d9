package catalog

import (
	"crypto/subtle"
	"fmt"
	"slices"

	"atelier/actors/catalog/catalogpb"
	"atelier/actors/durable"
	"atelier/actors/ids"
	"atelier/actors/internal/pbwire"
)

// SettingsHost runs the settings actor.
type SettingsHost = durable.Host[Command, *catalogpb.Event, SettingsView]

// SettingsID is the id of the one settings actor.
const SettingsID = "settings"

// SettingsView is the committed state of the settings. Immutable.
type SettingsView struct {
	Tokens []*catalogpb.ApiToken
	// AIKey is the sealed AI key; empty when there is none.
	AIKey []byte
	// AIUsage is what admins asked the AI about no codelab.
	AIUsage []*catalogpb.AIUsage
}

// Token finds the API token with this secret's hash, or nil.
func (v *SettingsView) Token(hash []byte) *catalogpb.ApiToken {
	var found *catalogpb.ApiToken
	for _, t := range v.Tokens { // all of them, so that time tells nothing
		if subtle.ConstantTimeCompare(t.SecretHash, hash) == 1 {
			found = t
		}
	}
	return found
}

// Has says that an API token was not revoked.
func (v *SettingsView) Has(id string) bool {
	return slices.ContainsFunc(v.Tokens, func(t *catalogpb.ApiToken) bool { return t.Id == id })
}

// SettingsKind describes the settings actor.
func SettingsKind(audit *Audit) durable.Kind[Command, *catalogpb.Event, SettingsView] {
	return durable.Kind[Command, *catalogpb.Event, SettingsView]{
		Name: "catalog",
		New: func(string) durable.Core[Command, *catalogpb.Event, SettingsView] {
			return &settings{audit: audit, ids: ids.NewSource("catalog")}
		},
		AppendEvent: durable.AppendMessage[*catalogpb.Event],
		ParseEvent: func(record []byte) (*catalogpb.Event, error) {
			e := &catalogpb.Event{}
			return e, e.Decode(record)
		},
		Erases: replacesKey,
		Erase:  eraseKeys,
		EncodeState: func(v *SettingsView) ([]byte, error) {
			return pbwire.Encode(&catalogpb.Snapshot{Tokens: v.Tokens, AiKey: v.AIKey, AiUsage: v.AIUsage}), nil
		},
	}
}

// settings is the pure core. Owned by its actor; the slice is replaced, never
// changed.
type settings struct {
	audit   *Audit
	ids     *ids.Source
	tokens  []*catalogpb.ApiToken
	aiKey   []byte
	aiUsage []*catalogpb.AIUsage
}

// Decide implements durable.Core.
func (s *settings) Decide(cmd Command, env durable.Env) (durable.Decision[*catalogpb.Event], error) {
	c := change{s: s, caller: cmd.Caller, env: env}
	if cmd.Body == nil {
		return c.Decision, durable.Reject(durable.Invalid, "unknown command")
	}
	if err := cmd.Body.decide(&c); err != nil {
		return durable.Decision[*catalogpb.Event]{}, err
	}
	for _, e := range c.Events {
		e.At = env.Now.UnixMilli()
	}
	return c.Decision, nil
}

func (s *settings) Apply(_ uint64, e *catalogpb.Event) {
	switch b := e.Body.(type) {
	case *catalogpb.Event_TokenCreated:
		s.ids.Seen(b.TokenCreated.Id)
		s.tokens = append(s.tokens[:len(s.tokens):len(s.tokens)], b.TokenCreated)
	case *catalogpb.Event_TokenRevoked:
		var kept []*catalogpb.ApiToken
		for _, t := range s.tokens {
			if t.Id != b.TokenRevoked.Id {
				kept = append(kept, t)
			}
		}
		s.tokens = kept
	case *catalogpb.Event_AiKeySet:
		s.aiKey = b.AiKeySet.Sealed
	case *catalogpb.Event_AiUsed:
		s.aiUsage = addUse(s.aiUsage, b.AiUsed)
	}
}

func (s *settings) Capture() *SettingsView {
	return &SettingsView{Tokens: s.tokens, AIKey: s.aiKey, AIUsage: s.aiUsage}
}

func (s *settings) Restore(_ uint64, state []byte) error {
	var snap catalogpb.Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	s.tokens, s.aiKey, s.aiUsage = snap.Tokens, snap.AiKey, snap.AiUsage
	for _, t := range s.tokens {
		s.ids.Seen(t.Id)
	}
	return nil
}
