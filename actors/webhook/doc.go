// Package webhook sends events of this server to other systems over HTTP (transport/rest/RULES.md,
// "Webhooks").
//
// A delivery is a row that is committed with its event. There is one for each webhook that
// subscribes to the event (Outbox.Rows). As a result, a crash loses no delivery, and no delivery is
// sent for an event that did not happen. Each webhook is an actor, which one node owns. The owner
// sends the due deliveries, one at a time, and commits each result together with the removal of the
// delivery's row. A crash between sending and committing repeats the delivery. Receivers can
// therefore get a delivery more than once, and deliveries in any order.
//
// Bounds: there are at most MaxHooks webhooks. At most MaxWaiting deliveries wait for each,
// according to each node's own count. Further deliveries are dropped, counted and logged. Each
// webhook keeps at most MaxFailed failed deliveries and MaxTries results, and has one goroutine and
// one connection.
package webhook

//go:generate go run atelier/actors/internal/protogen
