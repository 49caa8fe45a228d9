package badger

import (
	"errors"
	"fmt"
	"strconv"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Format is the version of the layout that this program writes.
const Format = layout.Format

// migrations[n] upgrades a store from format n to n+1. It must tolerate being run again after a
// crash.
var migrations = map[int]func(*Store) error{}

// formatError is the error for a store with another format.
type formatError struct {
	found int
	error
}

func (e *formatError) Unwrap() error { return e.error }

// FormatOf reads the format of a properly closed store without changing the store. For a store in
// use it returns ErrLocked.
func FormatOf(o Options) (int, error) {
	o.ReadOnly = true
	s, err := Open(o)
	var other *formatError
	if errors.As(err, &other) {
		return other.found, nil
	}
	if err != nil {
		return 0, err
	}
	return Format, s.Close()
}

// meta is a store's metadata.
type meta struct {
	format int
	stream string
}

// openMeta reads the store's metadata. It writes the metadata of a new store, and upgrades an older
// store.
func (s *Store) openMeta() (meta, error) {
	m, err := s.readMeta()
	if errors.Is(err, durable.ErrNotFound) {
		if s.opts.ReadOnly {
			return meta{}, errors.New("badger: there is no store")
		}
		m = meta{format: Format, stream: layout.NewStreamID()}
		return m, s.writeMeta(m)
	}
	if err != nil {
		return meta{}, err
	}
	if m.format > Format {
		return meta{}, &formatError{m.format, fmt.Errorf("%w: the store has format %d, this program reads formats up to %d",
			ErrNewerFormat, m.format, Format)}
	}
	return s.migrate(m)
}

func (s *Store) migrate(m meta) (meta, error) {
	for m.format < Format {
		step := migrations[m.format]
		if step == nil {
			return meta{}, fmt.Errorf("badger: %w", layout.Unreleased(m.format))
		}
		if s.opts.ReadOnly {
			return meta{}, &formatError{m.format, fmt.Errorf("badger: the store must be upgraded from format %d to %d; open it for writing once", m.format, Format)}
		}
		if err := step(s); err != nil {
			return meta{}, fmt.Errorf("migrate from format %d: %w", m.format, err)
		}
		m.format++
		if err := s.writeMeta(m); err != nil {
			return meta{}, err
		}
	}
	return m, nil
}

func (s *Store) readMeta() (meta, error) {
	var format, stream []byte
	err := s.view(func(txn *badgerdb.Txn) (err error) {
		if format, err = getValue(txn, layout.FormatKey); err != nil {
			return err
		}
		if stream, err = getValue(txn, layout.StreamKey); errors.Is(err, durable.ErrNotFound) {
			return fmt.Errorf("%w: no stream id", durable.ErrCorrupt)
		}
		return err
	})
	if err != nil {
		return meta{}, err
	}
	version, err := strconv.Atoi(string(format))
	if err != nil || version < 1 {
		return meta{}, fmt.Errorf("%w: format version %q", durable.ErrCorrupt, format)
	}
	return meta{format: version, stream: string(stream)}, nil
}

func (s *Store) writeMeta(m meta) error {
	b := bulk{store: s}
	format := strconv.AppendInt(nil, int64(m.format), 10)
	return errors.Join(
		b.add(layout.FormatKey, layout.Sealed(layout.FormatKey, format)),
		b.add(layout.StreamKey, layout.Sealed(layout.StreamKey, []byte(m.stream))),
		b.flush(),
	)
}
