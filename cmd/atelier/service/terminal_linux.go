package service

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal says that somebody may be reading.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
