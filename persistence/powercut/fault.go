package powercut

import "syscall"

// Call is the description of a call for choosing faults.
type Call struct {
	Kind Kind
	// Path is the path of the call's file; if the call creates a name, the new one.
	Path string
	// Mapped, of a write: it is from mapped memory.
	Mapped bool
}

// Fault is the fault of a call; the zero value means none.
type Fault struct {
	// Err, if set, is returned by the call, which does nothing else. After a failed sync of a file
	// its data is lost: it counts as unsynced forever.
	Err syscall.Errno
	// Short, if set, is the number of bytes written by a longer write. Writes from mapped memory
	// are never short.
	Short int
}
