// Package metrics exports the progress of a running load test to Prometheus.
//
// A [Meter] adds up the numbers that workers report every second. So a scrape gets numbers
// that are up to a second old, and the counters of all runs of a search together. [Serve]
// serves them at /metrics, in the text format, to few clients at the same time. It has no
// other path and reveals nothing of servers, clients or credentials.
package metrics
