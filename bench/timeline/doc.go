// Package timeline records the progress of a load test: each second of a run, and the resources
// that the generator and the server use.
//
// A [Meter] adds up the numbers of the workers for Prometheus, over all runs of a search. The
// numbers are up to a second old. [Serve] serves them at /metrics, in the text format, on at most
// 16 concurrent connections. It has no other path, and reveals nothing about servers, clients or
// credentials.
package timeline
