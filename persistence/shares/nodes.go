package shares

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"atelier/actors/token/seal"
)

// Share is a share as it is sent between nodes.
type Share struct {
	Ends   time.Time `json:"ends"`
	Secret []byte    `json:"secret"`
}

// Take stores a share created by another node. When Take returns nil, the share is on disk, unless
// it has expired. Repeated calls change nothing. Take refuses a share that ends more than
// Options.Longest and half an hour from now.
func (s *Store) Take(in Share) error {
	if len(in.Secret) != seal.ShareBytes || !in.Ends.Equal(seal.QuarterEnd(in.Ends)) {
		return fmt.Errorf("take a share: malformed")
	}
	share := seal.NewShare(in.Ends, (*[seal.ShareBytes]byte)(in.Secret))
	s.taking.Lock()
	defer s.taking.Unlock()
	now := s.opts.Now()
	h := s.hold(share, fileName(share), now)
	s.mu.RLock()
	known := s.byID[share.ID()] != nil
	s.mu.RUnlock()
	if known || s.over(h) {
		share.Wipe()
		return nil
	}
	if left := in.Ends.Sub(now); left > s.opts.Longest+2*seal.Quarter {
		share.Wipe()
		return fmt.Errorf("take a share: it ends in %v, which is too far ahead, so check the clocks of the nodes", left)
	}
	err := s.write(h, in.Secret, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.byID[share.ID()] = h
	})
	if err != nil {
		return fmt.Errorf("take a share: %w", err)
	}
	return nil
}

// Count counts the unexpired shares in a folder. It returns 0 for a missing folder.
func Count(dir string, now time.Time) (n int, err error) {
	names, err := folder(dir).List()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, name := range names {
		if ends, _, ours := parseName(name); ours && now.Before(ends) {
			n++
		}
	}
	return n, err
}

// All returns the shares that are in use or about to be, to send to another node.
func (s *Store) All() (out []Share, err error) {
	s.writing.Lock() // prevents a destruction meanwhile
	defer s.writing.Unlock()
	s.mu.RLock()
	all := make([]*held, 0, len(s.byID))
	for _, h := range s.byID {
		if !s.over(h) {
			all = append(all, h)
		}
	}
	if h := s.spreading; h != nil && !s.over(h) {
		all = append(all, h)
	}
	s.mu.RUnlock()
	for _, h := range all {
		b, _, err := read(s.opts.Disk, h.name, seal.ShareBytes)
		if err != nil {
			return nil, fmt.Errorf("read a share: %w", err)
		}
		out = append(out, Share{h.share.Ends(), b})
	}
	return out, nil
}
