package badger

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
)

// bridge passes Badger's warnings and errors to slog. Its informational lines
// tell of every compaction and are dropped.
type bridge struct {
	log *slog.Logger
	// valueLogSyncFailed is set when Badger could not sync its value log:
	// (*valueLog).write only logs that error and lets the commit succeed.
	valueLogSyncFailed atomic.Bool
}

// valueLogSyncLine is how that log line of Badger v4.9 begins.
const valueLogSyncLine = "Error while curlf sync"

// Errorf implements Badger's Logger.
func (b *bridge) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, valueLogSyncLine) {
		b.valueLogSyncFailed.Store(true)
	}
	b.log.Error(line(format, args))
}

// Warningf implements Badger's Logger. What it says each minute of its cache is
// for whoever tunes it: a large store outgrows any cache, and its blocks are in
// the page cache anyway.
func (b *bridge) Warningf(format string, args ...any) {
	if strings.HasPrefix(format, "%s might be too small") || strings.HasPrefix(format, "Cache life expectancy") {
		b.log.Debug(line(format, args))
		return
	}
	b.log.Warn(line(format, args))
}

// Infof implements Badger's Logger.
func (b *bridge) Infof(string, ...any) {}

// Debugf implements Badger's Logger.
func (b *bridge) Debugf(string, ...any) {}

func line(format string, args []any) string {
	return strings.TrimSpace(fmt.Sprintf(format, args...))
}
