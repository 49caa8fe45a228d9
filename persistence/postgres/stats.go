package postgres

import "atelier/actors/durable"

// Stats implements durable.Store. What is free where the database lies is not
// known here.
func (s *Store) Stats() durable.StoreStats {
	out := s.stats.Read()
	out.QueueBatches, out.QueueBytes = s.queue.Load()
	out.SnapshotBytes = s.snapshots.Bytes()
	out.ReadOnly = s.ReadOnly()
	return out
}
