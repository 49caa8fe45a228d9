package server

import (
	"context"
	"time"

	"atelier/bench/pacing"
)

// Watch measures a server every second until ctx ends or the returned function is called, which
// waits for the last measurement. Resources come from usage, the rest from inside; either may be
// nil. Unreadable values, such as those of a server that is down, are omitted.
func Watch(ctx context.Context, usage func() (Usage, error), inside func() (Inside, error), see func(time.Time, Inside)) (stop func()) {
	return pacing.Every(ctx, time.Second, func() { see(time.Now(), look(usage, inside)) })
}

func look(usage func() (Usage, error), inside func() (Inside, error)) Inside {
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
