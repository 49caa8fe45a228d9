package memory

import (
	"errors"
	"io"

	"atelier/actors/durable"
)

// This file contains the methods of durable.Store that are not part of durable.Journal.

// StreamID implements durable.Store.
func (m *Store) StreamID() string { return m.content.stream }

// ReadOnly implements durable.Store.
func (m *Store) ReadOnly() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readOnly
}

// Stats implements durable.Store.
func (m *Store) Stats() durable.StoreStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.QueueBatches, s.QueueBytes, s.ReadOnly = len(m.queue), int64(m.bytes), m.readOnly
	return s
}

// ErrNoBackup means that this kind of store cannot be backed up.
var ErrNoBackup = errors.New("a store in memory has no backup: set storage.backend to badger")

// Backup implements durable.Store: it fails with ErrNoBackup.
func (m *Store) Backup(io.Writer) error { return ErrNoBackup }

// Scrub implements durable.Store. It finds nothing, because there is no disk that could change
// data.
func (m *Store) Scrub(func(string)) error { return nil }
