package contents

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atelier/actors/files"
)

// errHeld is returned when an object cannot be removed during a backup.
var errHeld = errors.New("a backup holds the objects")

// Hold prevents all removals until release is called. If a postponed removal then fails, the next
// collection removes the object.
func (s *folder) Hold() (release func(), err error) {
	s.removing.Lock() // a removal in progress ends first
	defer s.removing.Unlock()
	return s.holds.Begin(func(r removal) { _ = s.Discard(r.inUse, r.sum) }), nil
}

// removal is a postponed call of Discard.
type removal struct {
	sum   files.Sum
	inUse files.InUse
}

// Discard implements files.Blobs.
func (s *folder) Discard(inUse files.InUse, sums ...files.Sum) error {
	var errs []error
	for _, sum := range sums {
		_, err := s.remove(sum, inUse, time.Time{})
		for errors.Is(err, errHeld) {
			if err = nil; !s.holds.Postpone(removal{sum, inUse}) { // the backup has ended meanwhile
				_, err = s.remove(sum, inUse, time.Time{})
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Collect implements files.Blobs.
func (s *folder) Collect(inUse files.InUse) (removed int, err error) {
	now := s.opts.Now()
	err = s.each(func(sum files.Sum) error {
		_, err := s.remove(sum, inUse, now.Add(-s.opts.Grace))
		return err
	})
	if err == nil {
		removed, err = s.clearAside(inUse, now)
	}
	if errors.Is(err, errHeld) {
		err = nil // the next collection retries
	}
	return removed, err
}

// remove removes an object that has no lease and no references. If before is not zero, remove only
// quarantines the object, and only if the object was put no later than before.
func (s *folder) remove(sum files.Sum, inUse files.InUse, before time.Time) (gone bool, err error) {
	s.removing.Lock()
	defer s.removing.Unlock()
	if s.holds.Any() {
		return false, errHeld
	}
	lock := s.lock(sum)
	lock.Lock()
	defer lock.Unlock()
	if s.leased(sum) {
		return false, nil
	}
	path := s.path(sum)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove content %s: %w", sum, err)
	}
	if !before.IsZero() && info.ModTime().After(before) {
		return false, nil
	}
	if used, err := inUse(sum); err != nil || used {
		return false, err
	}
	if before.IsZero() {
		err = os.Remove(path)
	} else {
		err = s.setAside(sum)
	}
	if err != nil {
		return false, fmt.Errorf("remove content %s: %w", sum, err)
	}
	return true, nil
}

// each calls fn for every object until fn fails.
func (s *folder) each(fn func(files.Sum) error) error {
	shards, err := os.ReadDir(s.objects())
	if err != nil {
		return fmt.Errorf("list contents: %w", err)
	}
	for _, shard := range shards {
		if err := eachIn(filepath.Join(s.objects(), shard.Name()), fn); err != nil {
			return err
		}
	}
	return nil
}

func eachIn(dir string, fn func(files.Sum) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list contents: %w", err)
	}
	for _, e := range entries {
		b, err := hex.DecodeString(e.Name())
		sum, ok := files.SumOf(b)
		if err != nil || !ok {
			continue // not a file of this store
		}
		if err := fn(sum); err != nil {
			return err
		}
	}
	return nil
}
