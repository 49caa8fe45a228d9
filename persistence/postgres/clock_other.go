//go:build !linux

package postgres

import "time"

var began = time.Now()

// uptime is a clock that nobody sets.
func uptime() time.Duration { return time.Since(began) }
