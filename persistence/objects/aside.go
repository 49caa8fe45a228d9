package objects

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// asidePrefix is the prefix of quarantine marks. The key of the quarantined object follows it.
const asidePrefix = "aside/"

// Aside manages the quarantine of the objects under a prefix during one sweep. It must be used by
// one goroutine only.
type Aside struct {
	store  Store
	grace  time.Duration
	now    time.Time // by the store's clock, before listing
	prefix string
	marks  map[string]time.Time // by key of the marked object; only objects not checked yet

	// Removed is the number of permanently removed objects.
	Removed int
}

// NewAside begins a sweep. The caller must then list the objects, and read the records only after
// that.
func NewAside(ctx context.Context, s Store, clock *Clock, prefix string, grace time.Duration) (*Aside, error) {
	now, err := clock.Now(ctx)
	if err != nil {
		return nil, err
	}
	a := &Aside{store: s, grace: grace, now: now, prefix: prefix, marks: map[string]time.Time{}}
	err = s.List(ctx, asidePrefix+prefix, func(i Info) error {
		a.marks[strings.TrimPrefix(i.Key, asidePrefix)] = i.Changed
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the quarantine: %w", err)
	}
	return a, nil
}

// Old reports whether an object is old enough to be quarantined or removed.
func (a *Aside) Old(i Info) bool { return a.OlderThan(i, a.grace) }

// OlderThan reports whether an object was put more than age ago.
func (a *Aside) OlderThan(i Info, age time.Duration) bool { return a.now.Sub(i.Changed) > age }

// Needed is called for a referenced object. It removes the object from the quarantine.
func (a *Aside) Needed(ctx context.Context, i Info) error {
	if _, marked := a.marks[i.Key]; !marked {
		return nil
	}
	delete(a.marks, i.Key)
	return a.store.Delete(ctx, asidePrefix+i.Key)
}

// Unneeded is called for an object that was listed and then found unreferenced. If the object is
// older than the grace period, Unneeded quarantines it, or removes it if it has been in quarantine
// for longer than this period. It reports whether the object was removed.
func (a *Aside) Unneeded(ctx context.Context, i Info) (gone bool, err error) {
	since, marked := a.marks[i.Key]
	delete(a.marks, i.Key)
	switch {
	case !a.Old(i):
		return false, nil
	case !marked:
		return false, PutBytes(ctx, a.store, asidePrefix+i.Key, nil)
	case a.now.Sub(since) <= a.grace:
		return false, nil
	}
	return a.Remove(ctx, i)
}

// Remove removes an object that was listed and then found unreferenced, unless a backup holds the
// store's objects.
func (a *Aside) Remove(ctx context.Context, i Info) (gone bool, err error) {
	held, err := Held(ctx, a.store, a.now)
	if err != nil || held {
		return false, err
	}
	if err := a.store.Delete(ctx, i.Key); err != nil {
		return false, err
	}
	a.Removed++
	return true, a.store.Delete(ctx, asidePrefix+i.Key)
}

// Finish removes the old marks of objects that the sweep has not checked. Most of these objects no
// longer exist.
func (a *Aside) Finish(ctx context.Context) error {
	for key, since := range a.marks {
		if a.now.Sub(since) <= a.grace {
			continue // a young mark stays, because its object may have been put after the listing
		}
		if err := a.store.Delete(ctx, asidePrefix+key); err != nil {
			return err
		}
	}
	return nil
}

// Tidy removes the old clock readings and holds that dead nodes left.
func (a *Aside) Tidy(ctx context.Context) error {
	for _, prefix := range []string{clockPrefix, holdPrefix} {
		err := a.store.List(ctx, prefix, func(i Info) error {
			if a.now.Sub(i.Changed) <= 2*holdFor {
				return nil
			}
			return a.store.Delete(ctx, i.Key)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
