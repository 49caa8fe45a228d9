// Package server runs a server process of a load test's own: on a temporary
// data folder and free ports, started, weighed, paused, killed and started
// again on the same data.
//
// [Remote] is a server that somebody else has started, which can only be asked.
//
// Both can be watched while they work ([Watch]).
//
// A Process is for one goroutine at a time, but for Usage. The child dies with its parent.
package server
