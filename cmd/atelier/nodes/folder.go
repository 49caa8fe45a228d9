package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/ondisk"
)

// These are the reasons why a server is in trouble, in the words of /readyz.
const (
	DiskFull = "disk_full"
	Disk     = "disk"
	Clock    = "clock"
)

// Trouble is the reason why a server cannot serve. If it served, data that it accepts would be lost
// or wrong.
type Trouble struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// Folder monitors whether this server can write to its own data folder, which contains the secrets
// and the copies of files. It is safe for concurrent use.
type Folder struct {
	// Immutable:
	try     func() error // writes to the folder
	free    func() (uint64, error)
	minFree uint64
	log     *slog.Logger
	pause   time.Duration // between two tries while in trouble
	timeout time.Duration // maximum time of a try

	mu      sync.Mutex
	trouble *Trouble                      // guarded by mu; nil while the folder is writable
	repair  []func(context.Context) error // guarded by mu
	wake    chan struct{}

	// tried receives the result of a try that is in progress. It is nil if there is none. Only the
	// goroutine of check uses it.
	tried chan error
}

const (
	// tryEvery is the interval at which a writable folder is tried. Each try costs a sync.
	tryEvery = 5 * time.Second
	// tryAgain is the interval at which an unwritable folder is tried. goodTries is the number of
	// consecutive tries that must succeed, because a full disk repeatedly has free space for a
	// moment.
	tryAgain  = time.Second
	goodTries = 3
	// tryTime is the time after which a slow disk counts as failed.
	tryTime = 10 * time.Second
)

// NewFolder returns a Folder that tries to write in dir, which must exist. minFree is the free
// space, in bytes, below which the folder counts as full.
func NewFolder(dir string, minFree uint64, log *slog.Logger) *Folder {
	f := &Folder{
		try: func() error { return tryWriting(dir) }, free: func() (uint64, error) { return ondisk.FreeBytes(dir) },
		minFree: minFree, log: log.With("component", "folder"), pause: tryAgain, timeout: tryTime, wake: make(chan struct{}, 1),
	}
	f.check()
	return f
}

// tryWriting writes a block to a file and removes the file. It does not sync the folder, because
// the next stored secret does.
func tryWriting(dir string) error {
	path := filepath.Join(dir, "write-test")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}

// Trouble returns the reason why the folder cannot be written, or nil if it is writable or f is
// nil.
func (f *Folder) Trouble() *Trouble {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Failed records a failed write. The server is in trouble immediately.
func (f *Folder) Failed(err error) {
	if f == nil {
		return
	}
	f.fail(err)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// OnMend registers a function that must succeed before the server counts as able to write again.
// The function is repeated until it succeeds.
func (f *Folder) OnMend(do func(context.Context) error) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repair = append(f.repair, do)
}

// Watch tries the folder periodically until ctx ends.
func (f *Folder) Watch(ctx context.Context) {
	good := 0
	for {
		wait := tryEvery
		if f.Trouble() != nil {
			wait = f.pause
		}
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
			good = 0
		case <-time.After(wait):
		}
		if good++; !f.check() {
			good = 0
		} else if f.Trouble() != nil && good >= goodTries {
			f.recover(ctx)
		}
	}
}

// check tries the folder once, records a failure, and reports whether the folder is writable. If an
// earlier try still hangs, check waits for it instead. Calls of check must not be concurrent.
func (f *Folder) check() bool {
	if f.tried == nil {
		done := make(chan error, 1)
		f.tried = done
		go func() { done <- f.room() }() // if the disk hangs, only this goroutine waits
	}
	var err error
	select {
	case err = <-f.tried:
		f.tried = nil
	case <-time.After(f.timeout):
		err = fmt.Errorf("nothing was written within %v", f.timeout)
	}
	if err != nil {
		f.fail(err)
	}
	return err == nil
}

func (f *Folder) room() error {
	free, err := f.free()
	if err == nil && free < f.minFree {
		err = fmt.Errorf("%w: %d MiB are free, and storage.min_free_mib is %d", durable.ErrReadOnly, free>>20, f.minFree>>20)
	}
	return errors.Join(err, f.try())
}

func (f *Folder) fail(err error) {
	t := &Trouble{Disk, "this server cannot write its data folder: " + rootOf(err).Error()}
	if isFull(err) {
		t.Reason, t.Text = DiskFull, "the disk of the data folder is full"
	}
	f.mu.Lock()
	before := f.trouble
	f.trouble = t
	f.mu.Unlock()
	if before == nil {
		f.log.Error(t.Text+"; other nodes, if there are any, serve instead", "error", err)
	}
}

// isFull reports whether an error means a full disk.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, durable.ErrReadOnly)
}

// rootOf returns an error without the file's path.
func rootOf(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if errors.Is(err, io.ErrShortWrite) {
		return io.ErrShortWrite
	}
	return err
}

func (f *Folder) recover(ctx context.Context) {
	f.mu.Lock()
	todo, before := f.repair, f.trouble
	f.mu.Unlock()
	for _, do := range todo {
		if err := do(ctx); err != nil {
			f.log.Warn("the data folder can be written again, but this server still lacks data of other nodes; it tries again", "error", err)
			return // the next try runs all repairs again
		}
	}
	f.mu.Lock()
	mended := f.trouble == before // otherwise the folder failed again meanwhile
	if mended {
		f.trouble = nil
	}
	f.mu.Unlock()
	if mended {
		f.log.Info("the data folder can be written again")
	}
}
