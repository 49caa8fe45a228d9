package live

// Reason is the reason for which a session ended.
type Reason uint8

const (
	// ReasonPeer: the client closed with a close frame.
	ReasonPeer Reason = iota
	// ReasonGone: the connection ended or failed without a close frame.
	ReasonGone
	// ReasonProtocol: the client broke RFC 6455 (closed with 1002, 1003, 1007 or 1009).
	ReasonProtocol
	// ReasonIdle: the client sent nothing for Options.IdleTimeout and did not answer a ping (1001).
	ReasonIdle
	// ReasonStalled: the client accepted no byte for Options.SlowTimeout. The connection is aborted
	// without a close frame, because such a client would not accept the frame.
	ReasonStalled
	// ReasonOverflow: the session's private queue was full (1013).
	ReasonOverflow
	// ReasonServer: the owner called Close.
	ReasonServer
	// ReasonDrain: Drain closed the session (1012).
	ReasonDrain
	// ReasonShutdown: the hub was closed while the session was open.
	ReasonShutdown

	reasons
)

var reasonNames = [reasons]string{
	"peer", "gone", "protocol", "idle", "stalled", "overflow", "server", "drain", "shutdown",
}

func (r Reason) String() string { return reasonNames[r] }

// Resync is the reason for which a session must drop its position and read the state again. Its
// name is sent to the client.
type Resync uint8

const (
	// ResyncEpoch: the position belongs to another epoch.
	ResyncEpoch Resync = iota
	// ResyncWindow: the requested position is not in the room's window.
	ResyncWindow
	// ResyncOvertaken: the position of a connected session left the window before the next frames
	// were written to the session.
	ResyncOvertaken
	// ResyncBytes: a connected session lagged by more than Options.MaxBehind bytes.
	ResyncBytes
	// ResyncTime: a connected session lagged for longer than Options.SlowTimeout.
	ResyncTime

	resyncs
)

var resyncNames = [resyncs]string{"epoch", "window", "overtaken", "bytes", "time"}

// ResyncNames returns the names of all reasons.
func ResyncNames() []string { return resyncNames[:] }

func (r Resync) String() string { return resyncNames[r] }
