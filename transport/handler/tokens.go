package handler

import (
	"time"

	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/actors/token/seal"
	"atelier/actors/token/tokenpb"
	"atelier/transport/wire"
)

// Limits of an Idempotency-Key's length, in bytes (RULES.md, "Life of a token"). The minimum makes
// keys hard to guess.
const minIdempotencyKey, maxIdempotencyKey = 22, 255

func (c *call) tokenize() error {
	if err := c.admit(participant.ScopeTokenize); err != nil {
		return err
	}
	var in tokenizeBody
	sent, err := c.decode(&in, false)
	c.own(in.Credential)
	if err != nil {
		return err
	}
	checkout, err := in.Binding.checkout()
	if err != nil {
		return err
	}
	key, err := c.idempotencyKey()
	if err != nil {
		return err
	}
	if key != "" {
		sent, err = wire.Canonical(c.own(make([]byte, 6*len(sent)))[:0], sent)
		if err != nil {
			return err
		}
	}
	accepted, err := credential.Parse(in.Credential, c.Credentials, c.Now())
	if err != nil {
		return err
	}
	bound, err := c.named(in.Binding.Identity)
	if err != nil {
		return err
	}
	policy, life := c.policyOf(bound)
	t, err := c.vault.Tokenize(c.caller(), token.Issue{
		Participant: bound.Id, Checkout: checkout, Credential: accepted, Policy: policy, Life: life,
		IdempotencyKey: key, Request: sent,
	})
	if err != nil {
		return err
	}
	return c.JSON(newToken{string(t)})
}

type tokenizeBody struct {
	Credential secretJSON `json:"credential" is:"Credential" as:"string"`
	Binding    *binding   `json:"binding"`
}

type newToken struct {
	Token string `json:"token" pattern:"^tok_(live|test)_[A-Za-z0-9_-]{43}$"`
}

// useBody is the request of an operation on a token.
type useBody struct {
	Token   *string  `json:"token"`
	Binding *binding `json:"binding"`
}

// idempotencyKey returns the request's Idempotency-Key, or "". An empty or duplicate header is an
// error, because the caller would not be protected.
func (c *call) idempotencyKey() (string, error) {
	keys := c.Request.Header.PeekAll("Idempotency-Key")
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", invalid("Idempotency-Key must be given once")
	case len(keys[0]) < minIdempotencyKey || len(keys[0]) > maxIdempotencyKey:
		return "", invalid("Idempotency-Key must have 22 to 255 characters")
	}
	return string(keys[0]), nil
}

// policyOf returns the policy and lifetime of a participant's tokens.
func (c *call) policyOf(p *participant.Participant) (tokenpb.Policy, time.Duration) {
	policy, _ := token.ParsePolicy(c.DefaultPolicy)
	life := c.DefaultLife
	if p.Policy != nil {
		policy, _ = token.ParsePolicy(p.Policy.Policy)
		if s := p.Policy.TtlSeconds; s != 0 {
			life = time.Duration(s) * time.Second
		}
	}
	if !policy.Life {
		life = c.vault.SessionCap()
	}
	return policy.Kind, life
}

// use reads the request of an operation on a token, and makes the decisions that these operations
// have in common before the look-up of the token. known is false if the token is malformed.
func (c *call) use() (u token.Use, known bool, err error) {
	if err := c.admit(participant.ScopeDetokenize); err != nil {
		return u, false, err
	}
	var in useBody
	if _, err := c.decode(&in, false); err != nil {
		return u, false, err
	}
	if in.Token == nil {
		return u, false, invalid("token is required")
	}
	if u.Checkout, err = in.Binding.checkout(); err != nil {
		return u, false, err
	}
	p, err := c.actsFor(in.Binding.Identity)
	if err != nil {
		return u, false, err
	}
	if p.Id != c.who.Id {
		if err := c.receives(); err != nil {
			return u, false, err
		}
	}
	u.Participant = p.Id
	// A token's form is public, so malformed tokens can be refused without a look-up.
	u.Token, known = seal.ParseToken(c.vault.Environment(), *in.Token)
	return u, known, nil
}

func (c *call) detokenize() error {
	u, known, err := c.use()
	if err == nil {
		err = c.receives()
	}
	if err == nil && !known {
		err = token.NotFound
	}
	if err != nil {
		return err
	}
	clear, err := c.vault.Detokenize(c.caller(), u)
	if err != nil {
		return err
	}
	c.secret(clear)
	return nil
}

func (c *call) revoke() error {
	u, known, err := c.use()
	if err == nil && !known {
		err = token.NotFound
	}
	if err == nil {
		err = c.vault.Revoke(c.caller(), u)
	}
	if err != nil {
		return err
	}
	return c.NoContent()
}

func (c *call) introspect() error {
	u, known, err := c.use()
	if err == nil && !known {
		err = token.NotFound
	}
	if err != nil {
		return err
	}
	s, err := c.vault.Introspect(c.caller(), u)
	if err != nil {
		return err
	}
	return c.JSON(introspection{
		token.PolicyName(s.Policy), string(s.State), wire.Stamp(s.ExpiresAt), s.Display.Type,
		wire.OrNull(s.Display.Brand), wire.OrNull(s.Display.LastFour),
	})
}

type introspection struct {
	Policy    string  `json:"policy" enum:"single_use|ttl|session"`
	State     string  `json:"state" enum:"active|redeemed|expired|revoked|session_ended|locked"`
	ExpiresAt string  `json:"expires_at" format:"date-time"`
	Type      string  `json:"type"`
	Brand     *string `json:"brand"`
	LastFour  *string `json:"last_four"`
}

// endSession ends a checkout session of the caller, or of the participant named in the body.
func (c *call) endSession() error {
	if err := c.admit(participant.ScopeDetokenize); err != nil {
		return err
	}
	checkout := c.Param("checkout_id")
	if err := checkCheckout(checkout); err != nil {
		return err
	}
	var in endBody
	if _, err := c.decode(&in, true); err != nil {
		return err
	}
	if in.Identity != nil && in.Identity.AccessToken == nil {
		return invalid("identity.access_token is required")
	}
	p, err := c.actsFor(in.Identity)
	if err != nil {
		return err
	}
	if err := c.vault.EndSession(c.caller(), p.Id, checkout); err != nil {
		return err
	}
	return c.NoContent()
}

type endBody struct {
	Identity *identity `json:"identity" optional:"true"`
}
