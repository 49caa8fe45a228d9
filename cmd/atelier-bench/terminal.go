//go:build linux

package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/workshop"
)

// statusLine is one line of a terminal that is written over and over. Used by
// one goroutine at a time.
type statusLine struct {
	out      *os.File
	terminal bool
}

func newStatusLine(out *os.File) *statusLine { return &statusLine{out, isTerminal(out)} }

func (l *statusLine) show(s workshop.Snapshot) {
	fmt.Fprintf(l.out, "\r\x1b[K%6s  %-12s %d/%d online  %d events  %d acked  chat p50 %.1f  p99 %.1f ms",
		s.Elapsed.Round(time.Second), s.Phase, s.Online, s.People, s.Events, s.Acked, s.Chat.P50, s.Chat.P99)
}

// say shows a line of words.
func (l *statusLine) say(text string) { fmt.Fprintf(l.out, "\r\x1b[K%s", text) }

func (l *statusLine) clear() {
	if l.terminal {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}

// colours follows no-color.org.
func colours(out *os.File) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(out) }

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
