package server

import (
	"context"
	"time"

	"atelier/bench/pacing"
)

// Watch looks at a server every second until ctx ends, or the function it
// returns is called, which waits for the last look. The weight comes from usage,
// the rest from inside; either may be nil. Values that cannot be read, as of a
// server that is down, are left out of a look.
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
