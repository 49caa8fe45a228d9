// Package webhook tells other systems over HTTP what happens here
// (transport/rest/RULES.md, "Webhooks").
//
// A delivery is a row that is committed with the event that it tells of, one for
// each webhook that wants the event (Outbox.Rows): it can neither be lost nor tell
// of what did not happen. Each webhook is an actor, which has one owner among the
// nodes; the owner sends what is due, one delivery at a time, and commits the outcome
// with the row's removal. A crash between the two repeats the delivery, so receivers
// get each at least once, and in no promised order.
//
// Bounds: MaxHooks webhooks, MaxWaiting deliveries that wait for each (counted by each
// node; more are dropped, counted and logged), MaxFailed that are kept as failed,
// MaxTries of which it is known how they went, and one goroutine and one connection for each webhook.
package webhook

//go:generate go run atelier/actors/internal/protogen
