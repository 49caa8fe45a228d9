package handler

import (
	"unicode/utf8"

	"atelier/actors/participant"
)

// checkoutType is the accepted type of a binding's checkout.
const checkoutType = "dev.commerce.checkout"

// maxCheckout bounds a checkout's id, in bytes.
const maxCheckout = 255

// binding ties a token to a checkout and a participant.
type binding struct {
	CheckoutID *string   `json:"checkout_id" length:"1..255" doc:"1 to 255 bytes, opaque."`
	Identity   *identity `json:"identity" optional:"true"`
	Type       *string   `json:"type" optional:"true" const:"dev.commerce.checkout"`
	ID         *string   `json:"id" optional:"true" doc:"The same checkout id. Required if type is set."`
}

// identity is the participant that the caller represents.
type identity struct {
	AccessToken *string `json:"access_token" doc:"The participant's identity: a public name, never an authenticator."`
}

// checkout checks the binding's shape and returns the checkout's id, which is opaque.
func (b *binding) checkout() (string, error) {
	switch {
	case b == nil:
		return "", invalid("binding is required")
	case b.CheckoutID == nil:
		return "", invalid("binding.checkout_id is required")
	case b.Identity != nil && b.Identity.AccessToken == nil:
		return "", invalid("binding.identity.access_token is required")
	case b.Type != nil && *b.Type != checkoutType:
		return "", invalid("binding.type must be " + checkoutType)
	case b.Type != nil && b.ID == nil:
		return "", invalid("binding.id is required beside binding.type")
	case b.Type != nil && *b.ID != *b.CheckoutID:
		return "", invalid("binding.id and binding.checkout_id must name the same checkout")
	}
	return *b.CheckoutID, checkCheckout(*b.CheckoutID)
}

func checkCheckout(id string) error {
	if len(id) < 1 || len(id) > maxCheckout || !utf8.ValidString(id) {
		return invalid("checkout_id must have 1 to 255 bytes")
	}
	return nil
}

// named returns the participant in an identity, or the caller if there is no identity.
func (c *call) named(in *identity) (p *participant.Participant, err error) {
	err = c.surely(func() (err error) {
		p, err = c.lookUp(in)
		return err
	})
	return p, err
}

// actsFor returns the participant like named, for operations that disclose credentials. The caller
// must be this participant or have its grant.
func (c *call) actsFor(in *identity) (p *participant.Participant, err error) {
	err = c.surely(func() (err error) {
		if p, err = c.lookUp(in); err == nil && !participant.MayActFor(c.who, p) {
			err = errNotForThem
		}
		return err
	})
	return p, err
}

func (c *call) lookUp(in *identity) (*participant.Participant, error) {
	if in == nil || in.AccessToken == nil {
		return c.who, nil
	}
	view, err := c.participants()
	if err != nil {
		return nil, err
	}
	p := view.ByIdentity(*in.AccessToken)
	if p == nil || p.Disabled || p.Environment != c.environment {
		return nil, errNotForThem
	}
	return p, nil
}
