// Package httpapi is the HTTP request pipeline of all APIs. It routes requests to endpoints, and
// sets the request id and the headers of every response. It admits a request before it reads the
// body, bounds bodies, and handles "Expect: 100-continue", conditional responses, errors, logs and
// metrics. Each API adds a Call with its access, its action, and the form of its errors.
package httpapi
