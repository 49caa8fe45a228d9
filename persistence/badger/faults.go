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

// health records the faults of an open store. Badger's logger also writes to it, from Badger's
// goroutines.
type health struct {
	log      *slog.Logger
	brokenBy atomic.Pointer[error] // set once, by breakDown
	counts   [faultKinds]atomic.Uint64
}

// fault is a kind of failure. The names are metric labels.
type fault uint8

const (
	faultRead       fault = iota // a stored value cannot be read, or differs from the written value
	faultWrite                   // a commit failed
	faultSync                    // syncing the folder or the mark failed
	faultBackground              // Badger's flushing, compacting or cleaning up failed
	faultKinds      = iota
)

func (h *health) stats() durable.StoreFaults {
	return durable.StoreFaults{
		Read: h.counts[faultRead].Load(), Write: h.counts[faultWrite].Load(),
		Sync: h.counts[faultSync].Load(), Background: h.counts[faultBackground].Load(),
	}
}

// breakDown permanently ends writing. After a failed write or sync it is unknown which part of the
// transaction is on disk. Badger can already show the transaction to readers, and the kernel may
// have dropped the dirty pages, so a later successful sync proves nothing. Only a restart leads to
// a known state, because it reads the actual content of the disk.
func (h *health) breakDown(kind fault, cause error) {
	h.counts[kind].Add(1)
	err := fmt.Errorf("%w: the disk failed, restart to recover: %w", durable.ErrReadOnly, cause)
	if h.brokenBy.CompareAndSwap(nil, &err) {
		h.log.Error("the store stopped writing because the disk failed; restart the server to recover", "error", cause)
	}
}

// broken returns the reason why the store ended writing, or nil.
func (h *health) broken() error {
	if err := h.brokenBy.Load(); err != nil {
		return *err
	}
	return nil
}

// read runs fn, which reads from Badger, and turns memory faults and panics of Badger into errors.
// Badger reads its tables through memory maps, in which an unreadable page, or a page after the end
// of a shrunken file, causes a memory fault. A block with impossible content causes a panic. read
// does not protect Badger's own goroutines (DESIGN.md has the consequences).
func (h *health) read(fn func() error) error {
	err := onFault(fn)
	if broken := h.broken(); broken != nil && errors.Is(err, errStumbled) {
		// After a failure of the disk, parts of Badger stop working, so this panic does not mean
		// that stored data is damaged.
		return broken
	}
	if err != nil && errors.Is(err, durable.ErrCorrupt) {
		if n := h.counts[faultRead].Add(1); n == 1 || errors.Is(err, errFault) {
			h.log.Error("the store cannot read data that it stored", "error", err)
		}
	}
	return err
}

// errFault means that a page of a memory-mapped file could not be read.
var errFault = errors.New("the disk cannot read a part of a file")

// errStumbled means that Badger panicked.
var errStumbled = errors.New("the stored data has an invalid form")

// onFault runs fn and returns faults of mapped memory, and panics of Badger, as errors. Other
// panics propagate.
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
			// The text of the panic is dropped, because it can contain keys with people's names.
			err = fmt.Errorf("%w: %w", durable.ErrCorrupt, errStumbled)
		default:
			panic(r)
		}
	}()
	return fn()
}

// fromBadger reports whether the panic being recovered was raised in the code of Badger or of its
// FlatBuffers library.
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
