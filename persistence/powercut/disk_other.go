//go:build !linux

package powercut

import "errors"

// Disk can be mounted only on Linux.
type Disk struct{}

// Mount always fails.
func Mount(string) (*Disk, error) { return nil, errors.New("a disk can be mounted on Linux only") }

// Unmount does nothing.
func (*Disk) Unmount() error { return nil }

// Inject does nothing.
func (*Disk) Inject(func(Call) Fault) {}

// Note does nothing.
func (*Disk) Note([]byte) {}

// Trace is empty.
func (*Disk) Trace() Trace { return nil }
