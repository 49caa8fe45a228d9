package settings

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/actors/usage"
)

// Caller is the acting admin and their address, for the audit trail.
type Caller struct{ AdminID, IP, UserAgent string }

// Command is a command to the settings. It is plain data.
type Command struct {
	Caller Caller
	Body   Body
}

// Body is one kind of command.
type Body interface {
	// decide adds the command's decision to c, and changes nothing else.
	decide(c *change) error
}

// Vocabulary contains all commands, with their replies.
var Vocabulary = durable.NewVocabulary[Body](
	durable.Says[CreateToken, *ApiToken](),
	durable.Says[RevokeToken, durable.Nothing](),
	durable.Says[SetAIKey, durable.Nothing](),
	durable.Says[NoteAIUse, durable.Nothing](),
)

// codec encodes commands for the node that owns the actor. No command is repeatable.
var codec = durable.JSONCodec(Vocabulary,
	func(c Command) (Body, Caller) { return c.Body, c.Caller },
	func(body Body, caller Caller) Command { return Command{Caller: caller, Body: body} },
	func(Command) bool { return false },
)

// change is a command being decided.
type change struct {
	durable.Decision[*Event]
	s      *settings
	caller Caller
	env    durable.Env
}

func (c *change) record(action, target string, about map[string]string) {
	c.Rows = c.s.audit.Rows(&audit.Record{
		Action: action, ActorType: "admin", ActorId: c.caller.AdminID, TargetId: target,
		Ip: c.caller.IP, UserAgent: c.caller.UserAgent, Metadata: about, CreatedAt: c.env.Now.UnixMilli(),
	})
}

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

// CreateToken creates an API token; its secret is never sent here. The reply is its *ApiToken.
type CreateToken struct {
	Name       string
	Scope      string // empty: ScopeAll
	Days       int    // lifetime; 0: unlimited
	SecretHash []byte
}

func (b CreateToken) decide(c *change) error {
	name, ok := naming.Line(b.Name)
	if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 80 {
		return durable.Reject(durable.Invalid, "name must be one line of 1 to 80 characters")
	}
	scope := cmp.Or(b.Scope, ScopeAll)
	switch {
	case !slices.Contains(Scopes, scope):
		return durable.Reject(durable.Invalid, "scope must be %s", naming.Or(Scopes...))
	case b.Days < 0 || b.Days > maxTokenDays:
		return durable.Reject(durable.Invalid, "expires_in_days must be 1 to %d", maxTokenDays)
	}
	if len(c.s.tokens) >= maxTokens {
		return durable.Reject(durable.Conflict, "there are %d API tokens already; revoke one first", maxTokens)
	}
	t := &ApiToken{
		Id: c.s.ids.Next(c.env.Now), Name: name, SecretHash: b.SecretHash, CreatedAt: c.env.Now.UnixMilli(), Scope: scope,
	}
	if b.Days > 0 {
		t.ExpiresAt = c.env.Now.AddDate(0, 0, b.Days).UnixMilli()
	}
	c.Reply = t
	c.Events = []*Event{{Body: &Event_TokenCreated{TokenCreated: t}}}
	c.record("api_token_create", t.Id, map[string]string{"scope": scope})
	return nil
}

// RevokeToken revokes an API token.
type RevokeToken struct{ ID string }

func (b RevokeToken) decide(c *change) error {
	if !slices.ContainsFunc(c.s.tokens, func(t *ApiToken) bool { return t.Id == b.ID }) {
		return durable.Reject(durable.Missing, "API token not found")
	}
	c.Events = []*Event{{Body: &Event_TokenRevoked{TokenRevoked: &TokenRevoked{Id: b.ID}}}}
	c.record("api_token_revoke", b.ID, nil)
	return nil
}

// SetAIKey stores the sealed key unchanged, without examining it. An empty value removes the key.
type SetAIKey struct{ Sealed []byte }

func (b SetAIKey) decide(c *change) error {
	if len(b.Sealed) > maxSealed {
		return durable.Reject(durable.Invalid, "ai_api_key is too long")
	}
	c.Events = []*Event{{Body: &Event_AiKeySet{AiKeySet: &AIKeySet{Sealed: b.Sealed}}}}
	about := map[string]string{"ai_api_key": "set"}
	if len(b.Sealed) == 0 {
		about["ai_api_key"] = "removed"
	}
	c.record("settings_update", "", about)
	return nil
}

// NoteAIUse counts the usage of an admin's question outside codelabs.
type NoteAIUse struct{ Usage *usage.AIUsage }

func (b NoteAIUse) decide(c *change) error {
	c.Events = []*Event{{Body: &Event_AiUsed{AiUsed: b.Usage}}}
	return nil
}
