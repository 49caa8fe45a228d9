// Package metrics shows Prometheus how a load test is going while it runs.
//
// A [Meter] adds up what workers report every second, so a scrape sees numbers that are
// up to a second old, and the counters of all runs of a search together. [Serve] serves
// them at /metrics, in the text format, to few at a time; it has no other path and
// tells nothing of servers, clients or credentials.
package metrics
