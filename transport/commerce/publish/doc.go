// Package publish serves the commerce protocol: the business profile at /.well-known/commerce, the
// published schemas below /schemas/, and the negotiation. It is the only package of the toolkit
// that depends on the HTTP server.
//
// A Business is built from configuration at startup, and refused if it violates a convention or
// does not match the published schemas. An Endpoint bounds the concurrent negotiations that fetch a
// profile, and responds to further ones with 503.
package publish
