// Package httpapi is the HTTP request pipeline of all interfaces: a table of endpoints, the
// request id and the headers of every answer, admission before the body is read, bodies
// within limits, "Expect: 100-continue", conditional answers, errors, logs and metrics. An
// interface adds a Call: its access, its action, and the form of its errors.
package httpapi
