package handler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelier/actors/login"
	"atelier/actors/participant"
	"atelier/transport/httpapi"
)

// accessTokenLife is the lifetime of OAuth access tokens.
const accessTokenLife = 10 * time.Minute

// authenticate identifies the caller by the secret of an API key or by an access token, and applies
// the participant's rate limit. The participant and the key must still be valid.
func (c *call) authenticate() error {
	if err := c.surely(c.identify); err != nil {
		return err
	}
	if wait := c.Limiter.Allow(c.who.Id); wait > 0 {
		return httpapi.ErrTooMany(wait)
	}
	return nil
}

func (c *call) identify() error {
	c.who = nil
	scheme, bearer, ok := strings.Cut(string(c.Request.Header.Peek("Authorization")), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return errUnauthorized
	}
	view, err := c.participants()
	if err != nil {
		return err
	}
	bearer = strings.TrimSpace(bearer)
	if keyID, ok := participant.KeyID(c.environment, bearer); ok {
		c.who = view.Authenticate(keyID, []byte(bearer))
		c.scopes = c.who.GetScopes()
	} else {
		c.who, c.scopes = c.verify(view, bearer)
	}
	if c.who == nil || c.who.Environment != c.environment {
		c.who = nil
		return errUnauthorized
	}
	c.SetWho("participant", c.who.Id)
	return nil
}

// admit authenticates the caller and checks a scope.
func (c *call) admit(scope string) error {
	if err := c.authenticate(); err != nil {
		return err
	}
	return c.surely(func() error {
		if !slices.Contains(c.scopes, scope) {
			return errScope
		}
		return nil
	})
}

// receives returns an error if the caller is not allowed to receive credentials, because it has not
// acknowledged the security duties.
func (c *call) receives() error {
	return c.surely(func() error {
		if c.who.Acknowledgement == nil {
			return errNotAcked
		}
		return nil
	})
}

// participants returns a recent state of the participants. Other nodes may have changed it since.
func (c *call) participants() (*participant.View, error) {
	if c.view == nil {
		h, err := c.Participants.Near(participant.ID, login.MaxAge)
		if err != nil {
			return nil, err
		}
		c.view = h.View()
	}
	return c.view, nil
}

// surely prevents refusals because of stale data. Another node can already have recorded and
// confirmed the permission that a check misses. If a check refuses the request, surely therefore
// gets the current data, and repeats the check if the data has changed.
func (c *call) surely(check func() error) error {
	err := check()
	if err == nil {
		return nil // before refused, which errors.As moves to the heap
	}
	var refused *refusal
	if !errors.As(err, &refused) || c.view == nil {
		return err
	}
	h, unknown := c.Participants.Get(participant.ID)
	if unknown != nil {
		return unknown
	}
	if h.View() == c.view {
		return err
	}
	c.view = h.View()
	if c.who != nil {
		if err := c.identify(); err != nil {
			return err
		}
	}
	return check()
}

// claims contains an access token's claims: the participant, the key, and the granted scopes.
// Whether the participant and the key still have these permissions is looked up at each use.
type claims struct {
	KeyID string `json:"key"`
	Scope string `json:"scope"`
	jwt.RegisteredClaims
}

// sign returns a signed access token.
func (c *call) sign(p *participant.Participant, keyID, scope string, now time.Time) (string, error) {
	version := c.vault.Ring().Newest()
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		KeyID: keyID, Scope: scope,
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: p.Id, Issuer: c.Document.Name, Audience: jwt.ClaimStrings{c.environment},
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(accessTokenLife)),
		},
	})
	t.Header["kid"] = strconv.FormatUint(uint64(version.Number), 10)
	return t.SignedString(version.SigningKey())
}

var errKid = errors.New("unknown key")

// verify returns the participant of an access token, and the scopes that both the token and the
// participant have. It returns nil if the token, the participant or the key is not valid.
func (c *call) verify(view *participant.View, bearer string) (*participant.Participant, []string) {
	var in claims
	_, err := jwt.ParseWithClaims(bearer, &in, func(t *jwt.Token) (any, error) {
		number, err := strconv.ParseUint(fmt.Sprint(t.Header["kid"]), 10, 32)
		if err != nil {
			return nil, errKid
		}
		if v := c.vault.Ring().Version(uint32(number)); v != nil {
			return v.SigningKey(), nil
		}
		return nil, errKid
	},
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience(c.environment), jwt.WithIssuer(c.Document.Name),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(c.Now))
	if err != nil {
		return nil, nil
	}
	p := view.Get(in.Subject)
	if p == nil || p.Disabled || participant.KeyOf(p, in.KeyID) == nil {
		return nil, nil
	}
	return p, scopesOf(p, in.Scope)
}

// scopesOf returns the participant's scopes that are in a list, in the participant's order.
func scopesOf(p *participant.Participant, list string) []string {
	var scopes []string
	for _, s := range p.Scopes {
		if slices.Contains(strings.Fields(list), s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}
