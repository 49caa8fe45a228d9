//go:build !linux

package doctor

import "errors"

// MachineMemory returns an error: the memory is known only on Linux.
func MachineMemory() (uint64, error) { return 0, errors.New("only on Linux") }
