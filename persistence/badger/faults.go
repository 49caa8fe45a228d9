package badger

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"atelier/actors/durable"
)

// health is what is wrong with a store that is open. Badger's logger writes to
// it too, from the goroutines of Badger.
type health struct {
	log      *slog.Logger
	brokenBy atomic.Pointer[error] // set once, by breakDown
	counts   [faultKinds]atomic.Uint64
}

// fault is a kind of failure; the names are labels of a metric.
type fault uint8

const (
	faultRead       fault = iota // a stored place cannot be read, or is not what was written
	faultWrite                   // a commit failed
	faultSync                    // the folder or the mark could not be synced
	faultBackground              // Badger's flushing, compacting or cleaning up failed
	faultKinds      = iota
)

func (h *health) stats() durable.StoreFaults {
	return durable.StoreFaults{
		Read: h.counts[faultRead].Load(), Write: h.counts[faultWrite].Load(),
		Sync: h.counts[faultSync].Load(), Background: h.counts[faultBackground].Load(),
	}
}

// breakDown ends writing for good. After a failed write or sync it is unknown which part of
// the transaction is on disk. Badger may already show it to readers, and the kernel may
// have dropped the dirty pages. A later sync that succeeds proves nothing about them. Only
// a new start, which reads the actual content of the disk, gives a state to build on.
func (h *health) breakDown(kind fault, cause error) {
	h.counts[kind].Add(1)
	err := fmt.Errorf("%w: the disk failed, restart to recover: %w", durable.ErrReadOnly, cause)
	if h.brokenBy.CompareAndSwap(nil, &err) {
		h.log.Error("the store stopped writing because the disk failed; restart the server to recover", "error", cause)
	}
}

// broken is the reason why the store ended writing, or nil.
func (h *health) broken() error {
	if err := h.brokenBy.Load(); err != nil {
		return *err
	}
	return nil
}

// read runs fn, which reads from Badger. Badger reads its tables through memory maps. A
// page that the disk does not return, or that is behind the end of a file that shrank, is a
// fault of the processor there. A block with impossible content is a panic. Both become
// errors here. It cannot help Badger's own goroutines (DESIGN.md has the consequences).
func (h *health) read(fn func() error) error {
	err := onFault(fn)
	if broken := h.broken(); broken != nil && errors.Is(err, errStumbled) {
		// A failure takes pieces of Badger along: nothing stored is damaged.
		return broken
	}
	if err != nil && errors.Is(err, durable.ErrCorrupt) {
		if n := h.counts[faultRead].Add(1); n == 1 || errors.Is(err, errFault) {
			h.log.Error("the store cannot read data that it stored", "error", err)
		}
	}
	return err
}

// errFault means that memory which is mapped to a file could not be read.
var errFault = errors.New("the disk does not give what a file holds")

// errStumbled means that Badger panicked.
var errStumbled = errors.New("what is stored there makes no sense")

// onFault runs fn and returns faults of mapped memory, and panics of Badger,
// as errors. Every other panic goes on.
func onFault(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		_, atAddress := r.(interface{ Addr() uintptr })
		switch {
		case atAddress:
			err = fmt.Errorf("%w: %w", durable.ErrCorrupt, errFault)
		case fromBadger():
			// The text can contain keys, which can name people.
			err = fmt.Errorf("%w: %w", durable.ErrCorrupt, errStumbled)
		default:
			panic(r)
		}
	}()
	return fn()
}

// fromBadger reports whether the panic that is being recovered was raised in
// Badger's code.
func fromBadger() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(frame.Function, "runtime."):
			return strings.HasPrefix(frame.Function, "github.com/dgraph-io/") ||
				strings.HasPrefix(frame.Function, "github.com/google/flatbuffers/")
		}
		if !more {
			return false
		}
	}
}
