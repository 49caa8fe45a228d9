package badger

import "atelier/actors/durable"

// Stats implements durable.Store.
func (s *Store) Stats() durable.StoreStats {
	out := s.stats.Read()
	out.QueueBatches, out.QueueBytes = s.queue.Load()
	out.SnapshotBytes = s.snapshots.Bytes()
	out.FreeBytes = s.space.free.Load()
	out.ReadOnly, out.Failed, out.Faults = s.ReadOnly(), s.broken(), s.health.stats()
	return out
}

// ReadOnly implements durable.Store.
func (s *Store) ReadOnly() bool {
	return s.opts.ReadOnly || s.space.low.Load() || s.broken() != nil
}
