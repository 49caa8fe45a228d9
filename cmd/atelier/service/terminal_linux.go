package service

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsTerminal reports whether somebody may be reading.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
