package live

// Reason says why a session ended.
type Reason uint8

const (
	// ReasonPeer: the client closed in due form.
	ReasonPeer Reason = iota
	// ReasonGone: the connection ended without a goodbye.
	ReasonGone
	// ReasonProtocol: the client broke RFC 6455; 1002, 1003, 1007 or 1009.
	ReasonProtocol
	// ReasonIdle: the client sent nothing for Options.IdleTimeout (1001).
	ReasonIdle
	// ReasonStalled: the client took no byte for Options.SlowTimeout (1013, which such a client
	// perhaps never reads).
	ReasonStalled
	// ReasonOverflow: the session's private queue was full (1013).
	ReasonOverflow
	// ReasonServer: the owner called Close.
	ReasonServer
	// ReasonDrain: the process is about to end (1012).
	ReasonDrain
	// ReasonShutdown: the hub was closed under the session.
	ReasonShutdown

	reasons
)

var reasonNames = [reasons]string{
	"peer", "gone", "protocol", "idle", "stalled", "overflow", "server", "drain", "shutdown",
}

func (r Reason) String() string { return reasonNames[r] }

// Resync is the reason for which a session must drop its position and read the state again.
// Its name is sent to the client.
type Resync uint8

const (
	// ResyncEpoch: the position belongs to another stream.
	ResyncEpoch Resync = iota
	// ResyncWindow: the position asked for is not in the room's window.
	ResyncWindow
	// ResyncOvertaken: the window moved past a connected session that was
	// reading too slowly.
	ResyncOvertaken
	// ResyncBytes: a connected session was more than Options.MaxBehind bytes
	// behind.
	ResyncBytes
	// ResyncTime: a connected session was behind for more than
	// Options.SlowTimeout.
	ResyncTime

	resyncs
)

var resyncNames = [resyncs]string{"epoch", "window", "overtaken", "bytes", "time"}

// ResyncNames returns the names of all reasons.
func ResyncNames() []string { return resyncNames[:] }

func (r Resync) String() string { return resyncNames[r] }
