package server

import (
	"context"
	"sync"
	"time"
)

// Watch looks at a server once a second until ctx ends, or the function it
// returns is called, which waits for the last look. The weight comes from usage,
// the rest from inside; either may be nil. What cannot be read, as of a server
// that is down, is left out of a look.
func Watch(ctx context.Context, usage func() (Usage, error), inside func() (Inside, error), see func(time.Time, Inside)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			see(time.Now(), look(usage, inside))
		}
	})
	return func() { cancel(); watching.Wait() }
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
