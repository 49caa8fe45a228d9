// Package faults injects faults into the servers of a load test. It contains the kinds of faults,
// plans their times, injects them, and measures how long the service takes to recover.
package faults
