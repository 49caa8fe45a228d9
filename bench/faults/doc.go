// Package faults is what can be done to the servers of a load test while it runs:
// which faults there are, when each is due, how it is done, and how long the
// service took to be itself again.
package faults
