// Package api speaks the REST interface of the workshop service as a browser
// does: keep-alive connections, one session of cookies per person, the CSRF
// token in its header.
//
// A request is made once. What got no answer is reported as such and never
// repeated here: in a test that kills the server the difference between "was
// not sent", "nobody knows" and "was answered" is what counts.
//
// A Client may be used from any goroutine. A Session is an immutable value.
package api
