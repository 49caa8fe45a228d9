package clock

import (
	"context"
	"time"
)

// WithTimeout does the same as context.WithTimeout, with a Clock. With a Clock other than System,
// the context has no Deadline except its parent's: a Deadline is a time of day, but the timeout is
// measured by the uptime.
func WithTimeout(parent context.Context, c Clock, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := c.(system); ok {
		return context.WithTimeout(parent, d)
	}
	ctx, cancel := context.WithCancelCause(parent)
	t := c.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return timeout{ctx}, func() {
		t.Stop()
		cancel(context.Canceled)
	}
}

// timeout is a context whose Err is DeadlineExceeded if it was canceled with that cause.
type timeout struct{ context.Context }

func (t timeout) Err() error {
	err := t.Context.Err()
	if err != nil && context.Cause(t.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}
