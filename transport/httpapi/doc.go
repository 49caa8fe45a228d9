// Package httpapi is the way that a request takes, for everything that speaks
// HTTP: a table of endpoints, the request id and the headers of every answer,
// admission before the body is read, bodies within limits, "Expect:
// 100-continue", conditional answers, errors, and what the log and the metrics
// hear of it. What an interface adds is a Call: who may call, what is done, and
// how an error looks.
package httpapi
