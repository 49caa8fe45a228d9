// Package publish is what a server serves of the commerce protocol: its business
// profile at /.well-known/commerce, the published schemas below /schemas/, and
// the negotiation. It is the only package of the toolkit that knows the HTTP
// server.
//
// A Business is made from configuration at the start, and refused when it breaks
// a convention or does not fit the published schemas. An Endpoint bounds the
// concurrent negotiations that fetch a profile, and answers the others with 503.
package publish
