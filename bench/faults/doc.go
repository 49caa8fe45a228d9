// Package faults injects faults into the servers of a load test. It has the kinds of
// faults, when each is due, how it is injected, and how long the service took to recover.
package faults
