// Package server runs the server process of a load test on a temporary data folder and free ports.
// It can start, measure, pause and kill the server, and restart it on the same data.
//
// [Remote] is a server that the load test has not started. It can only be measured.
//
// A [Target] is the server of a run, or all nodes if there are several. A [Tunnel] connects to a
// server that uses TLS.
//
// [Target.Watch] measures the servers of a target every second.
//
// A Process is not safe for concurrent use, except for Usage and InternalURL. The started process
// ends with its parent.
package server
