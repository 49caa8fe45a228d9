//go:build !linux

package process

import "errors"

// Hide only returns an error.
func Hide() error { return errors.New("not known on this system") }
