//go:build !linux

package process

import "errors"

// Hide returns an error, because this package supports it only on Linux.
func Hide() error { return errors.New("not supported on this system") }
