package live

import (
	"runtime"
	"time"
)

// Options configures a Hub. Zero fields have their defaults.
type Options struct {
	// Loops is the number of event loops. Default: the number of CPUs.
	Loops int
	// MaxMessage is the maximum size of a client's message, in bytes. A longer one closes the
	// connection with 1009. Default 128 KiB, enough for 64 KiB of signalling with every character
	// escaped.
	MaxMessage int
	// MessageRate is the maximum rate of messages per connection and second. MessageBurst is the
	// maximum burst. A rate of 0 means no limit. A burst of 0 means twice the rate.
	MessageRate, MessageBurst float64
	// PingInterval is the silence after which a WebSocket client is pinged. Default 30 s.
	PingInterval time.Duration
	// IdleTimeout is the silence after which a WebSocket client is disconnected. On Linux it is also
	// the time after which a TCP connection with unacknowledged data ends. Default 75 s.
	IdleTimeout time.Duration
	// Heartbeat is the longest interval between heartbeats to an SSE client. Most sessions have an
	// interval up to a fifth shorter, so that the heartbeats are spread over ticks. Intervals are
	// checked once per tick, so a heartbeat can be a tick late. Default 14 s.
	Heartbeat time.Duration
	// SlowTimeout is the time after which a session that accepts no byte is closed, and after which
	// a session that lags must resync. Default 20 s.
	SlowTimeout time.Duration
	// MaxBehind is the maximum number of payload bytes by which a session can lag. A session that
	// lags by more must resync. Default 8 MiB.
	// Until a returning session has caught up, its lag is limited neither in bytes nor in time.
	MaxBehind uint64
	// PrivateBytes bounds a session's private queue; an overflow closes the session. Default 256
	// KiB.
	PrivateBytes int
	// SignalBytes bounds, per loop, the queued payloads of SendPerson and SendFacilitators. Default
	// 16 MiB.
	SignalBytes int
	// CloseGrace is the time for a client to receive and answer the close frame. Default 5 s.
	CloseGrace time.Duration
	// SendBuffer is SO_SNDBUF, which bounds the kernel memory of a client that does not read.
	// Default 64 KiB.
	SendBuffer int
	// Delivered, if set, is called after a loop has sent the new frames of a room. took is the time
	// from the publication of the oldest of these frames until all of them were written to every
	// session that keeps up. Delivered is called on loop goroutines and must not block.
	Delivered func(took time.Duration)
	// Tick is the resolution of the intervals and time limits above. Default 1 s.
	Tick time.Duration

	// writesBetweenPolls is the number of writes of a fan-out between two polls for incoming
	// messages. Default 256, which takes about a millisecond at 5 us per write. Some tests poll
	// after every write.
	writesBetweenPolls int
}

func (o Options) withDefaults() Options {
	set(&o.Loops, runtime.NumCPU())
	set(&o.MaxMessage, 128<<10)
	set(&o.MessageBurst, 2*o.MessageRate)
	set(&o.PingInterval, 30*time.Second)
	set(&o.IdleTimeout, 75*time.Second)
	set(&o.Heartbeat, 14*time.Second)
	set(&o.SlowTimeout, 20*time.Second)
	set(&o.MaxBehind, 8<<20)
	set(&o.PrivateBytes, 256<<10)
	set(&o.SignalBytes, 16<<20)
	set(&o.CloseGrace, 5*time.Second)
	set(&o.SendBuffer, 64<<10)
	set(&o.Tick, time.Second)
	set(&o.writesBetweenPolls, 256)
	return o
}

// set sets a zero field to its default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
