//go:build linux

package server

import (
	"time"

	"golang.org/x/sys/unix"
)

// OwnCPU returns the CPU time of the load test itself since its start.
func OwnCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
