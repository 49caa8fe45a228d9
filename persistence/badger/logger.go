package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
)

// bridge passes Badger's warnings and errors to slog. It drops informational lines, because Badger
// reports every compaction.
//
// Badger's goroutines for flushing, compaction and cleanup cannot return errors. They log errors,
// and then continue or retry. For this reason, every logged warning or error makes the store refuse
// further writes, unless the line is known to be harmless, or Badger also returns its error.
// Unknown lines of later versions also stop the writes.
type bridge struct {
	*health
	closing atomic.Bool // set when the store closes
	// stopped is set when the goroutine that flushes memtables has ended.
	stopped atomic.Bool
}

func newBridge(o Options) *bridge { return &bridge{health: &health{log: o.Logger}} }

// Prefixes of lines of Badger v4.9.
const (
	lineFlush   = "error flushing memtable to disk"
	lineCompact = "While running doCompact: "
	// lineTable begins the error of a flush that has not reached the MANIFEST.
	lineTable = "error while creating table"
)

// returned contains the prefixes of lines whose error Badger also returns, from a commit or when
// opening.
var returned = []string{"writeRequests: ", "Received err: ", "Got error: "}

// noise contains the prefixes of lines about tuning the cache. They are useless here, because a
// large store exceeds any cache, and its blocks are in the page cache anyway.
var noise = []string{"%s might be too small", "Cache life expectancy"}

// busyLevels is the error of a compaction whose level another compaction has filled meanwhile.
const busyLevels = "there is a non-empty level"

// Errorf implements Badger's Logger.
func (b *bridge) Errorf(format string, args ...any) {
	text := line(format, args)
	if begins(format, returned) {
		b.log.Error(text)
		return
	}
	b.failed(text)
	if strings.HasPrefix(format, lineFlush) && (b.closing.Load() || !strings.Contains(fmt.Sprint(args...), lineTable)) {
		// It is unknown whether the MANIFEST contains the table, which Badger has deleted. A retry
		// would write the table again, and then delete the log that still contains all its data.
		// This goroutine therefore ends, so that the data stays in the log, as after a crash.
		b.stopped.Store(true)
		runtime.Goexit()
	}
}

// Warningf implements Badger's Logger.
func (b *bridge) Warningf(format string, args ...any) {
	if begins(format, noise) {
		b.log.Debug(line(format, args))
		return
	}
	text := line(format, args)
	if strings.Contains(text, busyLevels) {
		b.log.Debug(text)
		return
	}
	b.failed(text)
	if strings.HasPrefix(format, lineCompact) {
		// Badger's copy of its MANIFEST can now differ from the file, so this goroutine ends.
		// Badger holds no lock where it logs this line.
		runtime.Goexit()
	}
}

// Infof implements Badger's Logger.
func (b *bridge) Infof(string, ...any) {}

// Debugf implements Badger's Logger.
func (b *bridge) Debugf(string, ...any) {}

func (b *bridge) failed(text string) { b.breakDown(faultBackground, errors.New(text)) }

func begins(format string, lines []string) bool {
	for _, l := range lines {
		if strings.HasPrefix(format, l) {
			return true
		}
	}
	return false
}

// root returns the innermost error of a chain, or the first PathError in it. Badger's wrappers can
// contain the ranges of tables, which are keys.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if _, named := err.(*fs.PathError); named || inner == nil {
			return err
		}
		err = inner
	}
}

// line returns a line's text with only errors and plain values as arguments. Other arguments could
// print keys, which can contain people's names.
func line(format string, args []any) string {
	shown := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case error:
			shown[i] = root(arg)
		case string, int, int64, uint32, uint64:
			shown[i] = arg
		default:
			shown[i] = "..."
		}
	}
	return strings.TrimSpace(fmt.Sprintf(strings.NewReplacer("%+v", "%v", "%d", "%v", "%s", "%v", "%x", "%v").Replace(format), shown...))
}
