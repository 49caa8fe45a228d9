package shares

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// checkEvery is the maximum interval between two checks of the clock, because the clock can be set.
const checkEvery = 10 * time.Second

// run destroys each share when it expires.
func (s *Store) run(ctx context.Context) {
	timer := time.NewTimer(s.next())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		s.sweep()
		timer.Reset(s.next())
	}
}

// next returns the time until the next share expires, at most checkEvery.
func (s *Store) next() time.Duration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now, uptime, wait := s.opts.Now(), s.opts.Uptime(), checkEvery
	for _, h := range s.byID {
		wait = min(wait, h.share.Ends().Sub(now), h.until-uptime)
	}
	return max(wait, time.Millisecond)
}

// sweep ends expired shares: first in memory, then on the disk.
func (s *Store) sweep() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	for id, h := range s.byID {
		if !s.over(h) {
			continue
		}
		h.share.Wipe()
		s.doomed[h.name] = true
		delete(s.byID, id)
		if end := h.share.Ends().Unix(); s.byEnd[end] == h {
			delete(s.byEnd, end)
		}
	}
	s.mu.Unlock()
	if len(s.doomed) == 0 {
		return
	}
	if err := s.destroy(); err != nil {
		s.log.Error("destroying an expired key share failed; it is tried again", "error", err)
	}
}

// destroy overwrites and removes the doomed files. After a failure a file stays doomed. The caller
// holds writing.
func (s *Store) destroy() error {
	var errs []error
	gone := make([]string, 0, len(s.doomed))
	for name := range s.doomed {
		if err := erase(s.opts.Disk, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		gone = append(gone, name)
	}
	if err := s.opts.Disk.Sync(); err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, name := range gone {
		delete(s.doomed, name)
	}
	return errors.Join(errs...)
}
