// Package api uses the REST interface of the workshop service like a browser: keep-alive
// connections, one session cookie per person, and the CSRF token in its header.
//
// A request is made once. Without an answer it is reported as such and never repeated here. A test
// that kills the server must distinguish requests that were not sent, were answered, or have an
// unknown outcome.
//
// A Client is safe for concurrent use. A Session is an immutable value.
package api
