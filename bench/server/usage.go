package server

import "time"

// Usage is what a process takes of the machine.
type Usage struct {
	// Resident memory now and at its peak, bytes.
	RSS, PeakRSS int64
	// CPU is the processor time since the first start.
	CPU time.Duration
}
