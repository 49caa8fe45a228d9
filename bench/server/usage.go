package server

import "time"

// Usage is the resource usage of a process.
type Usage struct {
	// RSS and PeakRSS are the current and peak resident memory, in bytes.
	RSS, PeakRSS int64
	// CPU is the CPU time since the first start of the process.
	CPU time.Duration
}

// Bus counts the messages between nodes since their start.
type Bus struct {
	// Sent and Received are numbers of messages. Bytes is the size of the sent messages.
	Sent, Received, Bytes int64
}

func (b *Bus) add(more Bus) {
	b.Sent += more.Sent
	b.Received += more.Received
	b.Bytes += more.Bytes
}
