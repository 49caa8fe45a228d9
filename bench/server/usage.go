package server

import "time"

// Usage is the use of the machine's resources by a process.
type Usage struct {
	// Resident memory now and at its peak, bytes.
	RSS, PeakRSS int64
	// CPU is the processor time since the first start.
	CPU time.Duration
}

// Bus counts the messages between nodes since their start.
type Bus struct {
	// Sent and Received messages, Bytes of those sent.
	Sent, Received, Bytes int64
}

func (b *Bus) add(more Bus) {
	b.Sent += more.Sent
	b.Received += more.Received
	b.Bytes += more.Bytes
}
