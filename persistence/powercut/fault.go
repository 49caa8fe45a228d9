package powercut

import "syscall"

// Call describes a call, to choose faults.
type Call struct {
	Kind Kind
	// Path is the path of the call's file. For a call that creates a name, it is the new path.
	Path string
	// Mapped reports whether a write comes from mapped memory.
	Mapped bool
}

// Fault is the fault of a call; the zero value is none.
type Fault struct {
	// Err, if set, is returned instead of executing the call. After a failed sync of a file, the
	// file's earlier unsynced data counts as unsynced forever.
	Err syscall.Errno
	// Short, if set, limits the bytes of a longer write. Writes from mapped memory are never short.
	Short int
}
