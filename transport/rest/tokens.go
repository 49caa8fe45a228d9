package rest

import (
	"cmp"
	"crypto/sha256"

	"atelier/actors/settings"
	"atelier/transport/auth"
	"atelier/transport/wire"
)

type tokenRecord struct {
	ID        string  `json:"id" is:"Id"`
	Name      string  `json:"name"`
	Scope     string  `json:"scope" enum:"all|read|import"`
	CreatedAt string  `json:"created_at" is:"Timestamp"`
	ExpiresAt *string `json:"expires_at" is:"Timestamp"`
}

// setting sends a command to the settings' actor and returns its result.
func (r *Request) setting(b settings.Body) (any, error) {
	h, err := r.api.Settings.Get(settings.ID)
	if err != nil {
		return nil, err
	}
	v, _, err := h.Ask(settings.Command{Caller: r.adminCaller(), Body: b})
	return v, err
}

type tokenCreateBody struct {
	Name  *string `json:"name" length:"1..80" doc:"Trimmed."`
	Scope string  `json:"scope,omitempty" enum:"all|read|import" doc:"«all», the default, has the permissions of a facilitator and can also onboard participants. «read» allows GET, and live connections that only receive. «import» can import codelabs, write their code and read codelabs. Anything else gets 403 «insufficient_scope». Tokens cannot manage people, tokens or settings."`
	Days  *int    `json:"expires_in_days,omitempty" range:"1..3650" doc:"Without it the token does not expire."`
}

type newTokenRecord struct {
	ID    string `json:"id" is:"Id"`
	Token string `json:"token" pattern:"^atl_[A-Za-z0-9_-]{43}$"`
}

func createToken(r *Request) error {
	var in tokenCreateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if in.Days != nil && *in.Days < 1 {
		return wire.Invalid("expires_in_days must be 1 or more")
	}
	token := auth.TokenPrefix + auth.Random(32)
	hash := sha256.Sum256([]byte(token))
	v, err := r.setting(settings.CreateToken{Name: *in.Name, Scope: in.Scope, Days: or(in.Days, 0), SecretHash: hash[:]})
	if err != nil {
		return err
	}
	return r.JSON(newTokenRecord{v.(*settings.ApiToken).Id, token})
}

func listTokens(r *Request) error {
	h, err := r.api.Settings.Get(settings.ID)
	if err != nil {
		return err
	}
	out := []tokenRecord{}
	for _, t := range h.View().Tokens {
		out = append(out, tokenRecord{t.Id, t.Name, cmp.Or(t.Scope, settings.ScopeAll), wire.Stamp(t.CreatedAt), wire.StampOrNull(t.ExpiresAt)})
	}
	return r.JSON(out)
}

func revokeToken(r *Request) error {
	id := r.Param("token_id")
	_, err := r.setting(settings.RevokeToken{ID: id})
	if err != nil {
		return err
	}
	r.api.Auth.Revoked(id)
	return r.NoContent()
}
