package handler

import (
	"bytes"

	"atelier/actors/token/seal"
	"atelier/transport/wire"
)

// Credentials in a request and its response are wiped afterwards, because the memory of a process
// can be copied to other places. actors/token/DESIGN.md lists copies that cannot be wiped.

// own makes the call wipe a buffer when the call ends.
func (c *call) own(b []byte) []byte {
	c.owned = append(c.owned, b)
	return b
}

// wipe overwrites the buffers that the call owns, and the server's buffers of the request.
func (c *call) wipe() {
	for _, b := range c.owned {
		c.wiping(b)
		clear(b)
	}
	wire.WipeBody(c.RequestCtx, c.wiping)
}

// secretJSON is a raw JSON value of a request, in its own copy.
type secretJSON []byte

// UnmarshalJSON keeps a copy.
func (s *secretJSON) UnmarshalJSON(b []byte) error {
	clear(*s) // set before if the body has a duplicate member
	*s = bytes.Clone(b)
	return nil
}

// secretBody is a response that is wiped when the server closes it. The server closes every
// response, even if it cannot hand the response to the connection.
type secretBody struct {
	*bytes.Reader
	secret seal.Secret
	wiping func([]byte)
}

func (c *call) secret(s seal.Secret) {
	c.SetContentType("application/json")
	c.Response.SetBodyStream(&secretBody{bytes.NewReader(s), s, c.wiping}, len(s))
}

// Close wipes the response.
func (b *secretBody) Close() error {
	b.wiping(b.secret)
	b.secret.Wipe()
	return nil
}
