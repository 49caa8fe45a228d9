//go:build !linux

package postgres

import "time"

var began = time.Now()

// uptime is a monotonic clock.
func uptime() time.Duration { return time.Since(began) }
