package live

import (
	"runtime"
	"time"
)

// Options configures a Hub. A zero field takes its default.
type Options struct {
	// Loops is the number of event loops. Default the number of processors.
	Loops int
	// MaxMessage is the maximum size of a client's message, in bytes. A longer one closes the
	// connection with 1009. Default 128 KiB, room for 64 KiB of signalling with every character
	// escaped.
	MaxMessage int
	// MessageRate is how many messages a second one connection may send, and
	// MessageBurst how many at once. A rate of 0 is no limit; a burst of 0 is
	// twice the rate.
	MessageRate, MessageBurst float64
	// PingInterval is the silence after which a WebSocket client is pinged.
	// Default 30 s.
	PingInterval time.Duration
	// IdleTimeout is the silence after which it is given up. Default 75 s.
	IdleTimeout time.Duration
	// Heartbeat is the maximum interval of heartbeats to an SSE client; each session's is a
	// little shorter, so that not all are in one tick. Default 14 s, so that a tick later
	// it is 15.
	Heartbeat time.Duration
	// SlowTimeout is the time without a byte taken after which a session is closed, and the time
	// behind after which it has to resync. Default 20 s.
	SlowTimeout time.Duration
	// MaxBehind is how many payload bytes a session may fall behind before it
	// has to resync. A returning session that is being caught up is excused.
	// Default 8 MiB.
	MaxBehind uint64
	// PrivateBytes bounds what waits in one session's private queue; more
	// closes it. Default 256 KiB.
	PrivateBytes int
	// SignalBytes bounds, for each loop, the payloads of SendPerson and
	// SendFacilitators that wait to be distributed. Default 16 MiB.
	SignalBytes int
	// CloseGrace is the time limit for a client to receive and answer the close frame. Default 5
	// s.
	CloseGrace time.Duration
	// SendBuffer is SO_SNDBUF, which bounds what a stuck client swallows of
	// the kernel's memory. Default 64 kB.
	SendBuffer int
	// Delivered, if set, is called after each fan-out with the time from the publication of
	// its oldest frame until it was written to every session that keeps up. It must not
	// block.
	Delivered func(took time.Duration)
	// Tick is the resolution of every time above. Default 1 s.
	Tick time.Duration

	// writesBetweenPolls is how many writes of a fan-out go by before the loop
	// looks for messages that came in. Default 256: at 5 us a write, about a
	// millisecond. Tests look after every write.
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

// set gives a field that is still zero its default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
