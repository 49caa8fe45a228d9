package postgres

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is a clock that runs while the machine sleeps, like the clocks of other nodes.
func uptime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("postgres: no CLOCK_BOOTTIME: " + err.Error()) // since Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
