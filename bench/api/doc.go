// Package api uses the workshop service's REST API like a browser: keep-alive connections, one
// session cookie per person, and the CSRF token in its header.
//
// A [Client] makes each request once. It reports a request without a response, and never repeats
// it. A test that kills the server must distinguish unsent requests, answered requests, and
// requests with an unknown outcome.
//
// A Client is safe for concurrent use. A Session is an immutable value. A [Conn] is one connection
// that costs the generator little, for scenarios with very many requests.
package api
