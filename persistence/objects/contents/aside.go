package contents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atelier/actors/files"
)

// A collection cannot determine why a stored object is unreferenced. A crash may have prevented its
// record, or a damaged disk may have lost the record. The collection therefore quarantines the
// object for the grace period. If the object is requested in this time, it is restored.

// setAside quarantines an object. The caller holds the object's lock.
func (s *folder) setAside(sum files.Sum) error {
	now := s.opts.Now()
	to := filepath.Join(s.aside(), sum.String())
	if err := os.Rename(s.path(sum), to); err != nil {
		return err
	}
	return os.Chtimes(to, now, now)
}

// bringBack restores an object from quarantine, and reports whether the object was there.
func (s *folder) bringBack(sum files.Sum) bool {
	lock := s.lock(sum)
	lock.Lock()
	defer lock.Unlock()
	return s.restore(sum) == nil
}

func (s *folder) restore(sum files.Sum) error {
	from := filepath.Join(s.aside(), sum.String())
	if err := s.place(from, s.path(sum)); err != nil {
		return err
	}
	return s.syncFolder(filepath.Dir(s.path(sum)))
}

// clearAside removes objects that have been in quarantine for the grace period. An object that is
// referenced again is restored.
func (s *folder) clearAside(inUse files.InUse, now time.Time) (removed int, err error) {
	err = eachIn(s.aside(), func(sum files.Sum) error {
		path := filepath.Join(s.aside(), sum.String())
		s.removing.Lock()
		defer s.removing.Unlock()
		if s.holds.Any() {
			return errHeld
		}
		lock := s.lock(sum)
		lock.Lock()
		defer lock.Unlock()
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // restored meanwhile
		}
		if err != nil {
			return fmt.Errorf("stat content %s: %w", sum, err)
		}
		if used, err := inUse(sum); err != nil || used {
			if used {
				err = s.restore(sum)
			}
			return err
		}
		if info.ModTime().After(now.Add(-s.opts.Grace)) {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove content %s: %w", sum, err)
		}
		removed++
		return nil
	})
	return removed, err
}
