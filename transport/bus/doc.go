// Package bus carries messages between the nodes of a cluster over NATS: a server
// of it inside each node, connected to the others, or one that runs elsewhere.
//
// It implements durable.Bus. Every message carries the name of its sender and a
// code that only those can make who know the cluster's secret: what comes to a
// node are commands, with who is allowed to give them already decided. So
// whoever can reach an outside NATS without the secret can disturb, but say
// nothing. Messages over 512 KiB go in parts, because NATS takes one MiB.
//
// Everything that comes is handled by one goroutine, in order, which never
// waits. What it cannot take is lost, as the contract allows: whoever misses
// something reads it from the log.
package bus
