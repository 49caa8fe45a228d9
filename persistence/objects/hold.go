package objects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	holdPrefix = "holds/"
	// renewEvery is the interval at which a node renews its hold. A hold that is older than
	// holdFor belongs to a node that died.
	renewEvery = 5 * time.Minute
	holdFor    = time.Hour
)

// Hold prevents every node from removing objects until release is called. If this process dies, the
// hold ends an hour after its last renewal.
func Hold(s Store) (release func(), err error) {
	key := holdPrefix + Random()
	if err := PutBytes(context.Background(), s, key, nil); err != nil {
		return nil, fmt.Errorf("hold objects: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// An error can be ignored, because there are more attempts before holdFor has
				// passed.
				_ = PutBytes(ctx, s, key, nil)
			}
		}
	})
	return sync.OnceFunc(func() {
		stop()
		renewing.Wait()
		_ = s.Delete(context.Background(), key)
	}), nil
}

var errHeld = errors.New("a backup holds the objects")

// Held reports whether a node holds the objects. It must be called after reading the records, and
// before any removal.
func Held(ctx context.Context, s Store, now time.Time) (bool, error) {
	err := s.List(ctx, holdPrefix, func(i Info) error {
		if now.Sub(i.Changed) > holdFor {
			return nil
		}
		return errHeld
	})
	if errors.Is(err, errHeld) {
		return true, nil
	}
	return false, err
}
