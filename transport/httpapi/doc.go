// Package httpapi is the HTTP request pipeline of all interfaces. It has a table of endpoints,
// and sets the request id and the headers of every answer. It admits a request before it reads
// the body, bounds bodies, and handles "Expect: 100-continue", conditional answers, errors, logs
// and metrics. An interface adds a Call with its access, its action, and the form of its errors.
package httpapi
