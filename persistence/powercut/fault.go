package powercut

import "syscall"

// Call is what a fault may be chosen by.
type Call struct {
	Kind Kind
	// Path is the path of the call's file; if the call makes a name, the new one.
	Path string
	// Mapped, of a write: it comes from mapped memory.
	Mapped bool
}

// Fault is the fault that a call meets; the zero value means no fault.
type Fault struct {
	// Err, if set, is what the call returns, and nothing else happens. The sync of a
	// file that fails has lost what it was to write: it counts as unsynced for good.
	Err syscall.Errno
	// Short, if set, is how many bytes are written of more. Writes from mapped
	// memory are never short.
	Short int
}
