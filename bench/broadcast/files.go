//go:build linux

package broadcast

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spareFiles is the number of descriptors that are reserved for files other than connections.
const spareFiles = 32

// enoughFiles refuses a job whose connections need more files than this process can open.
// Otherwise, clients without a file descriptor would look as if the server refused them.
func enoughFiles(job *Job) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read file limit: %w", err)
	}
	clients := len(job.Subscribers) + len(job.Publishers)
	need := clients
	if job.TLS != nil {
		need = 3 * clients // both ends of the connection to the tunnel, and the tunnel's connection to the server
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("count open files: %w", err)
	}
	if need += len(open) + spareFiles; uint64(need) > limit.Cur {
		return fmt.Errorf("a worker can open %d files (ulimit -n) and needs %d for %d connections: raise the limit, or use more workers", limit.Cur, need, clients)
	}
	return nil
}

// own reports whether a connection failed because this machine lacks a resource, which is not the
// server's fault.
func own(err error) bool {
	for _, lack := range []unix.Errno{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}
