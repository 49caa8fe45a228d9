package settings

import (
	"cmp"
	"slices"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/actors/registry"
	"atelier/actors/usage"
)

// Caller is the acting account and its network address.
type Caller = registry.Caller

// Command is a command to the settings.
type Command = registry.Command[Body]

// Body is one kind of command.
type Body interface {
	// decide adds the command's decision to d, and changes nothing else.
	decide(d *decision) error
}

// Vocabulary contains all commands, with their replies.
var Vocabulary = durable.NewVocabulary[Body](
	durable.Says[CreateToken, *ApiToken](),
	durable.Says[RevokeToken, durable.Nothing](),
	durable.Says[SetAIKey, durable.Nothing](),
	durable.Says[NoteAIUse, durable.Nothing](),
)

const (
	maxTokens    = 200
	maxTokenDays = 3650
)

// Scopes of API tokens: all rights of a facilitator, reading, or importing codelabs and writing
// their code.
const (
	ScopeAll    = "all"
	ScopeRead   = "read"
	ScopeImport = "import"
)

// Scopes lists all scopes.
var Scopes = []string{ScopeAll, ScopeRead, ScopeImport}

// CreateToken creates an API token. The command contains only the hash of the token's secret. The
// reply is the new token.
type CreateToken struct {
	Name       string
	Scope      string // empty: ScopeAll
	Days       int    // lifetime; 0: unlimited
	SecretHash []byte
}

func (b CreateToken) decide(d *decision) error {
	name, err := registry.CheckName(b.Name)
	if err != nil {
		return err
	}
	scope := cmp.Or(b.Scope, ScopeAll)
	switch {
	case !slices.Contains(Scopes, scope):
		return durable.Reject(durable.Invalid, "scope must be %s", naming.Or(Scopes...))
	case b.Days < 0 || b.Days > maxTokenDays:
		return durable.Reject(durable.Invalid, "expires_in_days must be 1 to %d", maxTokenDays)
	}
	if len(d.core.tokens) >= maxTokens {
		return durable.Reject(durable.Conflict, "there are %d API tokens already; revoke one first", maxTokens)
	}
	t := &ApiToken{
		Id: d.core.ids.Next(d.Now), Name: name, SecretHash: b.SecretHash, CreatedAt: d.Now.UnixMilli(), Scope: scope,
	}
	if b.Days > 0 {
		t.ExpiresAt = d.Now.AddDate(0, 0, b.Days).UnixMilli()
	}
	d.Reply = t
	d.Event(&Event{Body: &Event_TokenCreated{TokenCreated: t}})
	d.Record(&audit.Record{Action: "api_token_create", TargetId: t.Id, Metadata: map[string]string{"scope": scope}})
	return nil
}

// RevokeToken revokes an API token.
type RevokeToken struct{ ID string }

func (b RevokeToken) decide(d *decision) error {
	if !slices.ContainsFunc(d.core.tokens, func(t *ApiToken) bool { return t.Id == b.ID }) {
		return durable.Reject(durable.Missing, "API token not found")
	}
	d.Event(&Event{Body: &Event_TokenRevoked{TokenRevoked: &TokenRevoked{Id: b.ID}}})
	d.Record(&audit.Record{Action: "api_token_revoke", TargetId: b.ID})
	return nil
}

// SetAIKey stores a sealed AI key without opening it. An empty value removes the key.
type SetAIKey struct{ Sealed []byte }

func (b SetAIKey) decide(d *decision) error {
	if len(b.Sealed) > maxSealed {
		return durable.Reject(durable.Invalid, "ai_api_key is too long")
	}
	d.Event(&Event{Body: &Event_AiKeySet{AiKeySet: &AIKeySet{Sealed: b.Sealed}}})
	about := map[string]string{"ai_api_key": "set"}
	if len(b.Sealed) == 0 {
		about["ai_api_key"] = "removed"
	}
	d.Record(&audit.Record{Action: "settings_update", Metadata: about})
	return nil
}

// NoteAIUse counts the usage of an admin's question outside codelabs.
type NoteAIUse struct{ Usage *usage.AIUsage }

func (b NoteAIUse) decide(d *decision) error {
	d.Event(&Event{Body: &Event_AiUsed{AiUsed: b.Usage}})
	return nil
}
