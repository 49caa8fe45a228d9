// Package webhook sends events of this server to other systems over HTTP
// (transport/rest/RULES.md, "Webhooks").
//
// A delivery is a row that is committed with its event, one for each webhook that
// subscribes to the event (Outbox.Rows). So no delivery is lost, and none is sent for an
// event that did not happen. Each webhook is an actor, which has one owner among the nodes.
// The owner sends the due deliveries, one at a time, and commits the outcome with the row's
// removal. A crash between the two repeats the delivery. So receivers get each delivery at
// least once, and in no guaranteed order.
//
// Bounds: there are at most MaxHooks webhooks. At most MaxWaiting deliveries wait for each, as
// counted by each node; more are dropped, counted and logged. Each keeps at most MaxFailed
// failed deliveries and the outcomes of MaxTries. Each has one goroutine and one connection.
package webhook

//go:generate go run atelier/actors/internal/protogen
