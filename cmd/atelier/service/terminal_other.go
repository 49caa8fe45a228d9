//go:build !linux

package service

import "os"

// isTerminal says that somebody may be reading.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
