package calls

import (
	"errors"
	"fmt"
	"sync/atomic"

	"atelier/actors/durable"
)

// Cursor is the position of one handle in its log, and the reason why the handle cannot continue.
// Open sets Next before any append. After that the writer owns the Cursor.
type Cursor struct {
	Actor string
	// Next is the seq of the next record.
	Next   uint64
	failed error       // the reason why every later batch fails
	fenced atomic.Bool // also read by snapshots and rewrites
}

func (c *Cursor) at() *Cursor { return c }

// Admit checks that a batch continues the log, and advances the cursor.
func (c *Cursor) Admit(first uint64, count int) error {
	if c.failed != nil {
		return c.failed
	}
	if first != c.Next {
		err := fmt.Errorf("%w: %s: batch starts at %d, the log continues at %d", durable.ErrGap, c.Actor, first, c.Next)
		c.Fail(err)
		return err
	}
	c.Next += uint64(count)
	return nil
}

// AdmitSnapshot checks that no batch of the handle has failed, and that the log includes the
// records of a snapshot at seq.
func (c *Cursor) AdmitSnapshot(seq uint64) error {
	if c.failed != nil {
		return c.failed
	}
	if seq >= c.Next {
		return fmt.Errorf("%w: %s: snapshot at %d, the log continues at %d", durable.ErrGap, c.Actor, seq, c.Next)
	}
	return nil
}

// Fail makes every later batch of the handle fail, because the failed batch would leave a hole in
// the log.
func (c *Cursor) Fail(cause error) {
	if c.failed == nil || errors.Is(cause, durable.ErrFenced) {
		if !errors.Is(cause, durable.ErrFenced) && !errors.Is(cause, durable.ErrGap) {
			cause = fmt.Errorf("%w: after a batch that failed: %w", durable.ErrGap, cause)
		}
		c.failed = cause
	}
}

// Fence ends the handle, because a newer handle was opened, the actor was purged, or
// another node owns the actor.
func (c *Cursor) Fence() {
	c.Fail(durable.ErrFenced)
	c.fenced.Store(true)
}

// Fenced reports whether Fence was called. Any goroutine can call it.
func (c *Cursor) Fenced() bool { return c.fenced.Load() }
