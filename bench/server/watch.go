package server

import (
	"context"
	"time"

	"atelier/bench/pacing"
)

// Watch measures a server every second, and passes each measurement to see. It ends when ctx ends
// or stop is called. stop waits for the last measurement.
func (t *Target) Watch(ctx context.Context, see func(time.Time, Inside)) (stop func()) {
	return pacing.Every(ctx, time.Second, func() { see(time.Now(), measure(t.Usage, t.Inside)) })
}

// measure measures a server. Resources come from usage, and all other values from inside. Either
// can be nil. Unreadable values are omitted, such as those of a server that is down.
func measure(usage func() (Usage, error), inside func() (Inside, error)) Inside {
	var in Inside
	if inside != nil {
		if got, err := inside(); err == nil {
			in = got
		}
	}
	if usage != nil {
		if u, err := usage(); err == nil {
			in.Usage = u
		}
	}
	return in
}
