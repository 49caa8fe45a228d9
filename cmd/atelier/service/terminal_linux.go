package service

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
