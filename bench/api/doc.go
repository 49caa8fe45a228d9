// Package api speaks the REST interface of the workshop service as a browser
// does: keep-alive connections, one session of cookies per person, the CSRF
// token in its header.
//
// A request is made once. One without an answer is reported as such and never
// repeated here: a test that kills the server needs the difference between "was
// not sent", "nobody knows" and "was answered".
//
// A Client may be used from any goroutine. A Session is an immutable value.
package api
