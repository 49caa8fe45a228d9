//go:build !linux

package doctor

import "errors"

// MachineMemory returns an error, because only the Linux version can determine the memory.
func MachineMemory() (uint64, error) { return 0, errors.New("only on Linux") }
