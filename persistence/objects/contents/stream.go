package contents

import (
	"context"
	"errors"
	"fmt"
	"io"

	"atelier/actors/files"
	"atelier/persistence/objects"
)

// errNoCopy means that an object exists, but no copy can be written on this node.
var errNoCopy = errors.New("no copy can be written here")

// stream opens an object when this node cannot write a copy. The object is read twice, because
// damage must be detected before the first byte is sent.
func (s *shared) stream(sum files.Sum) (files.Content, int64, error) {
	ctx := context.Background()
	list, err := s.copies(ctx, sum)
	if err != nil {
		return nil, 0, err
	}
	err = fmt.Errorf("%w: content %s", files.ErrMissing, sum)
	for _, o := range list {
		sound, failed := s.sound(ctx, sum, o.Key)
		switch {
		case sound:
			return &stream{store: s.opts.Objects, key: o.Key, size: o.Size}, o.Size, nil
		case failed == nil:
			err = s.damaged(sum)
		case !errors.Is(failed, objects.ErrNotFound): // an object that was removed meanwhile is skipped
			err = failed
		}
	}
	return nil, 0, err
}

// stream reads an object from the position of the last Seek. Not safe for concurrent use.
type stream struct {
	store    objects.Store
	key      string
	size, at int64
	r        io.ReadCloser // the data from at on; nil if no request is open
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if s.at >= s.size {
		return 0, io.EOF
	}
	if s.r == nil {
		r, _, err := s.store.Get(context.Background(), s.key, s.at, s.size-s.at)
		if err != nil {
			return 0, err
		}
		s.r = r
	}
	n, err := s.r.Read(p)
	s.at += int64(n)
	if errors.Is(err, io.EOF) && s.at < s.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (s *stream) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of an object")
	}
	if offset == s.at {
		return offset, nil
	}
	err := s.Close()
	s.at = offset
	return offset, err
}

// Close implements io.Closer.
func (s *stream) Close() error {
	if s.r == nil {
		return nil
	}
	r := s.r
	s.r = nil
	return r.Close()
}
