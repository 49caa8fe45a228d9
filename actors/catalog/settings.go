package catalog

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"unicode/utf8"

	"atelier/actors/catalog/catalogpb"
	"atelier/actors/durable"
	"atelier/actors/ids"
	"atelier/actors/naming"
)

// SettingsHost runs the settings actor.
type SettingsHost = durable.Host[*catalogpb.Command, *catalogpb.Event, SettingsView]

// SettingsID is the id of the one settings actor.
const SettingsID = "settings"

const maxTokens = 200

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
func SettingsKind(audit *Audit) durable.Kind[*catalogpb.Command, *catalogpb.Event, SettingsView] {
	return durable.Kind[*catalogpb.Command, *catalogpb.Event, SettingsView]{
		Name: "catalog",
		New: func(string) durable.Core[*catalogpb.Command, *catalogpb.Event, SettingsView] {
			return &settings{audit: audit, ids: ids.NewSource("catalog")}
		},
		AppendEvent: durable.AppendMessage[*catalogpb.Event],
		ParseEvent: func(record []byte) (*catalogpb.Event, error) {
			e := &catalogpb.Event{}
			return e, e.UnmarshalVT(record)
		},
		Erases: replacesKey,
		Erase:  eraseKeys,
		EncodeState: func(v *SettingsView) ([]byte, error) {
			return (&catalogpb.Snapshot{Tokens: v.Tokens, AiKey: v.AIKey, AiUsage: v.AIUsage}).MarshalVT()
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

func (s *settings) Decide(cmd *catalogpb.Command, env durable.Env) (durable.Decision[*catalogpb.Event], error) {
	var d durable.Decision[*catalogpb.Event]
	now := env.Now.UnixMilli()
	record := func(action, target string, about map[string]string) {
		d.Rows = s.audit.Rows(&catalogpb.AuditRecord{
			Id: s.ids.Next(env.Now), Action: action, ActorType: "admin", ActorId: cmd.Caller.AdminId, TargetId: target,
			Ip: cmd.Caller.Ip, UserAgent: cmd.Caller.UserAgent, Metadata: about, CreatedAt: now,
		})
	}
	switch b := cmd.Body.(type) {
	case *catalogpb.Command_CreateToken:
		name, ok := naming.Line(b.CreateToken.Name)
		if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 80 {
			return d, durable.Reject(durable.Invalid, "name must be one line of 1 to 80 characters")
		}
		if len(s.tokens) >= maxTokens {
			return d, durable.Reject(durable.Conflict, "there are %d API tokens already; revoke one first", maxTokens)
		}
		t := &catalogpb.ApiToken{Id: s.ids.Next(env.Now), Name: name, SecretHash: b.CreateToken.SecretHash, CreatedAt: now}
		d.Reply = t
		d.Events = []*catalogpb.Event{{At: now, Body: &catalogpb.Event_TokenCreated{TokenCreated: t}}}
		record("api_token_create", t.Id, nil)
	case *catalogpb.Command_RevokeToken:
		found := false
		for _, t := range s.tokens {
			found = found || t.Id == b.RevokeToken.Id
		}
		if !found {
			return d, durable.Reject(durable.Missing, "API token not found")
		}
		d.Events = []*catalogpb.Event{{At: now, Body: &catalogpb.Event_TokenRevoked{TokenRevoked: &catalogpb.TokenRevoked{Id: b.RevokeToken.Id}}}}
		record("api_token_revoke", b.RevokeToken.Id, nil)
	case *catalogpb.Command_SetAiKey:
		var err error
		if d, err = setAIKey(b.SetAiKey, now); err != nil {
			return d, err
		}
		about := map[string]string{"ai_api_key": "set"}
		if len(b.SetAiKey.Sealed) == 0 {
			about["ai_api_key"] = "removed"
		}
		record("settings_update", "", about)
	case *catalogpb.Command_NoteAiUse:
		d.Events = []*catalogpb.Event{{At: now, Body: &catalogpb.Event_AiUsed{AiUsed: b.NoteAiUse}}}
	default:
		return d, durable.Reject(durable.Invalid, "unknown command")
	}
	return d, nil
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
	if err := snap.UnmarshalVT(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	s.tokens, s.aiKey, s.aiUsage = snap.Tokens, snap.AiKey, snap.AiUsage
	for _, t := range s.tokens {
		s.ids.Seen(t.Id)
	}
	return nil
}
