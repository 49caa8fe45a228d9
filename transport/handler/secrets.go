package handler

import (
	"bytes"

	"atelier/actors/token/seal"
	"atelier/transport/wire"
)

// Credentials in a request and its answer are wiped afterwards, because the memory of a
// process can be copied to other places. actors/token/DESIGN.md lists copies that are out
// of reach.

// own makes the call wipe a buffer when it ends.
func (c *call) own(b []byte) []byte {
	c.owned = append(c.owned, b)
	return b
}

// wipe overwrites what the call owns, and what the server holds of its request.
func (c *call) wipe() {
	for _, b := range c.owned {
		c.wiping(b)
		clear(b)
	}
	wire.WipeBody(c.RequestCtx, c.wiping)
}

// secretJSON is a JSON value of a request as it was sent, in a copy of its own.
type secretJSON []byte

// UnmarshalJSON keeps a copy.
func (s *secretJSON) UnmarshalJSON(b []byte) error {
	clear(*s) // a name that comes twice
	*s = bytes.Clone(b)
	return nil
}

// secretBody is an answer that is wiped when it has been handed to the
// connection, or will never be: that is when the server closes it.
type secretBody struct {
	*bytes.Reader
	secret seal.Secret
	wiping func([]byte)
}

func (c *call) secret(s seal.Secret) {
	c.SetContentType("application/json")
	c.Response.SetBodyStream(&secretBody{bytes.NewReader(s), s, c.wiping}, len(s))
}

// Close wipes the answer.
func (b *secretBody) Close() error {
	b.wiping(b.secret)
	b.secret.Wipe()
	return nil
}
