package contents

import (
	"context"
	"errors"
	"fmt"

	"atelier/actors/files"
	"atelier/persistence/objects"
)

// Hold prevents every node from removing objects until release is called.
func (s *shared) Hold() (release func(), err error) { return objects.Hold(s.opts.Objects) }

// Discard implements files.Blobs.
func (s *shared) Discard(inUse files.InUse, sums ...files.Sum) error {
	var errs []error
	for _, sum := range sums {
		if err := s.discard(context.Background(), inUse, sum); err != nil {
			errs = append(errs, fmt.Errorf("remove content %s: %w", sum, err))
		}
	}
	return errors.Join(errs...)
}

// discard first lists, then checks whether the content is in use, and finally checks for backups.
// The order matters: see package objects.
func (s *shared) discard(ctx context.Context, inUse files.InUse, sum files.Sum) error {
	now, err := s.clock.Now(ctx)
	if err != nil {
		return err
	}
	list, err := s.copies(ctx, sum)
	if err != nil || len(list) == 0 {
		return err
	}
	if used, err := inUse(sum); err != nil || used {
		return err
	}
	s.cache.remove(sum)
	s.forget(sum)
	held, err := objects.Held(ctx, s.opts.Objects, now)
	if err != nil {
		return err
	}
	for _, o := range list {
		if held || now.Sub(o.Changed) <= settled {
			err = objects.PutBytes(ctx, s.opts.Objects, discardedPrefix+o.Key, nil)
		} else {
			err = s.opts.Objects.Delete(ctx, o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Collect implements files.Blobs. Several nodes can run it concurrently.
func (s *shared) Collect(inUse files.InUse) (removed int, err error) {
	s.cache.expire()
	ctx := context.Background()
	for shard := range 256 {
		n, err := s.collect(ctx, inUse, fmt.Sprintf("%s%02x/", prefix, shard), shard == 255)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("collect contents: %w", err)
		}
	}
	return removed, nil
}

func (s *shared) collect(ctx context.Context, inUse files.InUse, prefix string, last bool) (int, error) {
	aside, err := objects.NewAside(ctx, s.opts.Objects, s.clock, prefix, s.opts.Grace)
	if err != nil {
		return 0, err
	}
	c := collection{s, aside, map[string]bool{}}
	err = s.opts.Objects.List(ctx, discardedPrefix+prefix, func(i objects.Info) error {
		c.discarded[i.Key[len(discardedPrefix):]] = true
		return nil
	})
	if err != nil {
		return 0, err
	}
	var bySum [][]objects.Info // in key order
	var before files.Sum
	err = s.opts.Objects.List(ctx, prefix, func(i objects.Info) error {
		sum, ours := sumOf(i.Key)
		if !ours {
			return nil
		}
		if len(bySum) == 0 || sum != before {
			bySum, before = append(bySum, nil), sum
		}
		bySum[len(bySum)-1] = append(bySum[len(bySum)-1], i)
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, copies := range bySum {
		sum, _ := sumOf(copies[0].Key)
		used, err := inUse(sum)
		if err == nil && used {
			err = c.inUse(ctx, sum, copies)
		} else if err == nil {
			err = c.unused(ctx, copies)
		}
		if err != nil {
			return aside.Removed, err
		}
	}
	for key := range c.discarded { // the remaining marks belong to objects that no longer exist
		if err := s.opts.Objects.Delete(ctx, discardedPrefix+key); err != nil {
			return aside.Removed, err
		}
	}
	err = aside.Finish(ctx)
	if err == nil && last {
		err = aside.Tidy(ctx)
	}
	return aside.Removed, err
}

// collection is one sweep through a part of the object store.
type collection struct {
	*shared
	aside     *objects.Aside
	discarded map[string]bool // by key; only objects not checked yet
}

// inUse keeps the youngest object with the sum. If this object is undamaged, inUse removes the
// other objects with the sum that are older than the grace period.
func (c *collection) inUse(ctx context.Context, sum files.Sum, copies []objects.Info) error {
	newest := copies[0]
	for _, o := range copies {
		if o.Changed.After(newest.Changed) {
			newest = o
		}
	}
	checked := false
	for _, o := range copies {
		if c.discarded[o.Key] {
			delete(c.discarded, o.Key)
			if err := c.opts.Objects.Delete(ctx, discardedPrefix+o.Key); err != nil {
				return err
			}
		}
		if o.Key == newest.Key || !c.aside.Old(o) {
			if err := c.aside.Needed(ctx, o); err != nil {
				return err
			}
			continue
		}
		if !checked {
			sound, err := c.sound(ctx, sum, newest.Key)
			if err != nil || !sound {
				return err // stop, because the older object can be the only undamaged one
			}
			checked = true
		}
		if _, err := c.aside.Remove(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// unused removes discarded objects once they are old enough, and leaves all others to
// Aside.Unneeded.
func (c *collection) unused(ctx context.Context, copies []objects.Info) error {
	for _, o := range copies {
		if !c.discarded[o.Key] {
			if _, err := c.aside.Unneeded(ctx, o); err != nil {
				return err
			}
			continue
		}
		delete(c.discarded, o.Key)
		if !c.aside.OlderThan(o, settled) {
			continue
		}
		gone, err := c.aside.Remove(ctx, o)
		if err == nil && gone {
			err = c.opts.Objects.Delete(ctx, discardedPrefix+o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
