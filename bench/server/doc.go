// Package server runs the server process of a load test on a temporary data folder and free ports.
// It can start, measure, pause and kill it, and start it again on the same data.
//
// [Remote] is a server that somebody else has started. It can only be measured.
//
// Both can be monitored while they run ([Watch]).
//
// A Process is not safe for concurrent use, except for Usage. The child dies with its parent.
package server
